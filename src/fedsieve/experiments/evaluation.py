"""How good chosen features are: a classifier learns from them and is measured on rows that it has not seen."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_choice
from fedsieve.learning import MLkNN, metrics

MEASURES = {
    "average_precision": metrics.average_precision,
    "coverage": metrics.coverage,
    "ranking_loss": metrics.ranking_loss,
}
HIGHER_IS_BETTER = {"average_precision": True, "coverage": False, "ranking_loss": False}
SCALINGS = ("scaled", "raw")
TEACHERS = ("all", "server")
SPARSE = 0.1  # share of entries other than 0 below which a classifier that can is given a sparse table


@dataclass(frozen=True)
class Classifier:
    """How to build one; of features that were drawn at random it judges the first `n_draws` draws."""

    build: Callable[[], Any]
    n_draws: int | None = None
    takes_sparse: bool = False


def _ml_knn() -> MLkNN:
    return MLkNN(n_neighbors=10, smoothing=1.0)


def _logistic() -> Any:
    # Columns are divided by their deviations but not centered (the intercept makes up for it), so they stay sparse.
    scaler = StandardScaler(with_mean=False)
    return make_pipeline(scaler, OneVsRestClassifier(LogisticRegression(solver="newton-cholesky")))


CLASSIFIERS = {
    "ML-kNN": Classifier(_ml_knn),
    "logistic": Classifier(_logistic, n_draws=5, takes_sparse=True),  # slow with hundreds of labels
}


@dataclass(frozen=True)
class Evaluation:
    """One way to judge a selection: the classifier, its input ("scaled" or "raw"), and whose labels it learns from.

    >>> Evaluation("logistic", "raw").name
    'logistic, raw, all'
    """

    classifier: str = "ML-kNN"
    scaling: str = "scaled"
    classifier_labels: str = "all"  # of all training rows, or of the "server" only

    def __post_init__(self) -> None:
        """Check the choices."""
        for name, allowed in (
            ("classifier", tuple(CLASSIFIERS)),
            ("scaling", SCALINGS),
            ("classifier_labels", TEACHERS),
        ):
            check_choice("experiment", name, getattr(self, name), allowed)

    @property
    def name(self) -> str:
        """What its metrics are filed under in a record."""
        return f"{self.classifier}, {self.scaling}, {self.classifier_labels}"


def scale(X: Float, train: Int) -> Float:
    """The columns mapped to [0, 1] by the range of their training rows."""
    low, width = X[train].min(axis=0), np.ptp(X[train], axis=0)
    scaled: Float = (X - low) / np.where(width, width, 1.0)
    return scaled


def measure(
    table: Float, Y: Int, taught: Int, test: Int, subsets: Sequence[Int], classifier: Classifier
) -> dict[str, float]:
    """Metrics on the `test` rows after learning from the `taught` rows, averaged over subsets of the columns."""
    light = classifier.takes_sparse and (table != 0).mean() < SPARSE
    given = sparse.csr_array(table) if light else table
    values = []
    for columns in subsets[: classifier.n_draws]:
        chosen = given[:, np.sort(columns)]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Label (not )?.* is present in all training examples")
            scores = classifier.build().fit(chosen[taught], Y[taught]).predict_proba(chosen[test])
        values.append([metric(Y[test], scores) for metric in MEASURES.values()])
    return dict(zip(MEASURES, np.mean(values, axis=0).tolist(), strict=True))
