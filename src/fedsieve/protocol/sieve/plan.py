"""The parameters of Sieve, checked."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Int
from fedsieve.errors import ParameterError, listed
from fedsieve.fuzzy.ranking import default_n_features
from fedsieve.protocol.plan import Plan

AUTO = "auto"


@dataclass(frozen=True, eq=False)
class SievePlan(Plan):
    """The parameters of one selection by Sieve.

    `groups` lists features that are selected together, such as the 0/1 columns of one nominal variable. A group counts
    as one feature: it and a feature of its own are both called a unit.
    """

    method: ClassVar[str] = "Sieve"
    page: ClassVar[str] = "sieve.md"

    n_features_to_select: int | str | None = None  # type: ignore[assignment] # a number, "auto", or the usual share
    groups: Sequence[Sequence[str]] = ()
    ridge: float = 0.3
    n_trees: int = 200
    n_bootstraps: int = 20
    screen: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        """Check what is Sieve's own besides what all methods share."""
        super().__post_init__()
        self.check_choice("missing", ("error",))
        self.check_number("ridge", np.nextafter(0.0, 1.0), 1e6, "above 0 and at most 1e6")
        self.check_count("n_trees", 1)
        self.check_count("n_bootstraps", 0)
        self.check_count("screen", 2)
        self.check_count("seed", 0)

    def check_n_features_to_select(self) -> None:
        """A number of units, or "auto"."""
        self._check_groups()
        if self.n_features_to_select not in (None, AUTO):
            self.check_count("n_features_to_select", 1, self.n_units, "groups=" if self.groups else "n_features=")

    @property
    def unit_of(self) -> Int:
        """The unit of each feature; units are numbered in the order of their first feature."""
        group_of = {name: number for number, group in enumerate(self.groups) for name in group}
        units: dict[object, int] = {}
        keys = (group_of.get(name, name) for name in self.features)
        return np.array([units.setdefault(key, len(units)) for key in keys], dtype=np.int64)

    @property
    def n_units(self) -> int:
        """How many there are to choose from."""
        return len(self.features) - sum(len(group) - 1 for group in self.groups)

    @property
    def k(self) -> int:
        """How many units to select; under "auto" the usual share, until the labeled rows have said."""
        wanted = self.n_features_to_select
        return wanted if isinstance(wanted, int) else default_n_features(self.n_units)

    @property
    def n_compared(self) -> int:
        """Of more encoded columns than this, the most relevant are compared with each other, not all."""
        return max(self.screen, 2 * self.k)

    @property
    def smaller_messages(self) -> str:
        """What a user can do about messages that are too large."""
        return "Compare fewer columns with each other (screen), use fewer features"

    def _check_groups(self) -> None:
        if isinstance(self.groups, str) or any(isinstance(group, str) for group in self.groups):
            raise ParameterError(f"{self.method}: groups must be lists of features; got {self.groups!r}.")
        named, known = [name for group in self.groups for name in group], set(self.features)
        unknown = [str(name) for name in named if name not in known]
        if unknown:
            raise ParameterError(f"{self.method}: groups name no such feature: {listed(unknown)}.")
        twice = [name for name, count in Counter(named).items() if count > 1]
        if twice:
            raise ParameterError(f"{self.method}: groups must not overlap; {listed(twice)} occur twice.")
        if any(not group for group in self.groups):
            raise ParameterError(f"{self.method}: a group needs at least one feature; got an empty one.")
