"""Forward selection by the test labels themselves, step by step.

It is greedy, so that a better set may exist; with `n_tried` a step looks at that many features only, drawn anew.
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.published_search.judging import label_scores, metrics_of
from benchmarks.published_search.setups import Case
from fedsieve.learning.metrics import average_precision


def next_step(case: Case, chosen: Sequence[int], n_tried: int | None = None) -> tuple[int, dict[str, float]]:
    """The feature that, with those chosen before, gives the test rows the best average precision; all metrics."""
    train, test = case.rows.train, case.rows.test
    tried = np.setdiff1d(np.arange(case.table.shape[1]), chosen)
    if n_tried is not None and n_tried < len(tried):
        rng = np.random.default_rng([case.seed, 4, len(chosen)])
        tried = np.sort(rng.choice(tried, n_tried, replace=False))
    scores = {int(one): label_scores(case.table[:, [*chosen, one]], case.Y, train, test) for one in tried}
    best = max(scores, key=lambda one: average_precision(case.Y[test], scores[one]))
    return best, metrics_of(case.Y[test], scores[best])
