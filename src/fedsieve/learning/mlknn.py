"""ML-kNN as a scikit-learn classifier: neighbors vote per label, and Bayes' rule weighs the vote.

M.-L. Zhang, Z.-H. Zhou, "ML-KNN: A lazy learning approach to multi-label learning", Pattern Recognition 40(7), 2007.
`neighbors` finds the neighbors, `labels` reads Y; `docs/learning.md` has the definition with its formulas.
"""

import warnings
from math import inf
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import Tags, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fedsieve.arrays import Bool, Float, Int
from fedsieve.checks import check_count, check_number
from fedsieve.errors import DataError, ParameterError, listed
from fedsieve.learning.neighbors import nearest


class MLkNN(ClassifierMixin, BaseEstimator):
    """Multi-label k nearest neighbors, by Zhang and Zhou's definition.

    How many of a row's k nearest training rows carry a label is evidence for that label; how telling each count is
    was learned from the training rows, each with its k nearest *other* rows. Distances are Euclidean, on the features
    as given; equal distances go to the row with the lowest index.

    Parameters
    ----------
    n_neighbors : int, at least 1 and below the number of training rows
    smoothing : float, above 0
        Added to every count, so that what never happened in training is not impossible.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2), the values of Y that mean off and on; for 1-D y the array of classes
    prior_ : ndarray of shape (n_labels,), probability of each label
    posterior_ : ndarray of shape (n_labels, n_neighbors + 1), probability of a label given how many neighbors have it
    rows_, indicators_ : the training rows, and which labels they have

    Notes
    -----
    1-D y becomes one label per class. `predict_proba` then returns (n_samples, n_classes), the posteriors divided by
    their sum, and `predict` the most probable class, the first one if equal. For two classes that is the same as one
    label "is the second class", except at exactly 1/2, where a label is on.

    Examples
    --------
    >>> from fedsieve import MLkNN
    >>> X = [[0.0], [0.1], [0.2], [0.3], [1.0], [1.1], [1.2], [1.3]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]]
    >>> model = MLkNN(n_neighbors=3).fit(X, Y)
    >>> model.predict_proba([[0.05], [1.15]]).round(3)
    array([[0.833, 0.167],
           [0.167, 0.833]])
    >>> model.predict([[0.05], [1.15]])
    array([[1, 0],
           [0, 1]])
    """

    def __init__(self, n_neighbors: int = 10, smoothing: float = 1.0) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn from X (n_samples, n_features), dense or sparse, and Y (n_samples, n_labels) or 1-D."""
        self._check_parameters()
        n_neighbors = int(self.n_neighbors)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        indicators, classes = encode_labels("MLkNN", Y)
        n_samples = X.shape[0]
        if len(indicators) != n_samples:
            raise DataError(f"MLkNN: X has {n_samples} rows and Y {len(indicators)}; they must be the same rows.")
        if n_neighbors >= n_samples:
            raise ParameterError(
                f"MLkNN: n_neighbors must be below the number of training rows, {n_samples}, since a row is not its "
                f"own neighbor; got {n_neighbors}. Fit more rows or ask for fewer neighbors."
            )
        counts = count_labels(indicators, nearest(X, n_neighbors))
        self.prior_, self.posterior_ = posterior_table(indicators, counts, n_neighbors, float(self.smoothing))
        self.rows_, self.indicators_, self.classes_ = X, indicators, classes
        return self

    def predict_proba(self, X: Any) -> Float:
        """Posterior of "label on", (n_samples, n_labels); for 1-D y of each class, (n_samples, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        counts = count_labels(self.indicators_, nearest(self.rows_, self.posterior_.shape[1] - 1, X))
        posteriors: Float = self.posterior_[np.arange(counts.shape[1]), counts]
        return posteriors if self.classes_.ndim == 2 else posteriors / posteriors.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """The labels that are at least as probable as not, as values of `classes_`; 1-D if y was."""
        return decode_labels(self.predict_proba(X), self.classes_)

    def _check_parameters(self) -> None:
        check_count("MLkNN", "n_neighbors", self.n_neighbors)
        check_number("MLkNN", "smoothing", self.smoothing, "a finite number above 0", lambda value: 0 < value < inf)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags


def count_labels(indicators: Bool, neighbors: Int) -> Int:
    """C_il, how many neighbors of row i have label l: (n_rows, n_labels) from (n_rows, n_neighbors) indices."""
    counts = np.zeros((len(neighbors), indicators.shape[1]), dtype=np.int64)
    for column in neighbors.T:
        counts += indicators[column]
    return counts


def posterior_table(indicators: Bool, counts: Int, n_neighbors: int, smoothing: float) -> tuple[Float, Float]:
    """Prior of each label (n_labels,), and its posterior given a count of 0..k neighbors, (n_labels, k + 1).

    With s the smoothing, n1 of n rows having the label, and c1[j] of those having j neighbors with it::

        prior1 = (s + n1) / (2s + n)        P1[j] = (s + c1[j]) / (s (k + 1) + n1)        (likewise 0: without it)
        posterior[j] = prior1 P1[j] / (prior1 P1[j] + prior0 P0[j])

    Common denominators are left out: for s = 1 the rest is whole numbers, so that evens are exactly 1/2.
    """
    n_samples, n_labels = indicators.shape
    shape = (n_labels, n_neighbors + 1)
    code = np.arange(n_labels) * shape[1] + counts
    with_label = np.bincount(code[indicators], minlength=n_labels * shape[1]).reshape(shape)
    without = np.bincount(code[~indicators], minlength=n_labels * shape[1]).reshape(shape)
    n_with, n_without = (table.sum(axis=1, keepdims=True) for table in (with_label, without))
    spread = smoothing * (n_neighbors + 1)
    on = (smoothing + n_with) * (smoothing + with_label) * (spread + n_without)
    off = (smoothing + n_without) * (smoothing + without) * (spread + n_with)
    prior: Float = (smoothing + n_with[:, 0]) / (2 * smoothing + n_samples)
    posterior: Float = on / (on + off)
    return prior, posterior


Classes = Any
"""1-D y: the sorted classes. 2-D Y: (n_labels, 2), the values of every column that mean off and on."""

WAY_OUT = "Give each label as 0 or 1; rows without labels are to be left out."


def encode_labels(owner: str, Y: Any) -> tuple[Bool, Classes]:
    """Indicators (n_samples, n_labels) of "label on", and the classes that `decode_labels` turns them back into.

    1-D y: one label per class. 2-D Y: one label per column; of its two values the larger is "on". A constant column
    takes the pair from the other columns, or 0 and 1.

    >>> encode_labels("MLkNN", ["b", "a"])
    (array([[False,  True],
           [ True, False]]), array(['a', 'b'], dtype='<U1'))
    >>> encode_labels("MLkNN", [[0, 1], [0, 0]])
    (array([[False,  True],
           [False, False]]), array([[0, 1],
           [0, 1]]))
    """
    if Y is None:
        raise DataError(f"{owner}: requires y to be passed, but the target y is None.")
    Y = Y.toarray() if sparse.issparse(Y) else check_array(Y, ensure_2d=False, dtype=None, input_name="y")
    if Y.ndim == 2 and Y.shape[1] == 1 and len(np.unique(Y)) > 2:
        warnings.warn(
            f"{owner}: a single column with more than two values is read as 1-D y; pass Y.ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        Y = Y.ravel()
    if Y.ndim == 1:
        check_classification_targets(Y)
        classes = np.unique(Y)
        return classes == Y[:, None], classes
    pairs = _pairs(owner, Y)
    return pairs[:, 1] == Y, pairs


def decode_labels(posteriors: Float, classes: Classes) -> Any:
    """Predictions: a label is on from 1/2; of 1-D classes the most probable one wins, the first one if equal."""
    if classes.ndim == 2:
        off, on = classes.T
        return np.where(posteriors >= 0.5, on, off)
    return classes[np.argmax(posteriors, axis=1)]


def _pairs(owner: str, Y: Any) -> Classes:
    """The values that mean off and on, (n_labels, 2)."""
    binary = np.array([0, 1]).astype(Y.dtype)
    if Y.dtype.kind in "biu" and Y.size and Y.min() >= 0 and Y.max() <= 1:
        return np.tile(binary, (Y.shape[1], 1))
    check_classification_targets(Y)
    anywhere = np.unique(Y)
    pairs = []
    for column, found in enumerate(map(np.unique, Y.T)):
        pair = found
        if len(found) == 1 and len(anywhere) == 2:
            pair = anywhere
        elif len(found) == 1 and Y.dtype.kind in "iuf" and found[0] in binary:
            pair = binary
        if len(pair) != 2:
            values = listed([str(value) for value in found])
            raise DataError(f"{owner}: column {column} of Y must have two values, off and on; got {values}. {WAY_OUT}")
        pairs.append(pair)
    return np.stack(pairs)
