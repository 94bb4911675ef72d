"""Scores of labels by a model that is numbers: a row's nearest known rows vote (ML-kNN), or weights are added up."""

import numpy as np

from fedsieve.arrays import Float, Int

BLOCK_VALUES = 1 << 22  # distances held at a time: 32 MB


def neighbor_scores(queries: Float, rows: Float, has_label: Int, posterior: Float) -> Float:
    """ML-kNN: per query and label its posterior, given how many of the k nearest rows have the label.

    `has_label` (n_rows, n_labels) is of 0 and 1, `posterior` (n_labels, k + 1). The squared distance adds up in the
    order of the columns; equal distances go to the lowest row.

    >>> rows, has_label = np.array([[0.0], [0.2], [1.0]]), np.array([[1], [1], [0]])
    >>> neighbor_scores(np.array([[0.1], [0.9]]), rows, has_label, np.array([[0.1, 0.5, 0.9]]))
    array([[0.9],
           [0.5]])
    """
    k, scores = posterior.shape[1] - 1, np.empty((len(queries), len(posterior)))
    size = max(1, BLOCK_VALUES // max(1, len(rows)))
    for start in range(0, len(queries), size):
        some = queries[start : start + size]
        distance = np.zeros((len(some), len(rows)))
        for column in range(rows.shape[1]):
            difference = some[:, column, None] - rows[None, :, column]
            distance += difference * difference
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :k]
        counts = has_label[nearest].sum(axis=1)
        scores[start : start + size] = posterior[np.arange(len(posterior)), counts]
    return scores


def logistic_scores(queries: Float, weights: Float, intercept: Float) -> Float:
    """Per query and label 1 / (1 + exp(-(w q + b))), with one row of `weights` per label.

    >>> logistic_scores(np.array([[0.0], [1.0]]), np.array([[1000.0]]), np.array([0.0]))
    array([[0.5],
           [1. ]])
    """
    logits = queries @ weights.T + intercept
    scores: Float = np.where(logits >= 0, 1.0, np.exp(np.minimum(logits, 0))) / (1 + np.exp(-np.abs(logits)))
    return scores
