"""What a site agreed to when it agreed to FMLFS."""

from fedsieve.errors import ProtocolError
from fedsieve.protocol import messages as m
from fedsieve.protocol.fmlfs.plan import FMLFSPlan
from fedsieve.protocol.labeled_sites import check_all_columns


def requests(_: FMLFSPlan) -> tuple[type[m.Request], ...]:
    """The requests of a run, in order."""
    return m.AskRanges, m.AskInformation


def check_request(plan: FMLFSPlan, request: m.Request) -> None:
    """Raise `ProtocolError` where labels or bins are other than agreed."""
    if isinstance(request, m.AskInformation):
        check_all_columns(plan, request.columns, request.labels)
        if request.n_bins != plan.n_bins:
            raise ProtocolError(f"was asked for {request.n_bins} bins; agreed: {plan.n_bins}.")


def check_answer(plan: FMLFSPlan, reply: m.Reply) -> None:
    """Nothing depends on the answer: ranges that do not hold a site's values are refused before it is made."""


def what_leaves(plan: FMLFSPlan) -> list[tuple[str, str]]:
    """Each message that a site will send, and what it reveals."""
    d, n_labels = len(plan.features), len(plan.labels)
    return [
        ("Ranges", f"smallest and largest value of {d} columns: two values of each column, those of extreme rows"),
        (
            "Information",
            f"the number of rows; what each of {d} features tells of each of {n_labels} labels, and how far any two "
            f"features are apart, in {plan.n_bins} bins whose edges follow from the federation's ranges: a server that "
            "names other ranges learns how many values lie beyond an edge of its choice",
        ),
    ]


def why_not_added(_: FMLFSPlan, request: m.Request) -> str | None:
    """Why replies of several sites do not add up to one; `None` where they do."""
    if isinstance(request, m.AskInformation):
        return "information does not add up. FMLFS needs each site at the server itself."
    return None
