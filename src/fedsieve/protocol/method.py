"""What every federated method is: parameters that all parties agree on, the requests it makes, the server's side."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fedsieve import checks
from fedsieve.arrays import Bool, Float, Int
from fedsieve.errors import DataError, ParameterError, listed
from fedsieve.messages import Columns, Scaling, Terms
from fedsieve.messages.columns import DECLARED, FEDERATED, LOCAL, ROBUST, Bins
from fedsieve.ordering import n_kept
from fedsieve.protocol.outcome import Selection
from fedsieve.tables import MOST_ROWS, ArrayTable, Table
from fedsieve.text import counted
from fedsieve.values import LARGEST, check_values

NO_PARAMETERS = ("features", "n_labels")  # which say what the table is
MIN_SECURE = 3  # sites of a secure sum: of two, each knows the other's part of a total

if TYPE_CHECKING:
    from fedsieve.protocol.cohort import Cohort, Steps


@dataclass(frozen=True, eq=False)
class Labeled:
    """The server's labeled rows: X (n_samples, n_features), unscaled, and 0/1 labels Y (n_samples, n_labels).

    A label that is unknown is NaN, for a method that `takes_unknown_labels`. `weights`, all above 0, say how much each
    row counts, for a method that `takes_weights`. `bins` are those of earlier runs under the same
    agreement, which histograms keep to.
    """

    X: Float
    Y: Float
    bins: Bins | None = None
    weights: Float | None = None


@dataclass(frozen=True, eq=False)
class Method(ABC):
    """The parameters that all methods share; a method's own class adds its own. Building one checks them all."""

    name: ClassVar[str]
    page: ClassVar[str] = "parameters.md"
    """Where `docs/` explains the parameters."""
    fidelity: ClassVar[str] = "text"
    """How sure its formulas are, as `fedsieve.registry` tells it."""
    sites_hold_labels: ClassVar[bool] = False
    range_choices: ClassVar[tuple[str, ...]] = (FEDERATED, ROBUST, DECLARED)
    """Whose ranges can scale the columns: exact or robust ones of all sites together, declared ones, a site's own."""
    encodes_codes: ClassVar[bool] = False
    """Whether a nominal column needs a range too, that of its codes."""
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"missing": ("error",), "on_bad_client": ("raise", "drop")}
    """The values that some parameters can take."""
    together: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    """Values of several parameters with which it asks what no value of a single one makes it ask."""
    never_agreed: ClassVar[tuple[str, ...]] = ()
    """Parameters that no agreement holds: a federation always has their defaults."""
    takes_nominal: ClassVar[bool] = True
    takes_unknown_labels: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = False
    most_rows: ClassVar[int] = MOST_ROWS - 1
    """Of a site, that any agreement can allow."""
    decided_here: ClassVar[tuple[str, ...]] = ("n_features_to_select",)
    """Parameters of the server alone: what sites are asked follows from them in wide tables only, or not at all."""
    most_by_default: ClassVar[int] = MOST_ROWS
    """Of features to select, where no number is given."""
    in_place_of: ClassVar[Mapping[str, str]] = {}
    """Parameters of which only one may be given, the other being None."""

    features: tuple[str, ...]
    n_features_to_select: float | None = None  # a number, a share, or the usual share
    missing: str = "error"
    nominal: tuple[str, ...] = ()
    ranges: str | Mapping[str, tuple[float, float]] = FEDERATED
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # of robust ranges
    n_labels: int | None = None  # where it is agreed on
    on_bad_client: str = "raise"
    max_message_bytes: int = 512_000_000
    min_clients: int = 2
    max_sites_per_client: int = 1
    max_rows: int = (1 << 20) - 1  # that a site may claim; in one process at least as many as the tables have
    secure: bool = False  # whether the server sees totals over sites only
    min_cell: int = 0  # in secure sums: rows of all sites that must be out of the ordinary in a column
    rows_per_column: int = 0  # in secure sums: rows of all sites for each column that is compared

    def __post_init__(self) -> None:
        """Check every rule once, here; all values are Python's own from then on."""
        for given in fields(self):
            object.__setattr__(self, given.name, checks.plain(getattr(self, given.name)))
        if not self.features:
            raise ParameterError(f"{self.name}: needs at least one feature; got none.")
        checks.check_unique(self.name, "feature names must differ", self.features, "Rename them.")
        for name, allowed in self.choices.items():
            checks.check_choice(self.name, name, getattr(self, name), allowed)
        self.check_count("max_message_bytes", 1)
        self.check_count("max_sites_per_client", 1)
        self.check_count("max_rows", 2, self.most_rows)
        self.check_n_features_to_select()
        checks.check_list(self.name, "nominal", self.nominal)
        checks.check_known(self.name, "nominal names", self.nominal, set(self.features))
        self._check_ranges()
        if not isinstance(self.secure, bool):
            raise ParameterError(f"{self.name}: secure must be True or False; got {self.secure!r}.")
        self.check_count("min_cell", 0)
        self.check_count("rows_per_column", 0)

    @abstractmethod
    def terms(self) -> tuple[Terms, ...]:
        """What a site agrees to: one entry for each kind of request that a run makes, in order."""

    @abstractmethod
    def run(self, labeled: Labeled, cohort: "Cohort") -> "Steps[Selection]":
        """The server's side of one run with one cohort."""

    @property
    def why_single_sites(self) -> str:
        """Why the method must hear every site by itself, so that no edge server can add up; empty where it need not."""
        return ""

    @property
    def why_no_edge_server(self) -> str:
        """Why no edge server can stand between the server and its sites; empty where one can."""
        if self.secure:
            return "secure sums are between sites and one server: masks of two levels do not cancel."
        kinds = (terms.request.reply.why_no_sum for terms in self.terms())
        return self.why_single_sites or next((reason for reason in kinds if reason), "")

    def check_secure(self) -> None:
        """Refuse secure sums of what does not add up; a method calls it once all its parameters are checked."""
        if not self.secure:
            return
        kinds = (terms.request.reply for terms in self.terms())
        own = "a total in each site's own ranges could not be checked. Use ranges='robust', or declare ranges."
        reasons = (
            own if self.ranges == LOCAL else self.why_single_sites,
            *(kind.why_no_sum or kind.why_not_masked for kind in kinds),
        )
        if reason := next((reason for reason in reasons if reason), ""):
            raise ParameterError(f"{self.name}: secure=True needs replies that add up; {reason}")

    def comparing(self, most: int, n_labels: int) -> "Method":  # noqa: ARG002 (sites refuse to compare more than they allow)
        """The method with at most so many columns compared with each other, where it can do with fewer."""
        return self

    @property
    def declared_scaling(self) -> Scaling | None:
        """Low and high per feature, where the ranges are declared; codes that need no range have any."""
        if isinstance(self.ranges, str):
            return None
        table = np.array([self.ranges.get(name, (0.0, 1.0)) for name in self.features], dtype=np.float64)
        return Scaling(table[:, 0], table[:, 1], DECLARED)

    @property
    def permitted_as(self) -> str:
        """By which name a site's policy allows it."""
        return self.name

    @property
    def private(self) -> bool:
        """Whether sites answer with noise only, under a promise of differential privacy."""
        return False

    def check_n_features_to_select(self) -> None:
        """Refuse what is no number of features; a method that chooses it itself allows more."""
        checks.check_n_features(self.name, self.n_features_to_select, len(self.features))

    @property
    def k(self) -> int:
        """How many features to select."""
        usual = self.most_by_default if self.n_features_to_select is None else len(self.features)
        return min(n_kept(self.n_features_to_select, len(self.features)), usual)

    @property
    def may_select_none(self) -> bool:
        """Whether no feature at all is an answer."""
        return False

    @property
    def most_selected(self) -> int:
        """More features than these no result can have selected, as far as the agreement tells."""
        return self.k

    @classmethod
    def with_others_left_out(cls, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Changes of parameters, and of those that they take the place of."""
        given = (name for name, value in changes.items() if value is not None)
        return {**{cls.in_place_of[name]: None for name in given if name in cls.in_place_of}, **changes}

    def ranking_again(self, selected: Int) -> "Method":  # noqa: ARG002 (most have nothing to leave out)
        """The method for selecting as much from the same labeled rows once more, without what is for the first time."""
        return self

    @property
    def columns(self) -> Columns:
        """All features, and how they are read."""
        return Columns(self.features, self.nominal, self.missing)

    @property
    def columns_read(self) -> tuple[str, ...]:
        """All that is read of a site's table."""
        return self.features

    @property
    def nominal_mask(self) -> Bool:
        """Which features are nominal."""
        return self.columns.nominal_mask

    @property
    def smaller_messages(self) -> str:
        """What a user can do about messages that are too large."""
        return "Use fewer features"

    @property
    def costly(self) -> str:
        """In words, what of the parameters makes a run cost far more than usual; empty where nothing does."""
        return ""

    def parameters(self) -> dict[str, Any]:
        """What was decided: defaults spelled out, "auto" resolved."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in NO_PARAMETERS}
        return {**values, "ranges": self.ranges if isinstance(self.ranges, str) else dict(self.ranges)}

    def check_labeled(self, labeled: Labeled) -> None:
        """Refuse labeled rows that do not fit."""
        n_samples, n_features = labeled.X.shape
        if n_features != len(self.features):
            have, plan = counted(n_features, "column"), counted(len(self.features), "feature")
            raise DataError(f"the labeled rows have {have}, the plan {plan}.")
        if len(labeled.Y) != n_samples or labeled.Y.ndim != 2:
            raise DataError(
                f"the labels have shape {labeled.Y.shape}; need one row for each of {n_samples} labeled rows."
            )
        try:
            check_values(labeled.X, self.features, self.missing)
        except DataError as error:
            raise DataError(f"the labeled rows have {error}") from None

    def check_message_size(self, sender: str, kind: str, n_bytes: int) -> None:
        """Refuse an encoded message above the agreed limit; runtimes call it, since they know the encoded size."""
        if n_bytes > self.max_message_bytes:
            raise ParameterError(
                f"{self.name}: {kind} of {sender!r} takes {readable_size(n_bytes)}, above "
                f"max_message_bytes={self.max_message_bytes}. {self.smaller_messages}, or raise max_message_bytes."
            )

    def server_table(self, labeled: Labeled) -> Table:
        """The labeled rows as a table, for a method in which the server answers like one more site."""
        return ArrayTable(self.features, labeled.X)

    def _check_ranges(self) -> None:
        words = [choice for choice in self.range_choices if choice != DECLARED]
        rule = f"ranges must be {', '.join(map(repr, words))} or {{name: (low, high)}}"
        if isinstance(self.ranges, str) or not isinstance(self.ranges, Mapping):
            if self.ranges not in words:
                raise ParameterError(f"{self.name}: {rule}; got {self.ranges!r}.")
        else:
            nominal = set() if self.encodes_codes else set(self.nominal)
            needed = [name for name in self.features if name not in nominal]
            missing = [name for name in needed if name not in self.ranges]
            if missing:
                raise ParameterError(
                    f"{self.name}: ranges declares no range for {listed(missing)}. Declare all features."
                )
            self._check_pairs("ranges", {name: self.ranges[name] for name in needed})
        if self.bounds and self.ranges != ROBUST:
            raise ParameterError(f"{self.name}: bounds are for ranges={ROBUST!r}; got ranges={self.ranges!r}.")
        checks.check_known(self.name, "bounds name", self.bounds, set(self.features))
        self._check_pairs("bounds", self.bounds)

    def _check_pairs(self, parameter: str, pairs: Mapping[str, Any]) -> None:
        for name, pair in pairs.items():
            try:
                low, high = (float(edge) for edge in pair)
            except (TypeError, ValueError):
                raise ParameterError(f"{self.name}: {parameter}[{name!r}] must be (low, high); got {pair!r}.") from None
            below = low < high if parameter == "bounds" else low <= high
            if not (below and low >= -LARGEST and high <= LARGEST):
                sign = "<" if parameter == "bounds" else "<="
                raise ParameterError(
                    f"{self.name}: {parameter}[{name!r}] must be finite with low {sign} high; got ({low}, {high})."
                )

    def check_number(self, name: str, rule: str, holds: Callable[[float], bool]) -> None:
        """Refuse what is no number for which the rule, told in words, holds."""
        checks.check_number(self.name, name, getattr(self, name), rule, holds)

    def check_count(self, name: str, low: int, high: int | None = None, high_is: str = "") -> None:
        """Refuse what is no whole number in [low, high]; `high_is` says where `high` comes from."""
        checks.check_count(self.name, name, getattr(self, name), low, high, high_is)


def least_sites(min_clients: int, *, secure: bool) -> int:
    """How many sites a federation has at least.

    >>> least_sites(2, secure=True), least_sites(2, secure=False)
    (3, 2)
    """
    return max(min_clients, MIN_SECURE if secure else 0)


def readable_size(n_bytes: int) -> str:
    """A number of bytes for a message.

    >>> readable_size(512_000_000)
    '512.0 MB'
    """
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e5 else f"{n_bytes:,} bytes"
