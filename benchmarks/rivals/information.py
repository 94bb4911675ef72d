"""D2F and FIMF against plain loops over pairs: the twins of the tests, on some rows and features of Emotions.

D2F's twin sums over all chosen features anew in each round; so loops that keep their sums are a second peer.

With FEDSIEVE_DATA set the real rows are read, else a table of their shape is drawn.
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.timing import best_of
from fedsieve.measures.scaling import equal_width_bins
from fedsieve.rivals.d2f import D2F
from fedsieve.rivals.fimf import FIMF

TESTS = Path(__file__).parents[2] / "tests"
N_ROWS, N_FEATURES, N_LABELS = 120, 18, 6
TARGET = 20


def rows() -> list[dict]:
    """One row per method and peer: seconds of the peer, ours, their ratio."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    from reference.rivals import d2f_loops, fimf_loops

    X, Y = _table()
    return [
        _row(D2F(), "loops", d2f_loops.order, X, Y),
        _row(D2F(), "loops that keep sums", partial(_kept_sums, d2f_loops), X, Y),
        _row(FIMF(), "loops", fimf_loops.order, X, Y),
    ]


def _row(method: Any, peer: str, loops: Callable[..., list[int]], X: np.ndarray, Y: np.ndarray) -> dict:
    ours = best_of(lambda: method.fit(X, Y))
    theirs = best_of(lambda: loops(X, Y), 2)
    if method.order_.tolist() != loops(X, Y):
        raise AssertionError(f"{method}: the order differs from that of {peer}, so the times mean nothing.")
    what = f"{type(method).__name__}, Emotions, {N_ROWS} rows, {N_FEATURES} features"
    return {"what": what, "peer": peer, "peer_s": theirs, "ours_s": ours, "ratio": theirs / ours, "target": TARGET}


def _kept_sums(twin: Any, X: np.ndarray, Y: np.ndarray) -> list[int]:
    features, labels = equal_width_bins(X, 2).T.tolist(), Y.T.tolist()
    score = {f: sum(twin.information(column, y) for y in labels) for f, column in enumerate(features)}
    order = []
    while score:
        order.append(max(score, key=lambda f: (round(score[f], 10), -f)))
        del score[order[-1]]
        for f in score:
            score[f] -= sum(twin.interaction(features[f], features[order[-1]], y) for y in labels)
    return order


def _table() -> tuple[Any, np.ndarray]:
    if "FEDSIEVE_DATA" in os.environ:
        from fedsieve import datasets

        data = datasets.load("emotions")
        return data.X[:N_ROWS, : 4 * N_FEATURES : 4], data.Y[:N_ROWS]
    rng = np.random.default_rng(0)
    return rng.random((N_ROWS, N_FEATURES)), (rng.random((N_ROWS, N_LABELS)) < 0.3).astype(np.int64)


if __name__ == "__main__":
    for row in rows():
        print(row)
