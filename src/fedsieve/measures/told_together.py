"""Of whom totals over several groups tell all together: the groups of few that follow by adding and subtracting totals.

A group is a 0/1 vector over all names, and what follows from totals is their span over the rational numbers. Exact
fractions: no rounding decides.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TypeAlias

MOST_TRIED = 20_000  # sets of names for one question
Rows: TypeAlias = list[list[Fraction]]


class TooManyError(Exception):
    """There are more sets of names than are tried."""


def newly_told(known: Iterable[Collection[str]], added: Collection[str], most: int) -> tuple[str, ...]:
    """At most so many names of whom a total, maybe weighted, follows from `added`, and not from the known groups alone.

    Empty where there are none. Names that are in the same groups have the same weight in all that follows, so only sets
    of those that stand apart need a look. Raises `TooManyError` where these are too many.

    >>> everyone, without_ab, without_bc = "abcdefg", "cdefg", "adefg"
    >>> newly_told([everyone, without_ab], without_bc, 1), newly_told([everyone, without_ab, without_bc], "bdefg", 1)
    ((), ('a',))
    """
    groups = [set(group) for group in known]
    names = sorted(set(added).union(*groups))
    alike: dict[tuple[bool, ...], list[str]] = {}
    for name in names:
        alike.setdefault((name in added, *(name in group for group in groups)), []).append(name)
    patterns = list(alike)
    before = reduced([[Fraction(pattern[1 + i]) for pattern in patterns] for i in range(len(groups))])
    after = reduced([*before, [Fraction(pattern[0]) for pattern in patterns]])
    if len(after) == len(before):  # its total follows from the others' already
        return ()
    checks_before, checks_after = _checks(before, len(patterns)), _checks(after, len(patterns))
    sizes = [len(alike[pattern]) for pattern in patterns]
    for some in _sets(sizes, most):
        if _rank(checks_after, some) < _rank(checks_before, some):
            return tuple(sorted(name for place in some for name in alike[patterns[place]]))
    return ()


def reduced(rows: Sequence[Sequence[Fraction]]) -> Rows:
    """The reduced row echelon form without rows of zeros.

    >>> [[int(value) for value in row] for row in reduced([[Fraction(2), Fraction(4)], [Fraction(1), Fraction(2)]])]
    [[1, 2]]
    """
    left, done = [list(row) for row in rows], list[list[Fraction]]()
    for column in range(len(rows[0]) if rows else 0):
        found = next((row for row in left if row[column]), None)
        if found is None:
            continue
        left.remove(found)
        pivot = [value / found[column] for value in found]
        left, done = ([_without(row, pivot, column) for row in part] for part in (left, done))
        done.append(pivot)
    return done


def _without(row: list[Fraction], pivot: list[Fraction], column: int) -> list[Fraction]:
    factor = row[column]
    return [value - factor * other for value, other in zip(row, pivot, strict=True)] if factor else row


def _checks(rows: Rows, n_columns: int) -> Rows:
    """For each column its part in the equations that hold for all vectors of a span, given in reduced form.

    Vectors with weights in some columns only are the ways in which these columns' parts add up to nothing.
    """
    pivots = [next(place for place, value in enumerate(row) if value) for row in rows]
    free = [column for column in range(n_columns) if column not in pivots]
    parts = {pivot: [-row[column] for column in free] for pivot, row in zip(pivots, rows, strict=True)}
    parts |= {column: [Fraction(column == other) for other in free] for column in free}
    return [parts[column] for column in range(n_columns)]


def _rank(checks: Rows, columns: tuple[int, ...]) -> int:
    return len(reduced([checks[column] for column in columns]))


def _sets(sizes: list[int], most: int) -> Iterator[tuple[int, ...]]:
    """Sets of places of which the sizes add up to at most so much, the fewest places first."""
    places = [place for place, size in enumerate(sizes) if size <= most]
    if sum(comb(len(places), n) for n in range(1, most + 1)) > MOST_TRIED:
        raise TooManyError
    for n in range(1, most + 1):
        yield from (some for some in combinations(places, n) if sum(sizes[place] for place in some) <= most)
