"""What requests are made of: which columns are meant, how they are read, their bins and how they are scaled."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float, Int, Rows
from fedsieve.errors import DataError, ProtocolError, listed
from fedsieve.measures.binning import MAX_EDGES, n_beyond, robust_range
from fedsieve.sparse_rows import SparseRows
from fedsieve.tables import Table
from fedsieve.values import LARGEST, dense, is_sparse

PARTS: dict[str, type] = {}
BLOCK = 1 << 15  # numbers of a matrix that are worked on together
ERROR, MEAN, INDICATOR = "error", "mean", "indicator"
"""What becomes of missing values: none may be; a mean stands in; and a 0/1 column tells where, too."""


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
    def may_miss(self) -> bool:
        """Whether values may be missing."""
        return self.missing != ERROR

    @property
    def fills(self) -> bool:
        """Whether means stand in for missing values."""
        return self.missing in (MEAN, INDICATOR)

    @property
    def nominal_mask(self) -> Bool:
        """Which of them hold codes."""
        nominal = set(self.nominal)  # numpy would make room for the longest name in every place
        return np.array([name in nominal for name in self.features], dtype=bool)

    def only(self, names: Iterable[str]) -> "Columns":
        """Some of them, in the order given."""
        names, nominal = tuple(names), set(self.nominal)
        return Columns(names, tuple(name for name in names if name in nominal), self.missing)


@dataclass(frozen=True, eq=False)
class Bins(Part):
    """Bins of several columns: all edges one after the other, and how many each column has.

    Below a column's first edge and from its last one on lie open bins, so that it has one bin more than edges.
    """

    edges: Float
    n_edges: Int

    @classmethod
    def of(cls, edges: Iterable[Float]) -> "Bins":
        """From the edges of each column."""
        parts = list(edges)
        return cls(np.concatenate([np.zeros(0), *parts]), np.array([len(part) for part in parts], dtype=np.int64))

    def by_column(self) -> list[Float]:
        """The edges of each column."""
        return _cut(self.edges, self.n_edges)

    def split(self, counts: Int) -> list[Int]:
        """The counts of each column's bins."""
        return _cut(counts, self.n_edges + 1)

    def totals(self, counts: Int) -> Int:
        """How many values each column has in all its bins."""
        n_bins = self.n_edges + 1
        return np.add.reduceat(counts, np.cumsum(n_bins) - n_bins) if len(n_bins) else n_bins

    def check(self, n_columns: int) -> None:
        """Raise `ProtocolError` for what are no bins of so many columns."""
        shapes = self.edges.ndim == 1 and self.n_edges.shape == (n_columns,)
        if not shapes or np.any(self.n_edges < 2) or int(self.n_edges.sum()) != len(self.edges):
            raise ProtocolError(f"was sent bins that do not fit its {n_columns} columns.")
        if np.any(self.n_edges > MAX_EDGES):
            raise ProtocolError(f"was sent more than {MAX_EDGES} edges of bins for one column.")
        ordered = np.diff(self.edges) > 0
        ordered[np.cumsum(self.n_edges)[:-1] - 1] = True  # from one column to the next
        if not np.all(np.abs(self.edges) <= LARGEST) or not ordered.all():
            raise ProtocolError("was sent edges of bins that do not rise, or are no finite numbers.")


def _cut(values: Any, lengths: Int) -> list[Any]:
    """One part after the other, of these lengths; numpy's own `split` takes ten times as long."""
    ends = np.cumsum(lengths).tolist()
    return [values[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def bin_pins(columns: Columns, bins: Bins) -> dict[str, Any]:
    """The bins of each column."""
    return {f"bins of {name!r}": edges.tolist() for name, edges in zip(columns.features, bins.by_column(), strict=True)}


FEDERATED, ROBUST, DECLARED, LOCAL = "federated", "robust", "declared", "local"


@dataclass(frozen=True, eq=False)
class Scaling(Part):
    """The range that becomes [0, 1], per feature; `None` where each site uses its own.

    `kind` says where ranges come from. Federated ones are the exact extremes of all sites and hold every value; robust
    and declared ones may not, and values beyond are clipped. Robust ranges follow from `bins` and the `counts` of all
    sites' values in them, which travel with the first request that uses them.
    """

    low: Float | None
    high: Float | None
    kind: str = FEDERATED
    bins: Bins | None = None
    counts: Int | None = None

    @classmethod
    def robust(cls, bins: Bins, counts: Int) -> "Scaling":
        """The ranges that follow from how often values fall into each bin."""
        columns = zip(bins.by_column(), bins.split(counts), strict=True)
        ends = np.array([robust_range(edges, part) for edges, part in columns]).reshape(-1, 2)
        return cls(ends[:, 0], ends[:, 1], ROBUST, bins, counts)

    @property
    def clips(self) -> bool:
        """Whether values may lie outside, and then count as the nearest end."""
        return self.kind in (ROBUST, DECLARED)

    @property
    def n_beyond(self) -> int | None:
        """How many values of all sites are clipped; `None` where no counts tell it."""
        if not self.clips:
            return 0
        if self.bins is None or self.counts is None or self.low is None or self.high is None:
            return None
        columns = zip(self.bins.by_column(), self.bins.split(self.counts), self.low, self.high, strict=True)
        return sum(n_beyond(*column) for column in columns)

    def only(self, chosen: Bool | np.ndarray) -> "Scaling":
        """That of some features, given as mask or indices."""
        low, high = (None if edge is None else edge[chosen] for edge in (self.low, self.high))
        if self.bins is None or self.counts is None:
            return Scaling(low, high, self.kind)
        place = np.arange(len(self.bins.n_edges))[chosen]
        edges, counts = self.bins.by_column(), self.bins.split(self.counts)
        some = np.concatenate([np.zeros(0, np.int64), *(counts[i] for i in place)])
        return Scaling(low, high, self.kind, Bins.of(edges[i] for i in place), some)

    def told(self) -> "Scaling":
        """The same for whoever was shown before where it comes from."""
        return Scaling(self.low, self.high, self.kind)


@dataclass(frozen=True, eq=False)
class Fill(Part):
    """What stands in for missing values: the means of the present ones of all sites, as the totals they follow from."""

    n_rows: int
    present: Int  # how many values, per feature
    sums: Float  # of them, per encoded column and from the middle of its range

    @property
    def misses(self) -> Bool:
        """Which features miss a value somewhere."""
        return self.present < self.n_rows

    @property
    def share(self) -> Float:
        """Of all rows, those that miss a value, per feature."""
        return 1 - self.present / max(self.n_rows, 1)

    def means(self, owner: Int) -> Float:
        """Per encoded column, of which `owner` names the feature; the middle of the range where nobody has a value."""
        return self.sums / np.maximum(self.present[owner], 1)

    def only(self, chosen: Int, owner: Int) -> "Fill":
        """That of some features."""
        return Fill(self.n_rows, self.present[chosen], self.sums[np.isin(owner, chosen)])


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
    start, width = unit_ranges(low, high, nominal)
    low, high = np.where(low > high, 0.0, low), np.where(low > high, 1.0, high)
    outside = ((table < low) | (table > high)) & ~nominal
    inside = np.where(nominal, table, np.clip(table, low, high))
    return (inside - start) / width, int(outside.sum())


def unit_ranges(low: Float, high: Float, nominal: Bool) -> tuple[Float, Float]:
    """Where ranges begin and how wide they are; 1 for a range of one point, codes and columns without values."""
    as_it_is = nominal | (low > high)
    return np.where(as_it_is, 0.0, low), np.where(as_it_is | (low == high), 1.0, high - low)


def scaled_rows(X: Rows, low: Float, high: Float, nominal: Bool) -> Float | SparseRows:
    """The same of rows that are compared with each other: those of a sparse table stay sparse."""
    if not is_sparse(X):
        return scaled(X, low, high, nominal)[0]
    rows, n_columns = SparseRows.of(X), len(low)
    place = rows.entries.indices
    values = scaled(rows.entries.data, low[place], high[place], nominal[place])[0]
    return rows.changed(values, scaled(np.zeros(n_columns), low, high, nominal)[0])


def check_ranges_hold(low: Float, high: Float, own_low: Float, own_high: Float, where: Bool | bool = True) -> None:
    """Refuse ranges that do not hold a site's own values: with edges of its choice a server could count values."""
    if low.shape != own_low.shape or high.shape != own_high.shape:
        raise ProtocolError(f"was sent {low.size} and {high.size} ends of ranges for {len(own_low)} columns.")
    holds = (low >= -LARGEST) & (low <= own_low) & (own_high <= high) & (high <= LARGEST)
    if not np.all(holds | ~np.asarray(where)):
        raise ProtocolError("was sent ranges that do not hold its own values; federated ranges hold those of all.")


def check_labels_present(table: Table, labels: tuple[str, ...]) -> None:
    """Refuse to be asked for labels that a site does not hold."""
    known = set(table.names)
    absent = [name for name in labels if name not in known]
    if absent:
        raise DataError(f"no label {listed(absent)} here. This method needs sites that hold labels.")


def same_names(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """The names that two replies are about; replies about different columns do not add up."""
    if first != second:
        raise ProtocolError(f"replies about different columns do not add up: {first} and {second}.")
    return first


def square(upper: Float, n: int, first: int = 0) -> Float:
    """The symmetric (n, n) matrix of an upper triangle, row by row from the diagonal (or `first` beside it) on."""
    full, start = np.zeros((n, n)), 0
    for row in range(n - first):  # whole rows at a time: lists of all places would take more room than the matrix
        end = start + n - first - row
        full[row, row + first :] = full[row + first :, row] = upper[start:end]
        start = end
    return full


def row_blocks(n: int) -> Iterator[slice]:
    """The rows of an (n, n) matrix, so many at a time as stay in cache while something is done with them."""
    step = max(1, BLOCK // max(n, 1))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def upper_of(matrix: Float) -> Float:
    """The upper triangle, row by row from the diagonal on: `square` makes the matrix of it again.

    >>> upper_of(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([1., 2., 3.])
    """
    return np.concatenate([np.zeros(0), *(matrix[row, row:] for row in range(len(matrix)))])
