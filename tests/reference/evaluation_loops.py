"""Cross-validation of a selection in plain loops, honest or leaky, and the corrected interval of a mean difference."""

from collections.abc import Callable, Sequence
from math import inf, sqrt

from scipy import stats

from reference.metrics_loops import average_precision

Rows = list[list[float]]
Choose = Callable[[Rows, Rows], Sequence[int]]
Classify = Callable[[Rows, Rows, Rows], Rows]
"""From training rows, their labels and test rows: a score for each label of each test row."""


def judged(
    X: Rows, Y: Rows, choose: Choose, classify: Classify, folds: Sequence[Sequence[int]], *, leaky: bool = False
) -> list[float]:
    """Average precision per fold, of features that were chosen on the other folds; a leaky one chooses on all rows."""
    values = []
    for fold in folds:
        test = list(fold)
        train = [row for row in range(len(X)) if row not in test]
        looked_at = list(range(len(X))) if leaky else train
        features = sorted(choose([X[row] for row in looked_at], [Y[row] for row in looked_at]))
        low = [min(X[row][p] for row in train) for p in features]
        width = [max(X[row][p] for row in train) - low[i] for i, p in enumerate(features)]
        scaled = [[(X[row][p] - low[i]) / (width[i] or 1.0) for i, p in enumerate(features)] for row in range(len(X))]
        scores = classify([scaled[row] for row in train], [Y[row] for row in train], [scaled[row] for row in test])
        values.append(average_precision([Y[row] for row in test], scores, "paper"))
    return values


def interval(gains: Sequence[float], n_folds: int) -> tuple[float, float]:
    """The 95 % interval of a mean over folds, by Nadeau and Bengio."""
    mean = sum(gains) / len(gains)
    if abs(mean) > 1e-12 and max(gains) - min(gains) < 1e-12:
        return -inf, inf  # nothing is known of how they vary
    variance = sum((gain - mean) ** 2 for gain in gains) / (len(gains) - 1)
    test_share, train_share = 1 / n_folds, (n_folds - 1) / n_folds
    error = sqrt((1 / len(gains) + test_share / train_share) * variance)
    reach = stats.t.ppf(0.975, len(gains) - 1) * error
    return mean - reach, mean + reach
