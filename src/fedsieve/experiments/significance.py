"""Whether methods differ over datasets: Friedman's test, Nemenyi's pairwise test, Wilcoxon's against the best."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from fedsieve.arrays import Float
from fedsieve.errors import extra_needed

HIGHER_IS_BETTER = {"average_precision": True, "coverage": False, "ranking_loss": False}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Ranks and p-values of several methods on several datasets for one metric."""

    titles: tuple[str, ...]
    mean_ranks: Float  # 1 is best
    friedman_p: float
    nemenyi_p: Float  # (n_methods, n_methods)
    wilcoxon_p: dict[str, float]  # against the best by mean rank


def compare(titles: tuple[str, ...], values: Float, metric: str) -> Comparison | None:
    """Compare methods from their means, (n_datasets, n_methods); `None` with fewer than three methods or datasets.

    Friedman's and Nemenyi's tests need three of each to say anything; Wilcoxon's p-value over five datasets is never
    below 1/16, so that it can only ever hint.
    """
    n_datasets, n_methods = values.shape
    if n_datasets < 3 or n_methods < 3:
        return None
    try:
        import scikit_posthocs
    except ImportError:
        raise extra_needed("comparing methods", "scikit-posthocs", "experiments") from None
    ranks = stats.rankdata(-values if HIGHER_IS_BETTER[metric] else values, axis=1)
    mean_ranks = ranks.mean(axis=0)
    best = int(np.argmin(mean_ranks))
    return Comparison(
        titles=titles,
        mean_ranks=mean_ranks,
        friedman_p=float(stats.friedmanchisquare(*values.T).pvalue),
        nemenyi_p=np.asarray(scikit_posthocs.posthoc_nemenyi_friedman(values)),
        wilcoxon_p={
            title: float(stats.wilcoxon(values[:, m], values[:, best]).pvalue)
            for m, title in enumerate(titles)
            if m != best and np.any(values[:, m] != values[:, best])
        },
    )
