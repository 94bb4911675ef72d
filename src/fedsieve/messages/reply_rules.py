"""Rules that honest replies of several kinds obey: each tells what is wrong, in words that follow the client's name."""

from collections.abc import Iterator

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import listed
from fedsieve.messages.base import Known
from fedsieve.tables import MOST_ROWS

SLACK = 1e-9  # relative room for rounding in sums that were taken in another order
MAX_VIA = 16  # columns through which triangles are checked, evenly spread: enough to catch, cheap beside the sums


def names_rule(answered: tuple[str, ...], asked: tuple[str, ...], what: str = "features") -> Iterator[str]:
    """A reply is about the columns that were asked for, in their order."""
    if answered != asked:
        present = set(answered)
        absent = [name for name in asked if name not in present]
        detail = f"missing: {listed(absent)}" if absent else "others, or in another order"
        yield (
            f"answered for {len(answered)} {what}, the plan has {len(asked)} ({detail}). "
            "Check its columns against the plan's list."
        )


def rows_rule(n_rows: int, known: Known) -> Iterator[str]:
    """A number of rows, two at least, no more than agreed, and the same throughout a run."""
    if type(n_rows) is not int or n_rows >= MOST_ROWS * known.max_sites:
        most = MOST_ROWS * known.max_sites
        yield f"sent {str(n_rows)[:20]} as its number of rows; it must be a whole number below {most}."
    if n_rows < 2:
        yield f"has {n_rows} row{'s' * (n_rows != 1)}; a client needs at least 2, since a single row has no spread."
    if known.max_rows is not None and n_rows > known.max_rows * known.max_sites:
        sites = f" for each of {known.max_sites} sites" if known.max_sites > 1 else ""
        yield (
            f"claims {n_rows} rows, more than the agreed {known.max_rows}{sites} (max_rows). It takes part with fewer "
            "rows, or all parties agree on a larger max_rows."
        )
    if known.n_rows is not None and n_rows != known.n_rows:
        yield f"answered for {n_rows} rows, before for {known.n_rows}. Its data changed during the run."


def shape_rule(name: str, array: np.ndarray, shape: tuple[int, ...]) -> Iterator[str]:
    """An array of numbers of the shape that the plan needs."""
    if not isinstance(array, np.ndarray) or array.dtype not in (np.float64, np.int64):
        yield f"sent {name} as {type(array).__name__}, no array of numbers."
    if array.shape != shape:
        yield f"sent {name} of shape {array.shape}; the plan needs {shape}."


def finite_rule(name: str, array: np.ndarray) -> Iterator[str]:
    """Finite numbers."""
    finite = np.isfinite(array)
    if not finite.all():
        yield f"sent {int((~finite).sum())} values in {name} that are not finite numbers."


def spread_in_range_rule(
    low: Float, high: Float, scaling_low: Float, scaling_high: Float, count: Float | Int, mean: Float, m2: Float
) -> Iterator[str]:
    """Values scaled to [0, 1] reach both ends of the range that the client named before, and stay within."""
    wide = (low <= high) & (scaling_low < scaling_high)
    start, width = scaling_low[wide], scaling_high[wide] - scaling_low[wide]
    low, high = (low[wide] - start) / width, (high[wide] - start) / width
    count, mean, m2 = count[wide], mean[wide], m2[wide]
    span = high - low
    share = (mean - low) / np.where(span > 0, span, 1.0)
    room = SLACK * count
    if np.any(mean < low - SLACK) or np.any(mean > high + SLACK) or np.any(m2 < span**2 / 2 - room):
        yield "sent moments that contradict its ranges."
    if np.any(m2 > most_spread(count, np.clip(share, 0.0, 1.0)) * span**2 + room):
        yield "sent a spread above what its ranges allow."


def most_spread(count: Float | Int | int, mean: Float) -> Float:
    """For a given sum, values in [0, 1] spread most as ones, zeros and one rest; every lesser spread exists too."""
    total = count * mean
    most: Float = np.floor(total) + (total - np.floor(total)) ** 2 - total * mean
    return most


def triangle_pivots(n: int) -> range:
    """Through which columns the triangle inequality is checked."""
    return range(0, n, -(-n // MAX_VIA))
