"""What the two ways to multiply a site's distances cost: from pair sums, made once, or from the rows, each time anew.

Nanoseconds of one thread, as `make bench` sees them; only their ratios matter here. Nothing is
compiled by asking.
"""

from dataclasses import dataclass

from fedsieve.kernels.row_pairs import pairs_looked_at

COMPARED = 0.03  # per row pair and pair of features, in the sums of features with many values
COUNTED = 0.012  # per row and pair of features, in the sums of features with few values
SPENT = 6.0  # per pair of features, whatever the rows
MULTIPLIED = 4.5  # per row pair and feature, in a product from the rows
MERGED = 2.5  # per row pair and entry of its two rows, in a product from sparse rows
N_PRODUCTS = 10  # degrees and iterations of a usual run
ALWAYS_SUMS = 1200  # features up to which sums take little time and memory, whatever the rows; and they are exact
MOST_SUMS = 1 << 29  # bytes of a matrix of pair sums, while it is made, that a site is expected to have to spare


@dataclass(frozen=True)
class Shape:
    """What decides of a site's table: `n_compared` features have many values; a sparse one has `n_entries` ones."""

    n_rows: int
    n_features: int
    max_pairs: int
    n_compared: int
    n_entries: int | None = None

    @property
    def n_row_pairs(self) -> int:
        """The pairs of rows that are looked at."""
        return pairs_looked_at(self.n_rows, self.max_pairs)


@dataclass(frozen=True)
class GraphCost:
    """Of one site in a whole run: seconds of one thread, and the bytes that it holds beside its rows."""

    seconds: float
    n_bytes: int


def from_sums(shape: Shape) -> GraphCost:
    """All pair sums once."""
    n_features, n_few = shape.n_features, shape.n_features - shape.n_compared
    n_pairs, n_counted = n_features * (n_features + 1) / 2, n_few * (n_few + 1) / 2
    spent = COMPARED * shape.n_row_pairs * (n_pairs - n_counted) + COUNTED * shape.n_rows * n_counted
    spent += SPENT * n_pairs + N_PRODUCTS * n_features**2
    return GraphCost(spent * 1e-9, sums_bytes(n_features))


def sums_bytes(n_features: int) -> int:
    """Of pair sums while they are made: a matrix, and a copy of it. Each thread but the first has one more."""
    return 16 * n_features**2


def from_rows(shape: Shape) -> GraphCost:
    """All products from the rows."""
    if shape.n_entries is None:
        spent = MULTIPLIED * shape.n_row_pairs * shape.n_features
    else:
        spent = MERGED * shape.n_row_pairs * 2 * shape.n_entries / max(shape.n_rows, 1)
    return GraphCost(N_PRODUCTS * spent * 1e-9, 64 * shape.n_features)
