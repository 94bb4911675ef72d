"""What is learned from the selected features, by two unlike classifiers, both taught with all training labels."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fedsieve import MLkNN
from fedsieve.experiments.evaluation import MEASURES, Rows

METRICS = tuple(MEASURES)
SPARSE = 0.1  # share of entries other than 0 below which a table is kept sparse
N_LOGISTIC_DRAWS = 5  # of random features; a logistic regression takes long with hundreds of labels


def measured(X: np.ndarray, Y: np.ndarray, rows: Rows, orders: list[np.ndarray], k: int) -> dict[str, list[float]]:
    """Per classifier the metrics on the test rows, in the order of METRICS; means over the orders."""
    low, width = X[rows.train].min(axis=0), np.ptp(X[rows.train], axis=0)
    table = (X - low) / np.where(width, width, 1.0)
    light = sparse.csr_array(table) if (table != 0).mean() < SPARSE else table
    kept = [np.sort(order[:k]) for order in orders]
    return {
        "ML-kNN": _means([_metrics(_mlknn(), table[:, chosen], Y, rows) for chosen in kept]),
        "logistic": _means([_metrics(_logistic(), light[:, chosen], Y, rows) for chosen in kept[:N_LOGISTIC_DRAWS]]),
    }


def _mlknn() -> MLkNN:
    return MLkNN(n_neighbors=10, smoothing=1.0)


def _logistic() -> OneVsRestClassifier:
    # Columns are divided by their deviations, not centered, which the intercept makes up for: sparse ones stay sparse.
    scaler = StandardScaler(with_mean=False)
    return make_pipeline(scaler, OneVsRestClassifier(LogisticRegression(solver="newton-cholesky")))


def _metrics(model, table: np.ndarray | sparse.csr_array, Y: np.ndarray, rows: Rows) -> list[float]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Label .* is present in all training examples")
        warnings.filterwarnings("ignore", message="Label not .* is present in all training examples")
        scores = model.fit(table[rows.train], Y[rows.train]).predict_proba(table[rows.test])
    return [measure(Y[rows.test], scores) for measure in MEASURES.values()]


def _means(values: list[list[float]]) -> list[float]:
    return np.mean(values, axis=0).tolist()
