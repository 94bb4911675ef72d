"""Columns as numbers that add up: one column per code of a nominal one, numbers from the middle of the run's ranges.

Where values may be missing, a mean stands in for them, and a 0/1 column may tell which are.
"""

from dataclasses import dataclass, replace

import numpy as np

from fedsieve.arrays import Bool, Float, Int, Rows
from fedsieve.errors import DataError, ProtocolError
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.columns import INDICATOR, Columns, Fill, Scaling, row_blocks, scaled
from fedsieve.values import dense


@dataclass(frozen=True, eq=False)
class Centered:
    """Rows of z = unit u + offset, in units of the run's ranges and from their middle; u is at most 1 in size."""

    u: Float
    unit: Float
    offset: Float

    def with_labels(self, labels: Float) -> "Centered":
        """With 0/1 columns beside them, which count as they are."""
        n = labels.shape[1]
        unit, offset = np.append(self.unit, np.ones(n)), np.append(self.offset, np.zeros(n))
        return Centered(np.hstack([self.u, labels]), unit, offset)

    def sums(self) -> Float:
        """Of each column."""
        sums: Float = self.unit * self.u.sum(axis=0) + len(self.u) * self.offset
        return sums

    def squares(self) -> Float:
        """The sums of each column's squares."""
        moved = self.unit * self.u.sum(axis=0)
        squares: Float = self.unit**2 * (self.u**2).sum(axis=0) + 2 * moved * self.offset + len(self.u) * self.offset**2
        return squares

    def products(self) -> Float:
        """The sums of products of each two columns."""
        products: Float = self.u.T @ self.u
        moved = self.unit * self.u.sum(axis=0)
        for rows in row_blocks(len(products)):  # where they lie: a wide matrix would leave the cache five times
            part = products[rows]
            part *= self.unit
            part *= self.unit[rows, None]
            part += np.outer(moved[rows], self.offset)
            part += np.outer(self.offset[rows], moved)
            part += len(self.u) * np.outer(self.offset[rows], self.offset)
        return products

    def products_with(self, weights: Float) -> Float:
        """The sums of products of each column with weighted sums of all of them; the matrix of all exists nowhere."""
        combined, constant = self.u @ (self.unit[:, None] * weights), self.offset @ weights
        moved = self.unit * self.u.sum(axis=0)
        between = self.unit[:, None] * (self.u.T @ combined)
        mixed = np.outer(moved, constant) + np.outer(self.offset, combined.sum(axis=0))
        products: Float = between + mixed + len(self.u) * np.outer(self.offset, constant)
        return products


SAME = 1e-9  # of a range: two numbers that rounding alone may tell apart
DIGITS = 12  # of a mean, in units of the range
MAX_CODES = 1000  # between the smallest and the largest code of a column
LARGEST_CODE = 2**53  # beyond, floats do not tell all codes apart


@dataclass(frozen=True, eq=False)
class Encoding:
    """The encoded columns: their names, the feature each belongs to, and the code it stands for (NaN for a number).

    `tells` marks the 0/1 columns that tell where a feature misses a value. In the other columns of the feature `mean`
    stands in there, from the middle of the range.
    """

    names: tuple[str, ...]
    owner: Int
    code: Float
    tells: Bool
    mean: Float
    low: Float  # per feature
    high: Float
    nominal: Bool
    misses: Bool  # whether a value is missing somewhere

    @classmethod
    def of(cls, columns: Columns, scaling: Scaling, fill: Fill | None = None) -> "Encoding":
        """From the federation's ranges; the codes of a nominal column are all whole numbers of its range.

        What is missing is in the middle of its range, unless `fill` tells the means. A range without values is 0.

        >>> columns = Columns(("age", "color"), ("color",), "error")
        >>> Encoding.of(columns, Scaling(np.array([18.0, 1.0]), np.array([99.0, 3.0]))).names
        ('age', 'color=1', 'color=2', 'color=3')
        """
        low, high = scaling.low, scaling.high
        if low is None or high is None or not low.shape == high.shape == (len(columns.features),):
            raise ProtocolError(
                "was sent no ranges, or not one per column; the encoding must be the same at all sites."
            )
        empty = (low == np.inf) & (high == -np.inf) & columns.fills
        low, high = np.where(empty, 0.0, low), np.where(empty, 0.0, high)
        if not np.isfinite([low, high]).all():
            raise ProtocolError("was sent ranges that are no finite numbers.")
        nominal = columns.nominal_mask
        names, owner, code = [], [], []
        if not columns.nominal:
            names, owner, code = list(columns.features), list(range(len(low))), [np.nan] * len(low)
        for feature, name in enumerate(columns.features if columns.nominal else ()):
            codes = codes_between(name, float(low[feature]), float(high[feature])) if nominal[feature] else [None]
            names += [name if value is None else f"{name}={value}" for value in codes]
            owner += [feature] * len(codes)
            code += [np.nan if value is None else float(value) for value in codes]
        n = len(names)
        no, nowhere = np.zeros(n, dtype=bool), np.zeros(len(low), dtype=bool)
        encoding = cls(
            tuple(names), np.array(owner, dtype=np.int64), np.array(code), no, np.zeros(n), low, high, nominal, nowhere
        )
        return encoding if fill is None else encoding._with(columns, fill)

    def _with(self, columns: Columns, fill: Fill) -> "Encoding":
        if not columns.fills or fill.present.shape != self.low.shape or fill.sums.shape != self.mean.shape:
            raise ProtocolError("was sent means that do not fit its columns, or none were agreed on.")
        filled = replace(self, mean=fill.means(self.owner), misses=fill.misses)
        if columns.missing != INDICATOR:
            return filled
        told = np.flatnonzero(fill.misses)
        place = np.searchsorted(self.owner, told, side="right")  # behind the feature's other columns
        names = list(self.names)
        for shift, (before, feature) in enumerate(zip(place, told, strict=True)):
            names.insert(before + shift, told_missing(columns.features[feature]))
        return replace(
            filled,
            names=tuple(names),
            owner=np.insert(self.owner, place, told),
            code=np.insert(self.code, place, np.nan),
            tells=np.insert(self.tells, place, True),
            mean=np.insert(filled.mean, place, 0.0),
        )

    def filled(self, mean: Float) -> "Encoding":
        """With other means, one for each column that tells no missing values."""
        whole = self.mean.copy()
        whole[~self.tells] = mean
        return replace(self, mean=whole)

    @property
    def numbers(self) -> Bool:
        """Which columns are neither codes nor tell missing values."""
        return np.isnan(self.code) & ~self.tells

    @property
    def midpoint(self) -> Float:
        """Per encoded column, the middle of its range in units of the range; 0 for codes and ranges of one point.

        That is 1/2, or nearly so: the middle of a narrow range far from 0 is rounded.
        """
        return np.where(self.numbers, ((self._middle - self.low) / self._width)[self.owner], 0.0)

    def table(self, X: Rows) -> Float:
        """The rows of X in encoded columns: numbers in [0, 1], codes 0 or 1, means where a value is missing.

        A mean that only rounding tells from a value of these rows is that value, and others have few digits: who tells
        values apart, as trees do, must not see who added up in which order.
        """
        values = scaled(X, self.low, self.high, self.nominal)[0]
        spread, gaps, mean = self._spread(values), self._gaps(values), np.round(self.midpoint + self.mean, DIGITS)
        if gaps is None:
            return spread
        away = np.where(gaps, np.inf, np.abs(spread - mean))
        nearest = spread[away.argmin(axis=0), np.arange(len(mean))]
        return np.where(gaps, np.where(away.min(axis=0) <= SAME, nearest, mean), spread)

    def any_table(self, X: Rows) -> Float:
        """The same for any finite values: a code that is none of its column's is 0 in all of them."""
        values = scaled(X, self.low, self.high, self.nominal)[0]
        spread, gaps = self._columns_of(values), self._gaps(values)
        return spread if gaps is None else np.where(gaps, self.midpoint + self.mean, spread)

    def centered(self, X: Rows) -> "Centered":
        """Rows as differences from a value of their own, and how these lie in the run's ranges.

        Nothing is divided by a range before it is added up, and the own value is taken away in raw units: with ranges
        of its choice, rounding or underflow would let a server sort rows into groups. The value next to the mean loses
        no digits, wherever the column lies. A number beyond its range counts as the nearest end; a code is 0 or 1. All
        rows that miss a value have the same.
        """
        raw = dense(X)
        spread = self._spread(np.where(self.nominal, raw, np.clip(raw, self.low, self.high)))
        numbers, gaps = self.numbers, self._gaps(raw)
        own = np.zeros(spread.shape[1])
        if len(spread):
            own = np.where(numbers, _next_to_the_mean(spread, gaps, self.middles), 0.0)
        width = np.where(numbers, self.widths, 1.0)
        offset = np.where(numbers, (own - self.middles) / width, 0.0)
        differences = spread - own
        if gaps is not None:
            differences = np.where(gaps, (self.mean - offset) * width, differences)
        size = np.abs(differences).max(axis=0, initial=0.0)
        unit = np.divide(differences, size, out=np.zeros_like(differences), where=size > 0)
        return Centered(unit, size / width, offset)

    def facts(self, features: tuple[str, ...], n_rows: int, sums: Float, spreads: Float) -> ColumnFacts:
        """What sums and summed squared deviations of the encoded columns tell of numbers, in their own units.

        Nothing of columns in which others' means stand in, nor of labels after them. Within a site there are no sums
        (NaN).
        """
        mean, deviation = np.full(len(features), np.nan), np.full(len(features), np.nan)
        place = np.flatnonzero(self.numbers & ~self.misses[self.owner])
        here = self.owner[place]
        width = self._width[here]
        mean[here] = self.raw(sums[: len(self.owner)] / n_rows)[place]
        deviation[here] = width * np.sqrt(np.maximum(spreads[place], 0.0) / n_rows)
        count = np.where(np.isnan(deviation), np.nan, float(n_rows))
        return ColumnFacts.of(features, n_rows, count=count, mean=mean, deviation=deviation)

    def raw(self, means: Float) -> Float:
        """Means of the encoded columns, which are from the middle of their ranges, in the table's own units."""
        return self.middles + self.widths * means

    @property
    def middles(self) -> Float:
        """Per encoded column that is a number, the middle of its range."""
        return self._middle[self.owner]

    @property
    def widths(self) -> Float:
        """Per encoded column that is a number, how wide its range is; 1 where it is one point."""
        return self._width[self.owner]

    @property
    def _middle(self) -> Float:
        return (self.low + self.high) / 2

    @property
    def _width(self) -> Float:
        return np.where(self.low < self.high, self.high - self.low, 1.0)

    def _gaps(self, values: Float) -> Bool | None:
        """Where means stand in; `None` where nothing is missing."""
        missing = np.isnan(values)
        return missing[:, self.owner] & ~self.tells if missing.any() else None

    def _spread(self, values: Float) -> Float:
        if not self.nominal.any() and not self.tells.any():
            return values
        broken = self.nominal & (values != np.round(values)) & ~np.isnan(values)
        if broken.any():
            place = int(np.argwhere(broken.any(axis=0))[0, 0])
            raise no_whole_number(self.names[int(np.argmax(self.owner == place))].rpartition("=")[0])
        return self._columns_of(values)

    def _columns_of(self, values: Float) -> Float:
        spread = values[:, self.owner]
        spread = np.where(np.isnan(self.code), spread, spread == self.code)
        return np.where(self.tells, np.isnan(values)[:, self.owner], spread)


def told_missing(feature: str) -> str:
    """The name of the 0/1 column that tells where a feature misses a value."""
    return f"{feature} is missing"


def _next_to_the_mean(spread: Float, gaps: Bool | None, otherwise: Float) -> Float:
    """Of each column the present value next to their mean, or another number where none is present."""
    here = np.arange(spread.shape[1])
    if gaps is None:
        nearest = np.abs(spread - spread.mean(axis=0)).argmin(axis=0)
        values: Float = spread[nearest, here]
        return values
    present = np.where(gaps, 0.0, spread)
    mean = present.sum(axis=0) / np.maximum((~gaps).sum(axis=0), 1)
    nearest = np.where(gaps, np.inf, np.abs(present - mean)).argmin(axis=0)
    return np.where(gaps.all(axis=0), otherwise, present[nearest, here])


def codes_between(name: str, low: float, high: float) -> list[int]:
    """The codes of a nominal column, all whole numbers of its range."""
    if low != round(low) or high != round(high):
        raise no_whole_number(name)
    if high - low >= MAX_CODES or max(-low, high) > LARGEST_CODE:
        raise DataError(
            f"the codes of nominal column {name!r} are too far apart; at most {MAX_CODES} are encoded. "
            "Number the categories 0, 1, 2, ..., or treat the column as a number."
        )
    return list(range(int(low), int(high) + 1))


def no_whole_number(name: str) -> DataError:
    """What is wrong with a column that should hold codes."""
    return DataError(f"nominal column {name!r} has a code that is no whole number. Number the categories 0, 1, 2, ...")
