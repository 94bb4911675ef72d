"""What every message is, and the registry that declaring one fills.

A message is one file beside this one: a request, the reply to it, how a site computes the reply from its table, how
two replies add up, the rules that every honest reply obeys, and what it reveals. Codec, client, checks, a site's
consent and the docs read the registry and know no message by name.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import ProtocolError, listed
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.columns import Bins, Columns, declare
from fedsieve.messages.site_view import Memory, SiteView
from fedsieve.tables import Table

AT_WORST = (
    "at worst, rows in which three or more columns combine as in hardly any other, and a good guess whether a known "
    "row is there"
)
"""What second moments of a site can give away though all its rules are obeyed."""
MAX_REASON = 1000  # characters of a client's own words that are passed on
REQUESTS: dict[str, type["Request"]] = {}
REPLIES: dict[str, type["Reply"]] = {}


class View(NamedTuple):
    """How a request sees a column: the ends beyond which values count as one, and what it makes of those between."""

    low: float
    high: float
    n_bins: int = 0  # into which they are sorted; 0: they count as numbers
    reach: float = 0.0  # as a share of the range, how near two rows must be to be related; 0: rows are not compared
    max_pairs: int = 0  # of rows, above which a sample of their pairs is compared; 0: all are


class Reply:
    """What a client sends back. Replies with `+` add up: the sum is the reply of both clients' rows together."""

    n_rows: int
    at_worst: ClassVar[str] = ""  # what it can give away though all rules are obeyed, beside what its docstring says
    why_no_sum: ClassVar[str] = ""  # where replies do not add up, the reason
    why_not_masked: ClassVar[str] = ""  # where they do, but not number by number as masked sums need it

    def __init_subclass__(cls) -> None:
        declare(cls, REPLIES)

    @property
    def n_rows_told(self) -> int:
        """How many rows it tells of, where that is less than all."""
        return self.n_rows

    def deviation_by_column(self) -> Float | None:
        """How far the values of each column deviate from their mean, where the reply tells it."""
        return None

    def plus(self, noise: Int) -> Self:
        """With noise on every number, where the request is for noisy ones."""
        raise NotImplementedError

    def __add__(self, other: Self) -> Self:
        raise ProtocolError(f"{type(self).__name__} of several sites cannot be added up: {self.why_no_sum}")


@dataclass(frozen=True, eq=False)
class Refusal(Reply):
    """A client that cannot or will not answer, and why. Reveals what its reason says."""

    why_no_sum: ClassVar[str] = "a refusal is no number."

    reason: str


@dataclass(frozen=True)
class Budget:
    """A promise of differential privacy for one answer."""

    epsilon: float
    delta: float


@dataclass(frozen=True, eq=False)
class Known:
    """What the server knows of a client before it reads its reply."""

    n_rows: int | None = None  # from the client's first reply on
    earlier: Mapping[type["Request"], tuple[Any, Any]] = field(default_factory=dict)  # the last of each remembered kind
    max_sites: int = 1  # behind this client, which may be an edge server
    max_rows: int | None = None  # that each of these sites may claim


class Addend(NamedTuple):
    """Numbers of a reply that add up over sites, one by one: their shape, and the most that all sites can reach."""

    shape: tuple[int, ...]
    most: Float | float  # in absolute value, one for all numbers or one for each
    whole: bool = False


class Request:
    """What the server asks of a client."""

    reply: ClassVar[type[Reply]]
    title: ClassVar[str]
    """What is asked for, in a few words for people who wait."""
    remembered: ClassVar[bool] = False
    """Whether later replies of a client are checked against its reply to this."""
    machinery: ClassVar[bool] = False
    """Whether the protocol itself asks it, whatever the method."""
    single_columns: ClassVar[bool] = False
    """Whether its reply tells of each column by itself, and nothing of how columns go together."""
    tells_of: ClassVar[str] = ""
    """What totals of several kinds tell of together: of other sites, their difference would tell of single ones."""
    noisy: ClassVar[bool] = False
    """Whether its reply leaves with noise only. It is then about all rows as they are: noise that hides one row hides
    nothing where a rule such as `min_cell` lets one row decide how others count."""

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "reply"):  # else several requests share it
            declare(cls, REQUESTS)

    def answer(self, table: Table) -> Reply:
        """What a site replies; raises an error for people to read where its rows do not allow it."""
        raise NotImplementedError

    def answer_in_run(self, table: Table, memory: Memory) -> Reply:  # noqa: ARG002 (most remember nothing)
        """The same within a run, for a request that needs what the site remembers of it."""
        return self.answer(table)

    def column_names(self) -> tuple[str, ...]:
        """The columns that it asks about, labels last."""
        columns: Columns = self.columns  # type: ignore[attr-defined] # a field of nearly all
        return (*columns.features, *getattr(self, "labels", ()))

    def pins(self) -> Mapping[str, Any]:
        """What must be the same in all requests of a run that tell it: plain values, by what they are in words."""
        return {}

    def clips(self) -> Mapping[str, tuple[float, float]]:
        """The ranges beyond which it counts values as the nearest end, by column."""
        return {}

    def views(self) -> Mapping[str, View]:
        """How it sees each column of which it groups values, by the ranges that it clips to or by bins."""
        return {name: View(low, high) for name, (low, high) in self.clips().items()}

    def table_for_site(self, table: Table) -> tuple[tuple[str, ...], Float] | None:  # noqa: ARG002 (most bring none)
        """What the site itself gets of it, for its own eyes: the names of columns, and a row for each of its own."""
        return None

    def told_spread(self) -> tuple[Columns, Bins, Int] | None:
        """How many values of all sites together lie in each bin, where it tells that."""
        return None

    def facts(self, reply: Any) -> ColumnFacts | None:  # noqa: ARG002 (most tell of columns together)
        """What a checked reply tells of single columns, in the table's own units, where it tells that."""
        return None

    def rests_on(self) -> Iterable[str]:
        """What an earlier request of the run must have pinned, since this one does not show where it comes from."""
        return ()

    def noise_units(self) -> Float:
        """Per number of the reply, the noise of multiplier 1, for a request whose reply is noisy.

        Whatever one row more or less changes, its parts divided by these are together at most 1 in length.
        """
        raise NotImplementedError

    def complaints(self, reply: Any, known: Known) -> Iterator[str]:
        """The rules that the reply breaks by itself, in words that follow the client's name."""
        raise NotImplementedError

    def contradictions(self, reply: Any, known: Known) -> Iterator[str]:  # noqa: ARG002 (most have none)
        """The rules that it breaks beside an earlier reply of the same client, named in `known.earlier`."""
        yield from ()

    def addends(self, n_rows: int) -> tuple[Addend, ...]:  # noqa: ARG002 (of no use where replies are no sums)
        """What besides the number of rows a reply is made of in a sum, and what so many rows in all can add up to."""
        raise ProtocolError(f"{self.reply.__name__} are no sums: {self.reply.why_no_sum or self.reply.why_not_masked}")

    def numbers(self, reply: Any) -> tuple[np.ndarray, ...]:
        """The addends of a reply."""
        raise NotImplementedError

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: tuple[Float | float, ...]) -> Any:
        """The reply of all rows together, from the sums of the addends and how far rounding may have moved each."""
        raise NotImplementedError

    def why_refused(self, reply: object, known: Known) -> str | None:
        """The first rule that `reply` breaks as an answer to this request; `None` where it breaks none.

        A dishonest client can still send numbers that some table could have produced; the rules keep out what none
        could.
        """
        if isinstance(reply, Refusal):
            return reply.reason[:MAX_REASON].strip() or "refused without a reason."
        if type(reply) is not self.reply:
            asked, sent, expected = type(self).__name__, type(reply).__name__, self.reply.__name__
            return f"answered {asked} with {sent}; expected {expected}."
        return next(chain(self.complaints(reply, known), self.contradictions(reply, known)), None)


@dataclass(frozen=True, eq=False)
class Terms:
    """What a site agrees to about one kind of request: its columns, limits of the message's own, and what it reveals.

    `columns` are all that were agreed on; a request may ask for some of them.
    """

    request: ClassVar[type[Request]]
    permission: ClassVar[str] = ""  # the rule of a site's policy that must allow it
    sends_rows: ClassVar[bool] = False  # whether rows themselves are told, which `rows_may_leave` must allow
    lasting: ClassVar[bool] = False  # whether its pins hold for all runs under one agreement

    columns: Columns

    @property
    def most(self) -> int:
        """How many unlike requests of this kind a run makes at most."""
        return 1

    @property
    def optional(self) -> bool:
        """Whether a run can do without it."""
        return False

    def noise_budget(self) -> Budget | None:
        """What the reply may cost of privacy; `None` where it leaves as it is."""
        return None

    def n_compared(self, n_varying: int, n_codes: int) -> int:  # noqa: ARG002
        """How many columns every run compares with each other at least, as far as one site can know beforehand.

        `n_varying` columns vary at the site; `n_codes` are those that nominal columns have besides one each.
        """
        return 0

    def check(self, request: Any) -> None:
        """Raise `ProtocolError` where the request asks for more, or for something else."""
        self.check_columns(request.columns)

    @property
    def why_unchecked(self) -> str:
        """Why a site that guards itself cannot check such requests, and so answers none; empty where it can."""
        return ""

    def check_site(self, request: Any, site: SiteView) -> None:
        """Raise `ProtocolError` where a site that guards itself would tell too much."""

    def tells(self, request: Any, site: SiteView) -> Mapping[str, int]:  # noqa: ARG002 (most compare nothing)
        """What the reply compares with each other, and as how many columns each counts: a site adds it up for good."""
        return {}

    def check_reply(self, reply: Any) -> None:
        """Raise `ProtocolError` where the reply would tell what nobody agreed to."""

    def reveals(self) -> str:
        """For the person who consents: what the reply tells, and at worst gives away, though all rules are obeyed."""
        raise NotImplementedError

    def check_columns(self, columns: Columns) -> None:
        """Only agreed columns, each once, read as agreed."""
        known = set(self.columns.features)
        others = [name for name in columns.features if name not in known]
        if others:
            raise ProtocolError(f"was asked for columns that were not agreed on: {listed(others)}.")
        if len(set(columns.features)) < len(columns.features):
            raise ProtocolError("was asked for a column twice, which no honest server does.")
        nominal = set(columns.features).intersection(self.columns.nominal)
        if columns.missing != self.columns.missing or set(columns.nominal) != nominal:
            raise ProtocolError("was asked to read its columns in another way than agreed (nominal, missing).")


def check_all_columns(agreed: Columns, agreed_labels: tuple[str, ...], request: Any) -> None:
    """Raise `ProtocolError` where other features or labels are asked for than all that were agreed on."""
    if request.columns.features != agreed.features:
        raise ProtocolError("was asked for other features than agreed, or in another order.")
    if request.labels != agreed_labels:
        raise ProtocolError("was asked for other labels than agreed, or in another order.")
