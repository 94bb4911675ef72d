"""Sieve: its trees against scikit-learn's in one run, and wide tables; as a module, the process that is measured."""

import json
import sys
import time

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier

from benchmarks.row import Row
from benchmarks.speed.timing import best_of, times_as_fast, whole_process
from fedsieve.experiments.runner import peak_megabytes
from fedsieve.kernels import thread_count, tree_importances

WIDTHS = {"10": 5.0, "20000": 120.0}  # features -> seconds


def rows() -> list[Row]:
    """The trees, and whole selections."""
    found = _tree_rows()
    for width, seconds in WIDTHS.items():
        what = f"Sieve, d = {width}, six sites of 500 rows, 0/1, 4 labels"
        found += whole_process(what, seconds, 4000.0, "benchmarks.speed.sieve", width)
    return found


def _tree_rows() -> list[Row]:
    """200 trees on the labeled rows of the shapes of Emotions, Yeast and Corel5k."""
    rng = np.random.default_rng(0)
    found = list[Row]()
    for name, n_rows, n_features, n_labels, density in (
        ("Emotions", 83, 72, 6, None),
        ("Yeast", 338, 103, 14, None),
        ("Corel5k", 700, 499, 374, 0.016),
    ):
        X = rng.random((n_rows, n_features))
        X = X if density is None else (density > X).astype(np.float64)
        Y = (rng.random((n_rows, n_labels)) < 3 / n_labels).astype(np.float64)
        ours = best_of(lambda X=X, Y=Y: tree_importances(X, Y, 200))
        forest = ExtraTreesClassifier(200, min_samples_leaf=2, n_jobs=thread_count(), random_state=0)
        peer = best_of(lambda X=X, Y=Y, forest=forest: forest.fit(X, Y).feature_importances_, 2)
        what = f"200 trees, {name}'s shape, {n_rows} x {n_features}, {n_labels} labels"
        found.append(times_as_fast(what, "scikit-learn's ExtraTreesClassifier", peer, ours))
    return found


def main(width: str) -> None:
    from fedsieve import Sieve
    from fedsieve.kernels import warm_up

    warm_up()
    X = sparse.random(3000, int(width), density=0.02 if int(width) > 100 else 0.5, format="csr", random_state=0)
    X.data[:] = 1.0
    pairs = X[:, :8].toarray()
    Y = np.column_stack([pairs[:, 2 * i] + pairs[:, 2 * i + 1] > 0 for i in range(4)]).astype(np.int64)
    start = time.perf_counter()
    Sieve(min(100, int(width))).fit(
        X[:500], Y[:500], clients=[X[first : first + 500] for first in range(500, 3000, 500)]
    )
    print(json.dumps({"seconds": time.perf_counter() - start, "peak_mb": peak_megabytes()}))


if __name__ == "__main__":
    main(sys.argv[1])
