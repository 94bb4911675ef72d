"""The classifiers that judge selections, by name. Each is loaded when it is built: their names alone load nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Classifier:
    """How to build one; of features that were drawn at random it judges the first `n_draws` draws.

    One that learns slowly judges by the `n_labels` labels that most rows have.
    """

    build: Callable[[], Any]
    n_draws: int | None = None
    n_labels: int | None = None


def _ml_knn() -> Any:
    from fedsieve.learning import MLkNN

    return MLkNN(n_neighbors=10, smoothing=1.0)


def _logistic() -> Any:
    from fedsieve.learning.logistic import LogisticPerLabel

    return LogisticPerLabel()


def _random_forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, min_samples_leaf=2, random_state=0)


def _boosted_trees() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.multiclass import OneVsRestClassifier

    boosted = HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=15, early_stopping=False, random_state=0)
    return OneVsRestClassifier(boosted)


CLASSIFIERS = {
    "ML-kNN": Classifier(_ml_knn),
    "logistic": Classifier(_logistic, n_draws=5),
    "random forest": Classifier(_random_forest, n_draws=3, n_labels=50),
    "boosted trees": Classifier(_boosted_trees, n_draws=2, n_labels=10),  # a forest of its own for each label
}
USUAL = ("ML-kNN", "logistic")
"""Those that judge where nobody names one."""
