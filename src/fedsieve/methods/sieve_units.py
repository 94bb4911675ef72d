"""Units: what Sieve ranks and selects as one, a feature of its own or a group of features."""

from collections.abc import Iterable, Sequence

import numpy as np

from fedsieve import checks
from fedsieve.arrays import Int
from fedsieve.errors import ParameterError, occur_twice


def units_of(features: Sequence[str], groups: Sequence[Sequence[str]]) -> Int:
    """The unit of each feature; units are numbered in the order of their first feature.

    >>> units_of(["age", "red", "dose", "blue"], [["red", "blue"]])
    array([0, 1, 2, 1])
    """
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    units: dict[object, int] = {}
    keys = (group_of.get(name, name) for name in features)
    return np.array([units.setdefault(key, len(units)) for key in keys], dtype=np.int64)


def check_groups(owner: str, groups: Sequence[Sequence[str]], features: Sequence[str]) -> None:
    """Refuse what are no lists of known features, no two of which overlap."""
    lists = () if isinstance(groups, str) or not isinstance(groups, Iterable) else groups
    if lists is not groups or any(isinstance(group, str) or not isinstance(group, Iterable) for group in lists):
        raise ParameterError(f"{owner}: groups must be lists of features; got {groups!r}.")
    named = [name for group in groups for name in group]
    checks.check_known(owner, "groups name", named, set(features))
    twice = checks.repeated(named)
    if twice:
        raise ParameterError(f"{owner}: groups must not overlap; {occur_twice(twice)}.")
    if any(not group for group in groups):
        raise ParameterError(f"{owner}: a group needs at least one feature; got an empty one.")
