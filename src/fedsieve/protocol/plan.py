"""What a federation agrees on before the first message: the parameters of SSFMLFS, checked, and the labelled rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.errors import ParameterError, listed, not_one_of
from fedsieve.fuzzy.neighbors import IRRELEVANT_RULES
from fedsieve.fuzzy.ranking import default_n_features
from fedsieve.fuzzy.relation import RELATION_KINDS

WIRES = ("auto", "matrices", "statistics", "vectors")
MAX_STATISTICS = 2000  # features up to which one round of pair sums is preferred to many rounds of vectors
OWNER = "SSFMLFS"

_CHOICES = {
    "relation": RELATION_KINDS,
    "irrelevant": IRRELEVANT_RULES,
    "decisions": ("crisp", "soft"),
    "spread": ("pooled", "mean"),
    "wire": WIRES,
    "missing": ("error", "unrelated"),
    "constant": ("last", "keep"),
    "on_bad_client": ("raise", "drop"),
}


@dataclass(frozen=True, eq=False)
class Labelled:
    """The server's labelled rows: X (n_samples, n_features), unscaled, and 0/1 labels Y (n_samples, n_labels)."""

    X: Float
    Y: Float


@dataclass(frozen=True, eq=False)
class Plan:
    """The parameters of one selection; building one checks them all. `docs/parameters.md` explains each.

    >>> Plan(features=("age", "weight"), lam=7)
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: SSFMLFS: lam must be in [0.4, 2]; got 7.
    """

    features: tuple[str, ...]
    n_features_to_select: int | None = None
    lam: float = 1.2
    n_neighbors: int = 3
    damping: float = 0.85
    relation: str = "distance"
    irrelevant: str = "least"
    decisions: str = "crisp"
    ranges: str | Mapping[str, tuple[float, float]] = "federated"
    spread: str = "pooled"
    wire: str = "auto"
    missing: str = "error"
    constant: str = "last"
    nominal: tuple[str, ...] = ()
    tol: float = 1e-9
    max_iter: int = 500
    on_bad_client: str = "raise"
    selected_distance: bool = False
    max_message_bytes: int = 512_000_000
    min_clients: int = 2
    max_sites_per_client: int = 1
    nominal_mask: Bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check every rule once, here."""
        for name, allowed in _CHOICES.items():
            if (value := getattr(self, name)) not in allowed:
                raise not_one_of(OWNER, name, allowed, value)
        n_features = len(self.features)
        if n_features < 1:
            raise ParameterError(f"{OWNER}: needs at least one feature; got none.")
        if len(set(self.features)) < n_features:
            twice = sorted({name for name in self.features if self.features.count(name) > 1})
            raise ParameterError(f"{OWNER}: feature names must differ; {listed(twice)} occur twice. Rename them.")
        _check_number("lam", self.lam, 0.4, 2.0, "in [0.4, 2]")
        _check_number("damping", self.damping, 0.0, np.nextafter(1.0, 0.0), "in [0, 1)")
        _check_number("tol", self.tol, np.nextafter(0.0, 1.0), 1.0, "above 0 and at most 1")
        _check_count("n_neighbors", self.n_neighbors, 1)
        _check_count("max_iter", self.max_iter, 1)
        _check_count("max_message_bytes", self.max_message_bytes, 1)
        _check_count("max_sites_per_client", self.max_sites_per_client, 1)
        if self.n_features_to_select is not None:
            _check_count("n_features_to_select", self.n_features_to_select, 1, n_features)
        unknown = [str(name) for name in self.nominal if name not in self.features]
        if unknown:
            raise ParameterError(f"{OWNER}: nominal names no such feature: {listed(unknown)}.")
        self._check_ranges()
        object.__setattr__(self, "nominal_mask", np.isin(self.features, self.nominal))

    @property
    def k(self) -> int:
        """How many features to select."""
        return self.n_features_to_select or default_n_features(len(self.features))

    @property
    def wire_form(self) -> str:
        """The wire form after `auto` is decided."""
        if self.wire != "auto":
            return self.wire
        return "statistics" if len(self.features) <= MAX_STATISTICS else "vectors"

    def declared_ranges(self) -> tuple[Float, Float] | None:
        """Low and high per feature where the plan declares them."""
        if isinstance(self.ranges, str):
            return None
        table = np.array([self.ranges.get(name, (0.0, 1.0)) for name in self.features], dtype=np.float64)
        return table[:, 0], table[:, 1]

    def _check_ranges(self) -> None:
        rule = "ranges must be 'federated', 'local' or {name: (low, high)}"
        if isinstance(self.ranges, str):
            if self.ranges not in ("federated", "local"):
                raise ParameterError(f"{OWNER}: {rule}; got {self.ranges!r}.")
            return
        if not isinstance(self.ranges, Mapping):
            raise ParameterError(f"{OWNER}: {rule}; got {self.ranges!r}.")
        scaled = [name for name in self.features if name not in self.nominal]
        missing = [name for name in scaled if name not in self.ranges]
        if missing:
            raise ParameterError(f"{OWNER}: ranges declares no range for {listed(missing)}. Declare all features.")
        for name in scaled:
            try:
                low, high = (float(edge) for edge in self.ranges[name])
            except (TypeError, ValueError):
                raise ParameterError(
                    f"{OWNER}: ranges[{name!r}] must be (low, high); got {self.ranges[name]!r}."
                ) from None
            if not -np.inf < low <= high < np.inf:
                raise ParameterError(f"{OWNER}: ranges[{name!r}] must be finite with low <= high; got ({low}, {high}).")


def _check_number(name: str, value: Any, low: float, high: float, rule: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= float(value) <= high:
        raise ParameterError(f"{OWNER}: {name} must be {rule}; got {value!r}.")


def _check_count(name: str, value: Any, low: int, high: int | None = None) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(value) < low or (high and int(value) > high):
        rule = f"a whole number of at least {low}" if high is None else f"a whole number in [{low}, n_features={high}]"
        raise ParameterError(f"{OWNER}: {name} must be {rule}; got {value!r}.")
