"""Sieve's own time: `fit` on tables of the shapes of Yeast, Enron and Corel5k, and with many labeled rows.

Before and after in one run, in turns, each time in a process of its own, on one thread. The default blend has changed
since then; with the blend of then the results must be the same.
"""

import inspect
import json
import sys
import time
from typing import NamedTuple

import numpy as np

from benchmarks.row import Row
from benchmarks.scaling.before import measured, package_before

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "FEDSIEVE_THREADS": "1"}
N_SITES = 10


class Shape(NamedTuple):
    n_rows: int
    n_features: int
    n_labels: int
    cardinality: float
    two_valued: bool
    n_labeled: int
    target: float | None = None  # times as fast
    n_turns: int = 2  # of which the fastest counts


SHAPES = {
    "Yeast's shape": Shape(2417, 103, 14, 4.24, False, 483),
    "Enron's shape": Shape(1702, 1001, 53, 3.38, True, 340, 5.0),
    "Corel5k's shape": Shape(5000, 499, 374, 3.52, True, 1000, 12.0),
    "20,000 labeled rows": Shape(22_000, 100, 10, 2.0, False, 20_000, 8.0, n_turns=1),
}


def rows() -> list[Row]:
    found = []
    with package_before() as before:
        for name, shape in SHAPES.items():
            old, new = [], []
            for turn in range(shape.n_turns):
                asked = ("benchmarks.scaling.sieve_time", name, *["again"] * (turn > 0))
                old.append(measured(*asked, source=before, **ONE_THREAD))
                new.append(measured(*asked, **ONE_THREAD))
            seconds_before, seconds_now = (min(one["seconds"] for one in turns) for turns in (old, new))
            found += [
                Row(f"{name}: fit", seconds_now, "CPU s", "less"),
                Row(f"{name}: fit before", seconds_before, "CPU s", "less"),
                Row(f"{name}: times as fast", seconds_before / seconds_now, "x", "more", shape.target),
                *_likeness(name, old[0], new[0]),
            ]
    return found


def _likeness(name: str, old: dict[str, list[float]], new: dict[str, list[float]]) -> list[Row]:
    """With the blend of then: of many labeled rows trees see others now, so that orders differ a little."""
    chosen = set(old["selected"])
    furthest = max(abs(a - b) for a, b in zip(old["scores"], new["scores"], strict=True))
    same = old["order"] == new["order"] and old["stability"] == new["stability"]
    return [
        Row(f"{name}: order and stability are the same", float(same), "", "more"),
        Row(f"{name}: selected then and now", len(chosen & set(new["selected"])) / len(chosen), "", "more"),
        Row(f"{name}: scores differ at most by", furthest, "", "less"),
    ]


def tables(shape: Shape) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Labeled rows, their labels, and the rows of the sites."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape.n_rows, shape.n_features))
    if shape.two_valued:
        X = (X > 1.4).astype(np.float64)  # 8 % are 1
    noisy = X @ rng.normal(size=(shape.n_features, shape.n_labels)) / np.sqrt(shape.n_features)
    noisy += rng.normal(size=noisy.shape) / 2 + rng.normal(size=shape.n_labels)
    Y = (noisy > np.quantile(noisy, 1 - shape.cardinality / shape.n_labels)).astype(np.float64)
    s = shape.n_labeled
    return X[:s], Y[:s], np.array_split(X[s:], N_SITES)


def seconds(name: str, *, again: bool) -> dict[str, object]:
    """How long `fit` takes, and the first time also what the blend of the earlier package finds."""
    from fedsieve import Sieve, kernels

    kernels.warm_up()
    X, Y, clients = tables(SHAPES[name])
    start = time.process_time()
    selector = Sieve().fit(X, Y, clients=clients)
    took = time.process_time() - start
    if again:
        return {"seconds": took}
    if "blend" in inspect.signature(Sieve).parameters:
        selector = Sieve(blend="views").fit(X, Y, clients=clients)
    found = {name: getattr(selector, f"{name}_").tolist() for name in ("order", "scores", "stability")}
    return {"seconds": took, "selected": np.flatnonzero(selector.support_).tolist(), **found}


if __name__ == "__main__":
    print(json.dumps(seconds(sys.argv[1], again="again" in sys.argv)))
