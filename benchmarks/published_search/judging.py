"""ML-kNN where rows are learned from and judged at once: is a row its own neighbor, or judged by the others only?"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.experiments.evaluation import MEASURES
from fedsieve.learning import nearest
from fedsieve.learning.mlknn import count_labels, posterior_table

K, SMOOTHING = 10, 1.0  # the paper's


class Own(NamedTuple):
    """When a row that is among the rows learned from counts as its own neighbor; ML-kNN itself does so when judging."""

    learning: bool = False
    judging: bool = True


USUAL, OTHERS, ALWAYS = Own(), Own(judging=False), Own(learning=True)


def label_scores(table: Float, Y: Int, taught: Int, judged: Int, own: Own = USUAL, k: int = K) -> Float:
    """The posteriors of all labels for the `judged` rows, learned from the `taught` ones; both are row indices."""
    (scores,) = scores_by_k(table, Y, taught, judged, (k,), own)
    return scores


def scores_by_k(
    table: Float, Y: Int, taught: Int, judged: Int, numbers: Sequence[int], own: Own = USUAL
) -> Iterator[Float]:
    """The same for several k, for which neighbors are looked for once: they come nearest first."""
    rows, on, most = table[taught], Y[taught] == 1, max(numbers)
    learned = nearest(rows, most, rows if own.learning else None)
    found = nearest(rows, most, table[judged]) if own.judging else _others(rows, most, table[judged], taught, judged)
    for k in numbers:
        _, posterior = posterior_table(on, count_labels(on, learned[:, :k]), k, SMOOTHING)
        yield posterior[np.arange(Y.shape[1]), count_labels(on, found[:, :k])]


def _others(rows: Float, k: int, asked: Float, taught: Int, judged: Int) -> Int:
    """The k nearest of the taught rows that are not the judged row itself."""
    found = nearest(rows, k + 1, asked)
    itself = taught[found] == judged[:, None]
    itself[~itself.any(axis=1), -1] = True
    return found[~itself].reshape(len(judged), k)


def metrics_of(Y: Int, scores: Float) -> dict[str, float]:
    """Average precision, coverage and ranking loss."""
    return {name: float(metric(Y, scores)) for name, metric in MEASURES.items()}


def mean_of(several: Sequence[dict[str, float]]) -> dict[str, float]:
    """Each metric's mean."""
    return {name: float(np.mean([one[name] for one in several])) for name in MEASURES}
