"""What every federation agrees on before the first message, whatever its method, and the server's labeled rows."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.errors import DataError, ParameterError, listed, not_one_of
from fedsieve.fuzzy.ranking import default_n_features
from fedsieve.protocol.site import check_values


@dataclass(frozen=True, eq=False)
class Labeled:
    """The server's labeled rows: X (n_samples, n_features), unscaled, and 0/1 labels Y (n_samples, n_labels)."""

    X: Float
    Y: Float


@dataclass(frozen=True, eq=False)
class Plan:
    """The parameters that all methods share; a method's own plan adds its own. Building one checks them all."""

    method: ClassVar[str]
    labeled_sites: ClassVar[bool] = False
    """Whether the clients hold labels too."""
    page: ClassVar[str] = "parameters.md"
    """Where `docs/` explains the parameters."""

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
        n_features = len(self.features)
        if n_features < 1:
            raise ParameterError(f"{self.method}: needs at least one feature; got none.")
        if len(set(self.features)) < n_features:
            twice = sorted({name for name in self.features if self.features.count(name) > 1})
            raise ParameterError(f"{self.method}: feature names must differ; {listed(twice)} occur twice. Rename them.")
        self.check_choice("missing", ("error", "unrelated"))
        self.check_choice("on_bad_client", ("raise", "drop"))
        self.check_count("max_message_bytes", 1)
        self.check_count("max_sites_per_client", 1)
        self.check_n_features_to_select()
        unknown = [str(name) for name in self.nominal if name not in self.features]
        if unknown:
            raise ParameterError(f"{self.method}: nominal names no such feature: {listed(unknown)}.")

    def check_n_features_to_select(self) -> None:
        """Refuse what is no number of features; a method that chooses it itself allows more."""
        if self.n_features_to_select is not None:
            self.check_count("n_features_to_select", 1, len(self.features), "n_features=")

    @property
    def k(self) -> int:
        """How many features to select."""
        return self.n_features_to_select or default_n_features(len(self.features))

    @property
    def nominal_mask(self) -> Bool:
        """Which features are nominal."""
        return np.isin(self.features, self.nominal)

    @property
    def smaller_messages(self) -> str:
        """What a user can do about messages that are too large."""
        return "Use fewer features"

    def check_labeled(self, labeled: Labeled) -> None:
        """Refuse labeled rows that do not fit the plan."""
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

    def check_choice(self, name: str, allowed: tuple[str, ...]) -> None:
        """Refuse a value that is not among the allowed ones."""
        if (value := getattr(self, name)) not in allowed:
            raise not_one_of(self.method, name, allowed, value)

    def check_number(self, name: str, low: float, high: float, rule: str) -> None:
        """Refuse what is no number in [low, high]; `rule` says that in words."""
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, Real) or not low <= float(value) <= high:
            raise ParameterError(f"{self.method}: {name} must be {rule}; got {value!r}.")

    def check_count(self, name: str, low: int, high: int | None = None, of: str = "") -> None:
        """Refuse what is no whole number in [low, high]; `of` says what `high` is the number of."""
        value: Any = getattr(self, name)
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not whole or int(value) < low or (high is not None and int(value) > high):
            rule = f"a whole number of at least {low}" if high is None else f"a whole number in [{low}, {of}{high}]"
            raise ParameterError(f"{self.method}: {name} must be {rule}; got {value!r}.")
