"""Columns as numbers that add up: one column per code of a nominal one, numbers from the middle of the run's ranges."""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Bool, Float, Int, Rows
from fedsieve.errors import DataError, ProtocolError
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.columns import Columns, Scaling, scaled
from fedsieve.tables import dense


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
        between = (self.u.T @ self.u) * self.unit * self.unit[:, None]
        mixed = np.outer(self.unit * self.u.sum(axis=0), self.offset)
        products: Float = between + mixed + mixed.T + len(self.u) * np.outer(self.offset, self.offset)
        return products

    def products_with(self, weights: Float) -> Float:
        """The sums of products of each column with weighted sums of all of them; the matrix of all exists nowhere."""
        combined, constant = self.u @ (self.unit[:, None] * weights), self.offset @ weights
        moved = self.unit * self.u.sum(axis=0)
        between = self.unit[:, None] * (self.u.T @ combined)
        mixed = np.outer(moved, constant) + np.outer(self.offset, combined.sum(axis=0))
        products: Float = between + mixed + len(self.u) * np.outer(self.offset, constant)
        return products


MAX_CODES = 1000  # between the smallest and the largest code of a column


@dataclass(frozen=True, eq=False)
class Encoding:
    """The encoded columns: their names, the feature each belongs to, and the code it stands for (NaN for a number)."""

    names: tuple[str, ...]
    owner: Int
    code: Float
    low: Float  # per feature
    high: Float
    nominal: Bool

    @classmethod
    def of(cls, columns: Columns, scaling: Scaling) -> "Encoding":
        """From the federation's ranges; the codes of a nominal column are all whole numbers of its range.

        >>> columns = Columns(("age", "color"), ("color",), "error")
        >>> Encoding.of(columns, Scaling(np.array([18.0, 1.0]), np.array([99.0, 3.0]))).names
        ('age', 'color=1', 'color=2', 'color=3')
        """
        low, high = scaling.low, scaling.high
        if low is None or high is None or not low.shape == high.shape == (len(columns.features),):
            raise ProtocolError(
                "was sent no ranges, or not one per column; the encoding must be the same at all sites."
            )
        if not np.isfinite([low, high]).all():
            raise ProtocolError("was sent ranges that are no finite numbers.")
        nominal = columns.nominal_mask
        names, owner, code = [], [], []
        for feature, name in enumerate(columns.features):
            codes = codes_between(name, float(low[feature]), float(high[feature])) if nominal[feature] else [None]
            names += [name if value is None else f"{name}={value}" for value in codes]
            owner += [feature] * len(codes)
            code += [np.nan if value is None else float(value) for value in codes]
        return cls(tuple(names), np.array(owner, dtype=np.int64), np.array(code), low, high, nominal)

    @property
    def midpoint(self) -> Float:
        """Per encoded column, the middle of its range in units of the range; 0 for codes and ranges of one point.

        That is 1/2, or nearly so: the middle of a narrow range far from 0 is rounded.
        """
        return np.where(np.isnan(self.code), ((self._middle - self.low) / self._width)[self.owner], 0.0)

    def table(self, X: Rows) -> Float:
        """The rows of X in encoded columns: numbers in [0, 1], codes 0 or 1."""
        return self._spread(scaled(X, self.low, self.high, self.nominal)[0])

    def any_table(self, X: Rows) -> Float:
        """The same for any finite values: a code that is none of its column's is 0 in all of them."""
        values = scaled(X, self.low, self.high, self.nominal)[0][:, self.owner]
        return np.where(np.isnan(self.code), values, values == self.code)

    def centered(self, X: Rows) -> "Centered":
        """Rows as differences from a value of their own, and how these lie in the run's ranges.

        Nothing is divided by a range before it is added up, and the own value is taken away in raw units: with ranges
        of its choice, rounding or underflow would let a server sort rows into groups. The value next to the mean loses
        no digits, wherever the column lies. A number beyond its range counts as the nearest end; a code is 0 or 1.
        """
        raw = dense(X)
        spread = self._spread(np.where(self.nominal, raw, np.clip(raw, self.low, self.high)))
        coded = ~np.isnan(self.code)
        own = np.zeros(spread.shape[1])
        if len(spread):
            nearest = np.abs(spread - spread.mean(axis=0)).argmin(axis=0)
            own = np.where(coded, 0.0, spread[nearest, np.arange(spread.shape[1])])
        differences = spread - own
        size = np.abs(differences).max(axis=0, initial=0.0)
        width = np.where(coded, 1.0, self._width[self.owner])
        offset = np.where(coded, 0.0, (own - self._middle[self.owner]) / width)
        unit = np.divide(differences, size, out=np.zeros_like(differences), where=size > 0)
        return Centered(unit, size / width, offset)

    def facts(self, features: tuple[str, ...], n_rows: int, sums: Float, spreads: Float) -> ColumnFacts:
        """What sums and summed squared deviations of the encoded columns tell of numbers, in their own units."""
        mean, deviation = np.full(len(features), np.nan), np.full(len(features), np.nan)
        place = np.flatnonzero(np.isnan(self.code))
        here = self.owner[place]
        width = self._width[here]
        mean[here] = self._middle[here] + width * sums[place] / n_rows
        deviation[here] = width * np.sqrt(np.maximum(spreads[place], 0.0) / n_rows)
        count = np.where(np.isnan(mean), np.nan, float(n_rows))
        return ColumnFacts.of(features, n_rows, count=count, mean=mean, deviation=deviation)

    @property
    def _middle(self) -> Float:
        return (self.low + self.high) / 2

    @property
    def _width(self) -> Float:
        return np.where(self.low < self.high, self.high - self.low, 1.0)

    def _spread(self, values: Float) -> Float:
        if not self.nominal.any():
            return values
        broken = self.nominal & (values != np.round(values))
        if broken.any():
            place = int(np.argwhere(broken.any(axis=0))[0, 0])
            raise _no_whole_number(self.names[int(np.argmax(self.owner == place))].rpartition("=")[0])
        spread = values[:, self.owner]
        return np.where(np.isnan(self.code), spread, spread == self.code)


def codes_between(name: str, low: float, high: float) -> list[int]:
    """The codes of a nominal column, all whole numbers of its range."""
    if low != round(low) or high != round(high):
        raise _no_whole_number(name)
    if high - low >= MAX_CODES or max(-low, high) > 2**53:  # beyond, floats do not tell all codes apart
        raise DataError(
            f"the codes of nominal column {name!r} go from {low:g} to {high:g}; at most {MAX_CODES} are encoded. "
            "Number the categories 0, 1, 2, ..., or treat the column as a number."
        )
    return list(range(int(low), int(high) + 1))


def _no_whole_number(name: str) -> DataError:
    return DataError(f"nominal column {name!r} has a code that is no whole number. Number the categories 0, 1, 2, ...")
