"""Models of labels that can travel: learned here from labeled rows, and made into numbers that a message holds.

ML-kNN is what the paper's server learns; its numbers are the labeled rows themselves. Logistic regression tells its
weights only.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sklearn.linear_model import LogisticRegression

from fedsieve.arrays import Bool, Float
from fedsieve.checks import check_choice
from fedsieve.errors import DataError
from fedsieve.learning.mlknn import MLkNN
from fedsieve.messages.label_model import LOGISTIC, NEIGHBORS, LabelModel
from fedsieve.text import counted

MODELS = {"mlknn": NEIGHBORS, "logistic": LOGISTIC}


def label_model(name: str, X: Float, Y: Float, nominal: Bool, n_neighbors: int = 10) -> LabelModel:
    """A model of the labels Y (n_rows, n_labels) of 0 and 1, from the columns X, of which the `nominal` ones are codes.

    A label that is unknown in a row (NaN) is learned by logistic regression from the other rows.

    Columns are scaled to [0, 1] by the range of these rows, each code becomes a column, and the mean (of codes the most
    frequent) stands in for a missing value.

    >>> X, Y = np.array([[0.0], [1.0], [9.0], [10.0]]), np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> label_model("logistic", X, Y, np.array([False])).scores(np.array([[2.0], [8.0]])).round(1)
    array([[0.4],
           [0.6]])
    """
    check_choice("", "model", name, MODELS)
    if MODELS[name] == NEIGHBORS and (n_unknown := int(np.isnan(Y).any(axis=1).sum())):
        raise DataError(
            f"ML-kNN needs all labels of all labeled rows; {counted(n_unknown, 'row')} of {len(Y)} lack some. "
            "Choose --model logistic, which learns each label from the rows in which it is known."
        )
    plain = _columns(MODELS[name], X, nominal)
    build: dict[str, Callable[..., LabelModel]] = {NEIGHBORS: _neighbors, LOGISTIC: _logistic}
    return build[MODELS[name]](plain, plain.design(X), Y, n_neighbors)


def _columns(kind: str, X: Float, nominal: Bool) -> LabelModel:
    """A model without what it learns: which columns it has, from where on, in which units."""
    fill, owner, code, low, width = [], [], [], [], []
    for place, (values, coded) in enumerate(zip(X.T, nominal, strict=True)):
        present = values[~np.isnan(values)]
        distinct, counts = np.unique(present, return_counts=True)
        if not len(distinct):
            distinct, counts, present = np.zeros(1), np.ones(1, dtype=np.int64), np.zeros(1)
        fill.append(distinct[np.argmax(counts)] if coded else present.mean())
        codes = distinct if coded else [np.nan]
        spread = distinct[-1] - distinct[0]
        owner += [place] * len(codes)
        code += list(codes)
        low += [0.0 if coded else distinct[0]] * len(codes)
        width += [spread if spread > 0 and not coded else 1.0] * len(codes)
    return LabelModel(
        kind,
        np.array(fill, dtype=np.float64),
        np.array(owner, dtype=np.int64),
        np.array(code, dtype=np.float64),
        np.array(low, dtype=np.float64),
        np.array(width, dtype=np.float64),
    )


def _neighbors(plain: LabelModel, columns: Float, Y: Float, n_neighbors: int) -> LabelModel:
    fitted = MLkNN(n_neighbors=n_neighbors).fit(columns, Y.astype(np.int64))
    return replace(plain, rows=columns, has_label=Y.astype(np.int64), posterior=fitted.posterior_)


def _logistic(plain: LabelModel, columns: Float, Y: Float, _n_neighbors: int) -> LabelModel:
    weights, intercept = np.zeros((Y.shape[1], columns.shape[1])), np.zeros(Y.shape[1])
    for place, labels in enumerate(Y.T):
        known = ~np.isnan(labels)
        y = labels[known]
        if len(np.unique(y)) < 2:  # all rows are alike: as likely as a few more would say
            intercept[place] = np.log((y.sum() + 1) / (len(y) - y.sum() + 1))
            continue
        fitted = LogisticRegression(solver="newton-cholesky").fit(columns[known], y)
        weights[place], intercept[place] = fitted.coef_[0], fitted.intercept_[0]
    return replace(plain, weights=weights, intercept=intercept)
