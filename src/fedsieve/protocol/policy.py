"""What a site agreed to answer, checked at the site: a request for anything else is refused, whoever signed it."""

from dataclasses import dataclass

from fedsieve.errors import ProtocolError, listed
from fedsieve.protocol import messages as m
from fedsieve.protocol.methods import method_of
from fedsieve.protocol.plan import Plan


@dataclass(frozen=True, eq=False)
class Policy:
    """The kinds of request that follow from a plan, its columns, and how many rows a site must have to take part."""

    plan: Plan
    min_rows: int = 2

    @property
    def kinds(self) -> tuple[type[m.Request], ...]:
        """The requests a run under this plan makes, in order; anything else was not agreed on."""
        return method_of(self.plan).requests(self.plan)

    def check(self, request: m.Request, n_rows: int) -> None:
        """Raise `ProtocolError` where the request, or a site of so few rows, is outside the agreement."""
        if n_rows < self.min_rows:
            raise ProtocolError(
                f"has {n_rows} rows, the agreement asks for {self.min_rows} (min_rows): sums of few rows hide little."
            )
        if type(request) not in self.kinds:
            agreed = ", ".join(kind.__name__ for kind in self.kinds)
            raise ProtocolError(f"was asked {type(request).__name__}, which was not agreed on; agreed: {agreed}.")
        match request:
            case m.AskRelations(relation) | m.AskPairSums(relation):
                self._check_columns(relation.columns)
            case m.AskProducts(relation):
                if relation is not None:
                    self._check_columns(relation.columns)
            case _:
                self._check_columns(request.columns)
        method_of(self.plan).check_request(self.plan, request)

    def check_answer(self, reply: m.Reply) -> None:
        """Raise `ProtocolError` where the answer would tell what the request was not agreed to ask."""
        method_of(self.plan).check_answer(self.plan, reply)

    def _check_columns(self, columns: m.Columns) -> None:
        known = set(self.plan.features)
        others = [name for name in columns.features if name not in known]
        if others:
            raise ProtocolError(f"was asked for columns that were not agreed on: {listed(others)}.")
        if len(set(columns.features)) < len(columns.features):
            raise ProtocolError("was asked for a column twice, which no honest server does.")
        nominal = {name for name in columns.features if name in self.plan.nominal}
        if columns.missing != self.plan.missing or set(columns.nominal) != nominal:
            raise ProtocolError("was asked to read its columns in another way than agreed (nominal, missing).")


def what_leaves(plan: Plan) -> list[tuple[str, str]]:
    """For a person who must consent: each message that a site will send under the plan, and what it reveals."""
    return method_of(plan).what_leaves(plan)
