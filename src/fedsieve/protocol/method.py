"""What every federated method is: parameters that all parties agree on, the requests it makes, the server's side."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from fedsieve import checks
from fedsieve.arrays import Bool, Float
from fedsieve.errors import DataError, ParameterError, listed
from fedsieve.messages import Columns, Terms
from fedsieve.ordering import default_n_features
from fedsieve.protocol.outcome import Selection
from fedsieve.tables import ArrayTable, Table, check_values

if TYPE_CHECKING:
    from fedsieve.protocol.cohort import Cohort, Steps


@dataclass(frozen=True, eq=False)
class Labeled:
    """The server's labeled rows: X (n_samples, n_features), unscaled, and 0/1 labels Y (n_samples, n_labels)."""

    X: Float
    Y: Float


@dataclass(frozen=True, eq=False)
class Method(ABC):
    """The parameters that all methods share; a method's own class adds its own. Building one checks them all."""

    name: ClassVar[str]
    page: ClassVar[str] = "parameters.md"
    """Where `docs/` explains the parameters."""
    fidelity: ClassVar[str] = "text"
    """How sure its formulas are, as `fedsieve.registry` tells it."""
    sites_hold_labels: ClassVar[bool] = False
    range_choices: ClassVar[tuple[str, ...]] = ("federated",)
    """Whose ranges can scale the columns: all sites' together, each site's own, or declared ones."""
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"missing": ("error",), "on_bad_client": ("raise", "drop")}
    """The values that some parameters can take."""
    never_agreed: ClassVar[tuple[str, ...]] = ()
    """Parameters that no agreement holds: a federation always has their defaults."""
    takes_nominal: ClassVar[bool] = True

    features: tuple[str, ...]
    n_features_to_select: int | None = None
    missing: str = "error"
    nominal: tuple[str, ...] = ()
    on_bad_client: str = "raise"
    max_message_bytes: int = 512_000_000
    min_clients: int = 2
    max_sites_per_client: int = 1

    def __post_init__(self) -> None:
        """Check every rule once, here."""
        if not self.features:
            raise ParameterError(f"{self.name}: needs at least one feature; got none.")
        checks.check_unique(self.name, "feature names must differ", self.features, "Rename them.")
        for name, allowed in self.choices.items():
            checks.check_choice(self.name, name, getattr(self, name), allowed)
        self.check_count("max_message_bytes", 1)
        self.check_count("max_sites_per_client", 1)
        self.check_n_features_to_select()
        checks.check_known(self.name, "nominal names", self.nominal, set(self.features))

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

    def check_n_features_to_select(self) -> None:
        """Refuse what is no number of features; a method that chooses it itself allows more."""
        if self.n_features_to_select is not None:
            self.check_count("n_features_to_select", 1, len(self.features), "n_features=")

    @property
    def k(self) -> int:
        """How many features to select."""
        return self.n_features_to_select or default_n_features(len(self.features))

    @property
    def columns(self) -> Columns:
        """All features, and how they are read."""
        return Columns(self.features, self.nominal, self.missing)

    @property
    def nominal_mask(self) -> Bool:
        """Which features are nominal."""
        return self.columns.nominal_mask

    @property
    def smaller_messages(self) -> str:
        """What a user can do about messages that are too large."""
        return "Use fewer features"

    def parameters(self) -> dict[str, Any]:
        """What was decided: defaults spelled out, "auto" resolved."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "features"}

    def check_labeled(self, labeled: Labeled) -> None:
        """Refuse labeled rows that do not fit."""
        n_samples, n_features = labeled.X.shape
        if n_features != len(self.features):
            raise DataError(f"the labeled rows have {n_features} columns, the plan {len(self.features)} features.")
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

    def check_number(self, name: str, rule: str, holds: Callable[[float], bool]) -> None:
        """Refuse what is no number for which the rule, told in words, holds."""
        checks.check_number(self.name, name, getattr(self, name), rule, holds)

    def check_count(self, name: str, low: int, high: int | None = None, high_is: str = "") -> None:
        """Refuse what is no whole number in [low, high]; `high_is` says where `high` comes from."""
        checks.check_count(self.name, name, getattr(self, name), low, high, high_is)


@dataclass(frozen=True, eq=False)
class SupervisedMethod(Method):
    """A method whose sites hold labels too: it names them, and the server is one more site."""

    page: ClassVar[str] = "rivals.md"
    sites_hold_labels: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = False

    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the labels after what all methods share."""
        super().__post_init__()
        if self.nominal:
            names = listed(self.nominal)
            raise ParameterError(f"{self.name}: takes no nominal features; got {names}. Encode them.")
        if not self.labels:
            raise ParameterError(f"{self.name}: needs at least one label; got none.")
        twice = {*checks.repeated(self.labels), *(set(self.labels) & set(self.features))}
        if twice:
            names = listed(sorted(twice))
            raise ParameterError(f"{self.name}: labels and features must differ; {names} occur twice.")

    def check_labeled(self, labeled: Labeled) -> None:
        """Also refuse another number of labels."""
        super().check_labeled(labeled)
        if labeled.Y.shape[1] != len(self.labels):
            raise DataError(f"the labeled rows have {labeled.Y.shape[1]} labels, the plan {len(self.labels)}.")

    def server_table(self, labeled: Labeled) -> Table:
        """With the labels."""
        return ArrayTable(self.features, labeled.X, self.labels, labeled.Y)


def readable_size(n_bytes: int) -> str:
    """A number of bytes for a message.

    >>> readable_size(512_000_000)
    '512.0 MB'
    """
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e5 else f"{n_bytes:,} bytes"
