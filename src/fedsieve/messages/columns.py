"""What requests are made of: which columns are meant, how they are read, scaled to [0, 1] and encoded."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float, Int, Rows
from fedsieve.errors import DataError, ProtocolError, listed
from fedsieve.tables import LARGEST, Table, dense

PARTS: dict[str, type] = {}


def declare(kind: type, registry: dict[str, Any]) -> None:
    """Register a kind by its name, which is its name on the wire: no other may have it."""
    if kind.__name__ in registry:
        raise TypeError(f"{kind.__name__} is declared already, in {registry[kind.__name__].__module__}.")
    registry[kind.__name__] = kind


class Part:
    """A value inside a message; declaring one lets the codec know it."""

    def __init_subclass__(cls) -> None:
        declare(cls, PARTS)


@dataclass(frozen=True, eq=False)
class Columns(Part):
    """Which columns are meant, by name, and how their values are to be read."""

    features: tuple[str, ...]
    nominal: tuple[str, ...]
    missing: str

    @property
    def nominal_mask(self) -> Bool:
        """Which of them hold codes."""
        return np.isin(self.features, self.nominal)

    def only(self, names: Iterable[str]) -> "Columns":
        """Some of them, in the order given."""
        names, nominal = tuple(names), set(self.nominal)
        return Columns(names, tuple(name for name in names if name in nominal), self.missing)


@dataclass(frozen=True, eq=False)
class Scaling(Part):
    """The range that becomes [0, 1], per feature; `None` where each site uses its own."""

    low: Float | None
    high: Float | None

    def only(self, chosen: Bool | np.ndarray) -> "Scaling":
        """That of some features, given as mask or indices."""
        return Scaling(*(None if edge is None else edge[chosen] for edge in (self.low, self.high)))


def scaled(X: Rows, low: Float, high: Float, nominal: Bool) -> tuple[Float, int]:
    """The columns of X with [low, high] moved to [0, 1], and how many present values lay outside and were clipped.

    A range of one point becomes 0. Nominal columns are codes and stay as they are.

    >>> X, nominal = np.array([[1.0, 7.0], [3.0, 9.0], [8.0, 7.0]]), np.array([False, True])
    >>> scaled(X, np.array([1.0, 0]), np.array([5.0, 0]), nominal)
    (array([[0. , 7. ],
           [0.5, 9. ],
           [1. , 7. ]]), 1)
    """
    table = dense(X)
    empty = low > high  # nobody has a value here
    low, high = np.where(empty | nominal, 0.0, low), np.where(empty | nominal, 1.0, high)
    outside = ((table < low) | (table > high)) & ~nominal
    width = np.where(high > low, high - low, 1.0)
    inside = np.where(nominal, table, np.clip(table, low, high))
    return (inside - low) / width, int(outside.sum())


def check_ranges_hold(low: Float, high: Float, own_low: Float, own_high: Float) -> None:
    """Refuse ranges that do not hold a site's own values: with edges of its choice a server could count values."""
    if low.shape != own_low.shape or high.shape != own_high.shape:
        raise ProtocolError(f"was sent {low.size} and {high.size} ends of ranges for {len(own_low)} columns.")
    if not np.all((low >= -LARGEST) & (low <= own_low) & (own_high <= high) & (high <= LARGEST)):
        raise ProtocolError("was sent ranges that do not hold its own values; federated ranges hold those of all.")


def check_labels_present(table: Table, labels: tuple[str, ...]) -> None:
    """Refuse to be asked for labels that a site does not hold."""
    absent = [name for name in labels if name not in table.names]
    if absent:
        raise DataError(f"no label {listed(absent)} here. This method needs sites that hold labels.")


def same_names(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """The names that two replies are about; replies about different columns do not add up."""
    if first != second:
        raise ProtocolError(f"replies about different columns do not add up: {first} and {second}.")
    return first


def square(upper: Float, n: int, first: int = 0) -> Float:
    """The symmetric (n, n) matrix of an upper triangle, row by row from the diagonal (or `first` beside it) on."""
    rows, columns = np.triu_indices(n, first)
    full = np.zeros((n, n))
    full[rows, columns] = upper
    full[columns, rows] = upper
    return full


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
            codes = _codes(name, float(low[feature]), float(high[feature])) if nominal[feature] else [None]
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

    def centered(self, X: Rows) -> Float:
        """The same with numbers in [-1/2, 1/2]: taken from the middle of their range, which is the same at all sites.

        The middle is taken away before the division: values far from 0 lose no digits.
        """
        raw = dense(X)
        return self._spread(np.where(self.nominal, raw, (raw - self._middle) / self._width))

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
            row, place = np.argwhere(broken)[0]
            name = self.names[int(np.argmax(self.owner == place))].rpartition("=")[0]
            raise _no_whole_number(name, float(values[row, place]))
        spread = values[:, self.owner]
        return np.where(np.isnan(self.code), spread, spread == self.code)


def _codes(name: str, low: float, high: float) -> list[int]:
    if low != round(low) or high != round(high):
        raise _no_whole_number(name, low if low != round(low) else high)
    if high - low >= MAX_CODES or max(-low, high) > 2**53:  # beyond, floats do not tell all codes apart
        raise DataError(
            f"the codes of nominal column {name!r} go from {low:g} to {high:g}; at most {MAX_CODES} are encoded. "
            "Number the categories 0, 1, 2, ..., or treat the column as a number."
        )
    return list(range(int(low), int(high) + 1))


def _no_whole_number(name: str, code: float) -> DataError:
    return DataError(
        f"nominal column {name!r} has the code {code:g}, which is no whole number. Number the categories 0, 1, 2, ..."
    )
