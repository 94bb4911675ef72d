"""ML-kNN against scikit-multilearn and the metrics against scikit-learn; as a module, the Corel5k process measured.

With FEDSIEVE_DATA set the official splits are read, else tables of their shapes are drawn.
"""

import json
import os
import time
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import metrics as peers

from benchmarks.row import Row
from benchmarks.speed.timing import best_of, times_as_fast, whole_process
from fedsieve import MLkNN, metrics
from fedsieve.experiments.runner import peak_megabytes

METRICS = {
    "average_precision": peers.label_ranking_average_precision_score,
    "coverage": peers.coverage_error,
    "ranking_loss": peers.label_ranking_loss,
}
SECONDS, MEGABYTES = 10.0, 1000.0


def rows() -> list[Row]:
    """The classifier, the metrics, and the largest dataset as a whole."""
    whole = whole_process("MLkNN, Corel5k 4500 / 500, 374 labels", SECONDS, MEGABYTES, "benchmarks.speed.learning")
    return [*_classifier_rows(), *_metric_rows(), *whole]


def _classifier_rows() -> list[Row]:
    """Fit and predict on Yeast's official split: 1500 and 917 rows, 103 features, 14 labels."""
    try:
        from skmultilearn.adapt import MLkNN as Peer
    except ImportError:
        print('No row against scikit-multilearn-ng: it is not installed (pip install "fedsieve[bench]").')
        return []
    X, Y, queries, _ = _split("yeast")
    ours = best_of(lambda: MLkNN(10).fit(X, Y).predict(queries))
    peer = best_of(lambda: Peer(k=10).fit(X, Y).predict(queries), 2)
    return [times_as_fast("MLkNN, Yeast 1500 / 917", "scikit-multilearn-ng", peer, ours, 10)]


def _metric_rows() -> list[Row]:
    """500 x 374 scores, by either convention: distinct ones, and with the ties of ML-kNN."""
    rng = np.random.default_rng(0)
    X, Y, queries, truth = _split("corel5k")
    kinds = {"distinct": rng.random(truth.shape), "ML-kNN's": MLkNN(10).fit(X, Y).predict_proba(queries)}
    found = list[Row]()
    for kind, scores in kinds.items():
        for name, peer in METRICS.items():
            peer_seconds = best_of(partial(peer, truth, scores))
            for convention in metrics.CONVENTIONS:
                ours = best_of(partial(getattr(metrics, name), truth, scores, convention))
                what = f"{name} ({convention}), 500 x 374, {kind} scores"
                found.append(times_as_fast(what, "scikit-learn", peer_seconds, ours, 1))
    return found


def _split(name: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Training rows and labels, test rows and labels."""
    if "FEDSIEVE_DATA" in os.environ:
        from fedsieve import datasets

        data = datasets.load(name)
        return data.X[data.train], data.Y[data.train], data.X[data.test], data.Y[data.test]
    rng = np.random.default_rng(0)
    n_train, n_test, n_features, n_labels, density = {
        "yeast": (1500, 917, 103, 14, 0.3),
        "corel5k": (4500, 500, 499, 374, 0.0094),
    }[name]
    n_rows = n_train + n_test
    Y = (rng.random((n_rows, n_labels)) < density).astype(np.int64)
    Y[np.arange(n_rows), rng.integers(0, n_labels, n_rows)] = 1
    X: Any = rng.random((n_rows, n_features))
    if name == "corel5k":
        X = sparse.csr_array((X < 0.0165).astype(np.float64))
    return X[:n_train], Y[:n_train], X[n_train:], Y[n_train:]


def main() -> None:
    X, Y, queries, _ = _split("corel5k")
    MLkNN(2).fit(X[:20], Y[:20]).predict(queries[:2])  # compile, or load what was compiled
    start = time.perf_counter()
    MLkNN(10).fit(X, Y).predict(queries)
    seconds = time.perf_counter() - start
    peak = peak_megabytes()
    print(json.dumps({"seconds": seconds, "peak_mb": peak}))


if __name__ == "__main__":
    main()
