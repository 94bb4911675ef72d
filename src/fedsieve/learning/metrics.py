"""Multi-label metrics with named conventions: of label rankings (scores), and of label sets (0/1 predictions).

Y is (n_samples, n_labels) of 0/1, dense or sparse; scores have the same shape, larger meaning more likely. Metrics of
rankings take `convention`. "paper" is that of the original MATLAB code of ML-kNN: labels are ranked 1, 2, ... by
descending score, of equal scores the higher label index comes first; rows with no or with all labels cannot be ranked
wrongly and are left out (but not by `coverage`). "sklearn" equals scikit-learn's functions: equal scores share the
worst rank, no row is left out. `docs/learning.md` shows the differences.
"""

from typing import Any

import numpy as np
from scipy import sparse

from fedsieve.arrays import Bool, Float
from fedsieve.checks import check_choice
from fedsieve.errors import DataError
from fedsieve.measures.label_ranking import in_order, row_ranking_losses

CONVENTIONS = ("paper", "sklearn")


def average_precision(Y: Any, scores: Any, convention: str = "paper") -> float:
    """Mean over rows of (1/|y|) Σ_{l in y} |{m in y: rank(m) <= rank(l)}| / rank(l). Larger is better.

    >>> average_precision([[1, 0, 1]], [[0.3, 0.2, 0.1]])  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    relevant, values = _ranking("average_precision", Y, scores, convention)
    if convention == "paper":
        relevant, values = _rankable("average_precision", relevant, values)
    hits, last = in_order(relevant, values, "stable" if convention == "paper" else "quicksort")
    so_far = np.cumsum(hits, axis=1)
    rank = np.arange(1, hits.shape[1] + 1)
    if convention == "sklearn":
        so_far, rank = np.take_along_axis(so_far, last, axis=1), last + 1
    precision = so_far / rank
    n_relevant = so_far[:, -1]
    of_row = np.where(hits, precision, 0.0).sum(axis=1) / np.maximum(n_relevant, 1)
    return float(np.where(n_relevant == 0, 1.0, of_row).mean())


def coverage(Y: Any, scores: Any, convention: str = "paper") -> float:
    """Mean over rows of max_{l in y} rank(l), minus one; a row without labels counts 0 in the mean. Smaller is better.

    For "sklearn" this is `coverage_error` minus one.

    >>> coverage([[1, 0, 1]], [[0.3, 0.2, 0.1]])
    2.0
    """
    relevant, values = _ranking("coverage", Y, scores, convention)
    lowest = np.where(relevant, values, np.inf).min(axis=1, keepdims=True)
    depth = (values >= lowest).sum(axis=1)
    if convention == "paper":
        # Equal scores before the first relevant label rank behind it.
        first = np.argmax(relevant & (values == lowest), axis=1)
        depth -= ((values == lowest) & (np.arange(values.shape[1]) < first[:, None])).sum(axis=1)
    return float(depth.mean() - 1)


def ranking_loss(Y: Any, scores: Any, convention: str = "paper") -> float:
    """Mean over rows of the share of pairs (a in y, b not in y) with score(a) <= score(b). Smaller is better.

    Equal scores are wrong in both conventions; "sklearn" counts rows with no or all labels as 0 in the mean.

    >>> ranking_loss([[1, 0, 1]], [[0.3, 0.2, 0.1]])
    0.5
    """
    relevant, values = _ranking("ranking_loss", Y, scores, convention)
    if convention == "paper":
        relevant, values = _rankable("ranking_loss", relevant, values)
    return float(row_ranking_losses(relevant, values).mean())


def one_error(Y: Any, scores: Any) -> float:
    """Share of rows whose first-ranked label is wrong, ranks and rows as in "paper". Smaller is better.

    >>> one_error([[1, 0, 1], [0, 1, 0]], [[0.3, 0.2, 0.1], [0.5, 0.5, 0.5]])
    0.5
    """
    relevant, values = _rankable("one_error", *_ranking("one_error", Y, scores, "paper"))
    first = values.shape[1] - 1 - np.argmax(values[:, ::-1], axis=1)
    return float(1 - relevant[np.arange(len(relevant)), first].mean())


def hamming_loss(Y: Any, predictions: Any) -> float:
    """Share of entries of the 0/1 predictions that differ from Y. Smaller is better.

    >>> hamming_loss([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.25
    """
    truth, guess = _label_sets("hamming_loss", Y, predictions)
    return float((truth != guess).mean())


def micro_f1(Y: Any, predictions: Any) -> float:
    """F1 = 2 TP / (2 TP + FP + FN) of all entries together; 0 if there is nothing to find and nothing found.

    >>> micro_f1([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.8
    """
    truth, guess = _label_sets("micro_f1", Y, predictions)
    return float(_f1((truth & guess).sum(), truth.sum(), guess.sum()))


def macro_f1(Y: Any, predictions: Any) -> float:
    """Mean of the labels' F1; a label that is neither there nor predicted has 0, as in scikit-learn.

    >>> macro_f1([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.8333333333333333
    """
    truth, guess = _label_sets("macro_f1", Y, predictions)
    return float(_f1((truth & guess).sum(axis=0), truth.sum(axis=0), guess.sum(axis=0)).mean())


def _f1(both: Any, n_truth: Any, n_guess: Any) -> Any:
    return 2 * both / np.maximum(n_truth + n_guess, 1)


def _rankable(owner: str, relevant: Bool, values: Float) -> tuple[Bool, Float]:
    """The rows with some but not all labels."""
    n_relevant = relevant.sum(axis=1)
    rows = (n_relevant > 0) & (n_relevant < relevant.shape[1])
    if not rows.any():
        raise DataError(
            f"metrics.{owner}: every row of Y has no label or all of them, so that no ranking can be wrong; the metric "
            "needs a row with some but not all labels."
        )
    return relevant[rows], values[rows]


def _ranking(owner: str, Y: Any, scores: Any, convention: str) -> tuple[Bool, Float]:
    check_choice(f"metrics.{owner}", "convention", convention, CONVENTIONS)
    relevant = _indicators(owner, "Y", Y)
    values = np.asarray(scores.toarray() if sparse.issparse(scores) else scores, dtype=np.float64)
    _same_shape(owner, relevant.shape, "scores", values.shape)
    if not np.isfinite(values).all():
        raise DataError(f"metrics.{owner}: scores must be finite numbers; got {values[~np.isfinite(values)][0]}.")
    return relevant, values


def _label_sets(owner: str, Y: Any, predictions: Any) -> tuple[Bool, Bool]:
    truth, guess = _indicators(owner, "Y", Y), _indicators(owner, "predictions", predictions)
    _same_shape(owner, truth.shape, "predictions", guess.shape)
    return truth, guess


def _indicators(owner: str, name: str, table: Any) -> Bool:
    array = np.asarray(table.toarray() if sparse.issparse(table) else table)
    if array.ndim != 2 or array.size == 0:
        raise DataError(
            f"metrics.{owner}: {name} must have shape (n_samples, n_labels), not empty; got {array.shape}. "
            "For 1-D classes use scikit-learn's metrics."
        )
    on: Bool = array == 1
    odd = ~(on | (array == 0))
    if odd.any():
        raise DataError(f"metrics.{owner}: {name} must be 0 or 1; got {array[odd][0]}. Encode the labels first.")
    return on


def _same_shape(owner: str, expected: tuple[int, ...], name: str, found: tuple[int, ...]) -> None:
    if expected != found:
        raise DataError(f"metrics.{owner}: Y has shape {expected} and {name} {found}; they must be the same.")
