"""How good scores are, from counts alone: per label how many rows with and without it have a score in each bin.

How many rows have a label is exact. What depends on the scores is known up to their bins: rows in one bin count as if
their scores were equal.
"""

from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int


def average_precision(without: Int, having: Int) -> float:
    """The area under precision and recall, of rows that share bins as if tied: Σ (R_b - R_b+1) P_b.

    >>> average_precision(np.array([4, 0]), np.array([0, 4])), average_precision(np.array([2, 2]), np.array([2, 2]))
    (1.0, 0.5)
    """
    hits, found = (np.cumsum(counts[::-1]) for counts in (having, having + without))
    return float((having[::-1] * hits / np.maximum(found, 1)).sum() / max(int(having.sum()), 1))


def area_under_roc(without: Int, having: Int) -> float:
    """The share of pairs of a row with the label and one without in which the former's bin is higher; equal: one half.

    >>> area_under_roc(np.array([4, 0]), np.array([0, 4])), area_under_roc(np.array([2, 2]), np.array([2, 2]))
    (1.0, 0.5)
    """
    below = np.cumsum(without) - without
    pairs = int(having.sum()) * int(without.sum())
    return float((having * (below + without / 2)).sum() / max(pairs, 1))


def calibration_error(without: Int, having: Int) -> float:
    """How far the share of rows that have the label lies from the middle of their bin, over all rows.

    >>> calibration_error(np.array([3, 1]), np.array([1, 3]))
    0.0
    """
    n = having + without
    middle = (np.arange(len(n)) + 0.5) / len(n)
    share = having / np.maximum(n, 1)
    return float((n * np.abs(share - middle)).sum() / max(int(n.sum()), 1))


def between(counts: Int) -> tuple[float, float] | None:
    """Between which values the mean of values in [0, 1] lies, from how many lie in each of equal bins.

    >>> between(np.array([0, 3, 1, 0]))
    (0.3125, 0.5625)
    """
    n = int(counts.sum())
    if not n:
        return None
    low = float((counts * np.arange(len(counts))).sum() / len(counts) / n)
    return low, low + 1 / len(counts)


def label_metrics(counts: Int, names: tuple[str, ...]) -> dict[str, Any]:
    """Per label, and over all labels that are told with and without rows; counts are (n_labels, 2, n_bins)."""
    per_label = {}
    for name, (without, having) in zip(names, counts, strict=True):
        n_with, n_without = int(having.sum()), int(without.sum())
        told = bool(n_with and n_without)
        per_label[name] = {
            "n_with": n_with,
            "n_without": n_without,
            "average_precision": average_precision(without, having) if told else None,
            "area_under_roc": area_under_roc(without, having) if told else None,
            "calibration_error": calibration_error(without, having) if told else None,
        }
    kept = [one for one in per_label.values() if one["average_precision"] is not None]
    pooled: Float = counts.sum(axis=0)
    return {
        "labels": per_label,
        "n_labels_told": len(kept),
        "macro": {
            key: float(np.mean([one[key] for one in kept])) if kept else None
            for key in ("average_precision", "area_under_roc", "calibration_error")
        },
        "micro_average_precision": average_precision(*pooled) if kept else None,
        "calibration": [
            {"low": place / len(pooled[0]), "without": int(without), "with": int(having)}
            for place, (without, having) in enumerate(pooled.T.tolist())
        ],
    }
