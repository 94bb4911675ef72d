"""What one site can put into its table: typing errors, wrong units, made-up rows, and rows chosen to do harm.

A lie makes other rows of a site's own. It may be about one column, or about all of them.
"""

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from fedsieve.arrays import Float
from fedsieve.values import LARGEST

FAR = 1e9  # beyond all bins of a robust range; it counts as the range's end
TIMES = 5  # as many rows as a site has
N_PATTERNS = 8  # of opposite rows, drawn at random
FEW_PATTERNS = 4  # of those that a liar tries who has little time


def two_far_cells(rows: Float, column: int) -> Float:
    """The largest and the smallest number there is."""
    return _with_cells(rows, column, [LARGEST, -LARGEST])


def one_typing_error(rows: Float, column: int) -> Float:
    """9,999 for a missing value, say."""
    return _with_cells(rows, column, [9999.0])


def other_units(rows: Float, column: int) -> Float:
    """Grams for kilograms."""
    lie = rows.copy()
    lie[:, column] *= 1000
    return lie


def only_one_varies(rows: Float, column: int) -> Float:
    """Half the rows at each far end of one column, all else the same everywhere: nothing is like it."""
    return some_opposite(rows, np.arange(rows.shape[1]) == column)


def some_opposite(rows: Float, ends: Float) -> Float:
    """Two opposite rows in turn: each column at the far end of this sign, or at the site's median where that is 0."""
    turn = np.where(np.arange(len(rows)) % 2, FAR, -FAR)
    return np.where(ends == 0, np.median(rows, axis=0), np.outer(turn, ends))


def one_against_all(rows: Float, column: int) -> Float:
    """Two opposite rows in which all columns go with one as they do in the site's honest rows, but perfectly."""
    with np.errstate(invalid="ignore", divide="ignore"):
        goes_with = np.nan_to_num(np.atleast_2d(np.corrcoef(rows, rowvar=False))[column])
    return some_opposite(rows, np.where(goes_with < 0, -1.0, 1.0))


def random_rows(rows: Float, rng: np.random.Generator) -> Float:
    """Each cell drawn anew between the site's own ends of the column."""
    return rng.uniform(rows.min(axis=0), rows.max(axis=0), rows.shape)


def repeated(rows: Float) -> Float:
    """Several times the same rows."""
    return np.tile(rows, (TIMES, 1))


def opposite_rows(rows: Float, rng: np.random.Generator) -> Iterator[Float]:
    """Copies of two opposite rows, each column at one far end or the other: at random, and as the columns vary."""
    main = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:2]
    for sign in [*np.where(main < 0, -1.0, 1.0), *rng.choice([-1.0, 1.0], (N_PATTERNS, rows.shape[1]))]:
        yield some_opposite(rows, sign)


ABOUT_ONE_COLUMN: dict[str, Callable[[Float, int], Float]] = {
    "two cells of ±1e300": two_far_cells,
    "one cell of 9,999": one_typing_error,
    "a column times 1000": other_units,
    "only one column varies": only_one_varies,
    "all columns go with one": one_against_all,
}


def harmful(rows: Float, column: int, rng: np.random.Generator) -> Iterator[tuple[str, Float]]:
    """The lies of a site that knows which column is ranked best, by name."""
    for title, lie in ABOUT_ONE_COLUMN.items():
        yield title, lie(rows, column)
    yield "random rows", random_rows(rows, rng)
    for pattern in islice(opposite_rows(rows, rng), FEW_PATTERNS):
        yield "opposite rows", pattern


def within(rows: Float, low: Float, high: Float) -> Float:
    """Far values at the ends that all sites have: a lie that stretches no exact range."""
    return np.clip(rows, low, high) if np.abs(rows).max() == FAR else rows


def _with_cells(rows: Float, column: int, values: list[float]) -> Float:
    lie = rows.copy()
    lie[: len(values), column] = values
    return lie
