"""Covariances of tall tables: the blocked pass beside the general one, which was the only one before, in one run."""

import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.row import Row
from fedsieve import messages as m
from fedsieve.messages.covariances import AskCovariances
from fedsieve.tables import ArrayTable

SHAPES = {(200_000, 50): 6.7, (20_000, 500): 2.7}  # and how much faster a prototype was


def rows() -> list[Row]:
    told = []
    with threadpool_limits(1):
        for (n_rows, n_columns), target in SHAPES.items():
            fast, slow, alone = _seconds(n_rows, n_columns)
            shape = f"{n_rows:,} x {n_columns}"
            what = f"sums of {shape}: the blocked pass, of the general one's speed"
            told.append(Row(what, slow / fast, "x", "more", target))
            told.append(Row(f"sums of {shape}: time, of the bare product's", fast / alone, "x", "less"))
    return told


def _seconds(n_rows: int, n_columns: int) -> tuple[float, float, float]:
    """The best of five, without the look for the site's own ranges, which both need."""
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    names = tuple(f"x{place}" for place in range(n_columns))
    table, columns = ArrayTable(names, X), m.Columns(names, (), "mean")
    own = m.AskRanges(columns).answer(table)
    ask = AskCovariances(columns, own.scaling)
    encoding = ask.encoding()

    from fedsieve.messages.tall_sums import tall_sums

    def best(work) -> float:
        found = []
        for _ in range(5):
            start = time.process_time()
            work()
            found.append(time.process_time() - start)
        return min(found)

    return (
        best(lambda: tall_sums(table, names, encoding, own)),
        best(lambda: ask._sums(table, encoding)),
        best(lambda: X.T @ X),
    )
