"""What is known of the columns of several parties, in the tables' own units: counts, means, spreads, ends, bins."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.measures.bulk import in_bulk

FEW_FAR = 0.005  # of all values of a column: typing errors, no tail


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What one party's reply tells of its columns; NaN where it does not tell it.

    `bins` has the edges of each column and the counts between them, `None` for columns without.
    """

    features: tuple[str, ...]
    n_rows: int
    count: Float
    mean: Float
    deviation: Float
    low: Float
    high: Float
    bins: Sequence[tuple[Float, Int] | None] = field(default_factory=tuple)

    @classmethod
    def of(
        cls,
        features: tuple[str, ...],
        n_rows: int,
        bins: Sequence[tuple[Float, Int] | None] = (),
        **known: Float | Int | Sequence[float],
    ) -> "ColumnFacts":
        """With what is known; the rest is NaN."""
        arrays = {name: np.full(len(features), np.nan) for name in NUMBERS}
        arrays |= {name: np.asarray(values, dtype=np.float64) for name, values in known.items()}
        return cls(features, n_rows, **arrays, bins=bins or [None] * len(features))

    def with_those(self, others: "ColumnFacts") -> "ColumnFacts":
        """These, and in the places where they tell nothing, what other facts about some of the columns tell."""
        place = {name: index for index, name in enumerate(others.features)}
        here = np.array([place.get(name, -1) for name in self.features], dtype=np.int64)
        told = {}
        for name in NUMBERS:
            theirs = np.append(getattr(others, name), np.nan)[here]
            own = getattr(self, name)
            told[name] = np.where(np.isnan(own), theirs, own)
        bins = [own or (others.bins[index] if index >= 0 else None) for own, index in zip(self.bins, here, strict=True)]
        return ColumnFacts(self.features, self.n_rows, **told, bins=bins)


NUMBERS = ("count", "mean", "deviation", "low", "high")


def together(features: tuple[str, ...], parts: Iterable[ColumnFacts]) -> ColumnFacts | None:
    """All that a party told in several replies, of all features; `None` where it told nothing."""
    whole: ColumnFacts | None = None
    for part in parts:
        whole = (whole or ColumnFacts.of(features, part.n_rows)).with_those(part)
    return whole


def facts_of_tables(tables: Mapping[str, Float], features: tuple[str, ...]) -> dict[str, ColumnFacts]:
    """Those of tables that are all here, missing values left out.

    Few values that lie far out, over all tables, are left out as well: one typing error would hide another unit. Where
    they are many, the column has a long tail.

    >>> facts = facts_of_tables({"one": np.array([[1.0, np.nan], [3.0, np.nan]])}, ("a", "b"))["one"]
    >>> facts.mean, facts.deviation, facts.count
    (array([ 2., nan]), array([ 1., nan]), array([2., 0.]))
    """
    near = {name: in_bulk(X) for name, X in tables.items()}
    count = {name: np.count_nonzero(~np.isnan(X), axis=0) for name, X in tables.items()}
    n_far = sum(count[name] - np.count_nonzero(near[name], axis=0) for name in tables)
    few = n_far <= FEW_FAR * sum(count.values())
    return {name: _facts(X, np.where(few, near[name], ~np.isnan(X)), features) for name, X in tables.items()}


def _facts(X: Float, taken: Bool, features: tuple[str, ...]) -> ColumnFacts:
    """Of the values that are taken, but for their number."""
    n = np.where(taken.any(axis=0), taken.sum(axis=0), np.nan)
    values = np.where(taken, X, np.nan)
    low, high = (end.reduce(values, axis=0) for end in (np.fmin, np.fmax))
    size = np.fmax(np.abs(low), np.abs(high))
    unit = np.where(size > 0, size, 1.0)  # squares of large values would overflow
    mean = np.where(taken, values / unit, 0.0).sum(axis=0) / n
    deviation = np.sqrt(np.where(taken, (values / unit - mean) ** 2, 0.0).sum(axis=0) / n)
    count = np.count_nonzero(~np.isnan(X), axis=0).astype(np.float64)
    numbers = {"mean": unit * mean, "deviation": unit * deviation, "low": low, "high": high}
    return ColumnFacts.of(features, len(X), count=count, **numbers)
