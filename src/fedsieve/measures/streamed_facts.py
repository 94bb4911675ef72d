"""Facts about the columns of tables that are read in batches: those of `column_facts`, to rounding, in two passes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.measures.bulk import bulk_ends, every_how_many, within
from fedsieve.measures.column_facts import FEW_FAR, ColumnFacts
from fedsieve.tables import Table
from fedsieve.values import dense


def facts_of_streams(tables: Mapping[str, Table], features: tuple[str, ...]) -> dict[str, ColumnFacts]:
    """Those of tables that may be larger than memory; infinite values count as missing."""
    first = {name: _first_look(table, features) for name, table in tables.items()}
    sums = {name: _sums(table, features, *first[name]) for name, table in tables.items()}
    count = sum(all_.count for all_, _ in sums.values())
    n_far = count - sum(near.count for _, near in sums.values())
    few: Bool = np.asarray(n_far <= FEW_FAR * count)
    return {
        name: _facts(tables[name].n_rows, features, few, near, all_, first[name][1])
        for name, (all_, near) in sums.items()
    }


@dataclass
class _Sums:
    """Of the values that are taken, in units of the column's size and from a value amid them."""

    count: Float
    total: Float
    squares: Float
    low: Float
    high: Float

    def add(self, values: Float, taken: Bool, unit: Float, center: Float) -> None:
        away = np.where(taken, values / unit - center, 0.0)
        self.count = self.count + taken.sum(axis=0)
        self.total = self.total + away.sum(axis=0)
        self.squares = self.squares + (away**2).sum(axis=0)
        self.low = np.minimum(self.low, np.where(taken, values, np.inf).min(axis=0, initial=np.inf))
        self.high = np.maximum(self.high, np.where(taken, values, -np.inf).max(axis=0, initial=-np.inf))


def _first_look(table: Table, features: tuple[str, ...]) -> tuple[Float, Float]:
    """Some rows, evenly spread, and the largest value of each column in size."""
    size, step, place, some = np.zeros(len(features)), every_how_many(table.n_rows), 0, []
    for batch in table.batches(features):
        rows = _finite(dense(batch))
        some.append(rows[-place % step :: step].copy())
        place += len(rows)
        size = np.fmax(size, np.fmax.reduce(np.abs(rows), axis=0, initial=0.0))
    return np.concatenate(some), np.where(size > 0, size, 1.0)


def _sums(table: Table, features: tuple[str, ...], some: Float, unit: Float) -> tuple[_Sums, _Sums]:
    """Of all values, and of those in the bulk."""
    ends, d = bulk_ends(some), len(features)
    known = np.where(np.isnan(some).all(axis=0), 0.0, some)
    center = np.nan_to_num(np.nanmean(known, axis=0) / unit) if len(some) else np.zeros(d)
    both = tuple(
        _Sums(np.zeros(d), np.zeros(d), np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf)) for _ in range(2)
    )
    for batch in table.batches(features):
        rows = _finite(dense(batch))
        both[0].add(rows, ~np.isnan(rows), unit, center)
        both[1].add(rows, within(rows, ends), unit, center)
    for one in both:
        one.total += one.count * center  # from 0 again
        one.squares += 2 * center * one.total - one.count * center**2
    return both[0], both[1]


def _facts(n_rows: int, features: tuple[str, ...], few: Bool, near: _Sums, all_: _Sums, unit: Float) -> ColumnFacts:
    def taken(part: str) -> Float:
        values: Float = np.where(few, getattr(near, part), getattr(all_, part))
        return values

    n = np.where(taken("count") > 0, taken("count"), np.nan)
    mean, low, high = taken("total") / n, taken("low") + 0 * n, taken("high") + 0 * n
    spread = np.where(low == high, 0.0, np.maximum(taken("squares") / n - mean**2, 0.0))
    numbers = {"mean": unit * mean, "deviation": unit * np.sqrt(spread), "low": low, "high": high}
    return ColumnFacts.of(features, n_rows, count=all_.count, **numbers)


def _finite(rows: Float) -> Float:
    return np.where(np.isinf(rows), np.nan, rows) if np.isinf(rows).any() else rows
