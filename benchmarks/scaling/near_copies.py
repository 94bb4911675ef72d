"""Near copies of columns, which a site looks for under its rules: time against columns, and beside all pairs."""

import json
import sys
import time

import numpy as np

from benchmarks.row import Row
from benchmarks.scaling.processes import measured

MODULE = "benchmarks.scaling.near_copies"
ROWS, MOST = 200, 4
WIDTHS = (5_000, 10_000, 20_000)


def rows() -> list[Row]:
    found = measured(MODULE)
    first, last = WIDTHS[0], WIDTHS[-1]
    growth = np.log(found[str(last)] / found[str(first)]) / np.log(last / first)
    return [
        *(
            Row(f"near copies, d = {d}, {ROWS} rows of continuous values", found[str(d)], "CPU s", "less")
            for d in WIDTHS
        ),
        Row("the same: exponent in d", float(growth), "", "less", 1.15),
        Row("the same, d = 5000, of comparing all pairs", found["of all pairs"], "x", "less", 0.5),
        Row("near copies, d = 5000, 0/1 values, of comparing all pairs", found["of all pairs, 0/1"], "x", "less"),
    ]


def _seconds(X: np.ndarray) -> float:
    """The least of three."""
    from fedsieve import kernels

    taken = []
    for _ in range(3):
        start = time.process_time()
        kernels.near_copies(X, MOST)
        taken.append(time.process_time() - start)
    return min(taken)


def _of_all_pairs(X: np.ndarray) -> float:
    """Share of the time with every column compared with every other one, as where rows are too few for sketches."""
    from fedsieve.kernels import copies
    from fedsieve.kernels.copy_sketches import sketches

    with_sketches = _seconds(X)
    copies.sketches = lambda table, room, most: sketches(table[:0], room, most)
    without = _seconds(X)
    copies.sketches = sketches
    return with_sketches / without


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    _seconds(rng.normal(size=(ROWS, 4)))  # compiles
    found = {str(d): _seconds(rng.normal(size=(ROWS, d))) for d in WIDTHS}
    found["of all pairs"] = _of_all_pairs(rng.normal(size=(ROWS, WIDTHS[0])))
    found["of all pairs, 0/1"] = _of_all_pairs(rng.integers(0, 2, (ROWS, WIDTHS[0])).astype(np.float64))
    json.dump(found, sys.stdout)
