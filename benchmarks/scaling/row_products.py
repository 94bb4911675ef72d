"""A product with a site's distances straight from its rows: its cost, its error, and the dense path beside it."""

import time
from collections.abc import Callable

import numpy as np

from benchmarks.row import Row
from fedsieve.kernels import distance_product, pair_sums, product_from_rows

N_ROWS = 200
WIDE, DENSE = 20_000, 10_000  # columns; the dense path takes 2 GB with the latter


def rows() -> list[Row]:
    """On one thread."""
    X, radius, vector = _table(WIDE)
    quick, seconds = _timed(lambda: product_from_rows(X, radius, vector, n_threads=1))
    exact, _ = _timed(lambda: product_from_rows(X, radius, vector, exact=True, n_threads=1))
    pairs = N_ROWS * (N_ROWS - 1) / 2
    X, radius, vector = _table(DENSE)
    _, from_rows = _timed(lambda: product_from_rows(X, radius, vector, n_threads=1))
    _, dense = _timed(lambda: distance_product(pair_sums(X, radius, n_threads=1), vector))
    off = float(np.abs(quick - exact).max() / exact.max())
    shape = f"one product of {N_ROWS} rows, d = {WIDE:,}"
    return [
        Row(f"{shape}: per row pair and feature", 1e9 * seconds / pairs / WIDE, "CPU ns", "less", 8.0),
        Row(f"{shape}: off by at most, of the largest entry", off, "", "less"),
        Row(f"the same, d = {DENSE:,}: times as fast as by pair sums", dense / from_rows, "x", "more"),
    ]


def _table(width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(0.5, 0.15, (N_ROWS, width)).clip(0, 1)
    return X, X.std(axis=0, ddof=1) / 1.2, rng.random(width)


def _timed(work: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    start = time.process_time()
    found = work()
    return found, time.process_time() - start
