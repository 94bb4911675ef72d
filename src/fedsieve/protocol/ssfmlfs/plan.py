"""The parameters of SSFMLFS, checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import ParameterError, listed
from fedsieve.fuzzy.neighbors import IRRELEVANT_RULES
from fedsieve.fuzzy.relation import RELATION_KINDS
from fedsieve.protocol.plan import Labeled, Plan

WIRES = ("auto", "matrices", "statistics", "vectors")
MAX_STATISTICS = 2000  # features up to which one round of pair sums is preferred to many rounds of vectors
CHOICES = {
    "relation": RELATION_KINDS,
    "irrelevant": IRRELEVANT_RULES,
    "decisions": ("crisp", "soft"),
    "spread": ("pooled", "mean"),
    "wire": WIRES,
    "constant": ("last", "keep"),
}


@dataclass(frozen=True, eq=False)
class SSFMLFSPlan(Plan):
    """The parameters of one selection; building one checks them all. `docs/parameters.md` explains each.

    >>> SSFMLFSPlan(features=("age", "weight"), lam=7)
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: SSFMLFS: lam must be in [0.4, 2]; got 7.
    """

    method: ClassVar[str] = "SSFMLFS"

    lam: float = 1.2
    n_neighbors: int = 3
    damping: float = 0.85
    relation: str = "distance"
    irrelevant: str = "least"
    decisions: str = "crisp"
    ranges: str | Mapping[str, tuple[float, float]] = "federated"
    spread: str = "pooled"
    wire: str = "auto"
    constant: str = "last"
    tol: float = 1e-9
    max_iter: int = 500
    selected_distance: bool = False

    def __post_init__(self) -> None:
        """Check what is SSFMLFS's own after what all methods share."""
        super().__post_init__()
        for name, allowed in CHOICES.items():
            self.check_choice(name, allowed)
        self.check_number("lam", 0.4, 2.0, "in [0.4, 2]")
        self.check_number("damping", 0.0, np.nextafter(1.0, 0.0), "in [0, 1)")
        self.check_number("tol", np.nextafter(0.0, 1.0), 1.0, "above 0 and at most 1")
        self.check_count("n_neighbors", 1)
        self.check_count("max_iter", 1)
        self._check_ranges()

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

    @property
    def smaller_messages(self) -> str:
        """The wire forms with smaller messages."""
        return "Use a wire form with smaller messages ('statistics' or 'vectors')"

    def check_labeled(self, labeled: Labeled) -> None:
        """Also refuse labeled rows that are too few for the neighbors."""
        super().check_labeled(labeled)
        n_samples = len(labeled.X)
        if self.n_neighbors >= n_samples:
            raise ParameterError(
                f"{self.method}: n_neighbors must be below the number of labeled rows, {n_samples}; "
                f"got {self.n_neighbors}. Label more rows or lower n_neighbors."
            )

    def _check_ranges(self) -> None:
        rule = "ranges must be 'federated', 'local' or {name: (low, high)}"
        if isinstance(self.ranges, str):
            if self.ranges not in ("federated", "local"):
                raise ParameterError(f"{self.method}: {rule}; got {self.ranges!r}.")
            return
        if not isinstance(self.ranges, Mapping):
            raise ParameterError(f"{self.method}: {rule}; got {self.ranges!r}.")
        scaled = [name for name in self.features if name not in self.nominal]
        missing = [name for name in scaled if name not in self.ranges]
        if missing:
            raise ParameterError(
                f"{self.method}: ranges declares no range for {listed(missing)}. Declare all features."
            )
        for name in scaled:
            try:
                low, high = (float(edge) for edge in self.ranges[name])
            except (TypeError, ValueError):
                raise ParameterError(
                    f"{self.method}: ranges[{name!r}] must be (low, high); got {self.ranges[name]!r}."
                ) from None
            if not -np.inf < low <= high < np.inf:
                raise ParameterError(
                    f"{self.method}: ranges[{name!r}] must be finite with low <= high; got ({low}, {high})."
                )
