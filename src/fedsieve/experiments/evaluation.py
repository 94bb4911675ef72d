"""How good chosen features are: a classifier learns from them and is measured on rows that it has not seen."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import get_tags

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_choice
from fedsieve.errors import ParameterError, shown
from fedsieve.experiments.classifiers import CLASSIFIERS, Classifier
from fedsieve.learning import metrics
from fedsieve.ordering import ranked

MEASURES = {
    "average_precision": metrics.average_precision,
    "coverage": metrics.coverage,
    "ranking_loss": metrics.ranking_loss,
}
HIGHER_IS_BETTER = {"average_precision": True, "coverage": False, "ranking_loss": False}
SCALINGS = ("scaled", "raw")
TEACHERS = ("all", "server")


@dataclass(frozen=True)
class Evaluation:
    """One way to judge a selection: the classifier, its input ("scaled" or "raw"), and whose labels it learns from.

    Of the selected features it sees the best `share`.

    >>> Evaluation("logistic", "raw").name, Evaluation(share=0.5).name
    ('logistic, raw, all', 'ML-kNN, scaled, all, best 0.5')
    """

    classifier: str = "ML-kNN"
    scaling: str = "scaled"
    classifier_labels: str = "all"  # of all training rows, or of the "server" only
    share: float = 1.0

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
        some = "" if self.share == 1 else f", best {self.share:g}"
        return f"{self.classifier}, {self.scaling}, {self.classifier_labels}{some}"

    def seen(self, columns: Int, n_features: int) -> Int:
        """The best of the columns of a selection; all features have no order and are not cut."""
        return columns if len(columns) == n_features else columns[: max(1, round(self.share * len(columns)))]


def scale(X: Float, train: Int) -> Float:
    """The columns mapped to [0, 1] by the range of their training rows."""
    low, width = X[train].min(axis=0), np.ptp(X[train], axis=0)
    scaled: Float = (X - low) / np.where(width, width, 1.0)
    return scaled


def measure(
    table: Float, Y: Int, taught: Int, test: Int, subsets: Sequence[Int], classifier: Classifier
) -> dict[str, float]:
    """Metrics on the `test` rows after learning from the `taught` rows, averaged over subsets of the columns."""
    Y = Y[:, _most_frequent(Y[taught], classifier.n_labels)]
    values = []
    for columns in subsets[: classifier.n_draws]:
        chosen = table[:, np.sort(columns)]
        scores = label_scores(learned(classifier, chosen[taught], Y[taught]), chosen[test])
        values.append([metric(Y[test], scores) for metric in MEASURES.values()])
    return dict(zip(MEASURES, np.mean(values, axis=0).tolist(), strict=True))


def _most_frequent(Y: Int, n_labels: int | None) -> Int:
    """Which labels most rows have, in order of their places; of equally frequent ones the first."""
    return np.sort(ranked(Y.sum(axis=0), decimals=0)[:n_labels])


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
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not is_classifier(estimator):
        raise ParameterError(f"{owner}: a classifier must be one of scikit-learn's kind; got {shown(estimator)}.")
    if not any(hasattr(estimator, way) for way in ("predict_proba", "decision_function")):
        raise ParameterError(
            f"{owner}: {type(estimator).__name__} tells no scores (predict_proba or decision_function), so that it "
            "cannot rank labels. Choose another classifier, or one of its options."
        )
    tags = get_tags(estimator)
    several = tags.target_tags.multi_output or bool(tags.classifier_tags and tags.classifier_tags.multi_label)
    return Classifier(lambda: clone(estimator) if several else OneVsRestClassifier(clone(estimator)))
