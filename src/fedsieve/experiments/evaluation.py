"""How good chosen features are: a classifier learns from them and is measured on rows that it has not seen."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_choice
from fedsieve.errors import ParameterError, shown
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
        scores = label_scores(learned(classifier, chosen[taught], Y[taught]), chosen[test])
        values.append([metric(Y[test], scores) for metric in MEASURES.values()])
    return dict(zip(MEASURES, np.mean(values, axis=0).tolist(), strict=True))


def learned(classifier: Classifier, X: Any, Y: Int) -> Any:
    """A model of these rows; a label that is the same in all of them is no reason to warn."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Label (not )?.* is present in all training examples")
        return classifier.build().fit(X, Y)


def label_scores(model: Any, X: Any) -> Float:
    """How sure a model is of each label, (n_samples, n_labels), in whichever of its ways a classifier tells it."""
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    told = model.predict_proba(X)
    if not isinstance(told, list):
        return np.asarray(told, dtype=np.float64)
    of_label = zip(told, model.classes_, strict=True)  # a table per label, with a column for each value it had
    return np.column_stack([table @ (np.asarray(values) == 1) for table, values in of_label]).astype(np.float64)


def any_classifier(owner: str, estimator: Any) -> Classifier:
    """A classifier of scikit-learn's kind; one that knows no several labels is asked about each by itself."""
    if not hasattr(estimator, "fit") or not is_classifier(estimator):
        raise ParameterError(f"{owner}: a classifier must be one of scikit-learn's kind; got {shown(estimator)}.")
    if not any(hasattr(estimator, way) for way in ("predict_proba", "decision_function")):
        raise ParameterError(
            f"{owner}: {type(estimator).__name__} tells no scores (predict_proba or decision_function), so that it "
            "cannot rank labels. Choose another classifier, or one of its options."
        )
    tags = get_tags(estimator)
    several = tags.target_tags.multi_output or bool(tags.classifier_tags and tags.classifier_tags.multi_label)
    return Classifier(lambda: clone(estimator) if several else OneVsRestClassifier(clone(estimator)))
