"""The multi-label Fisher score: how far a feature's class means lie apart, compared with its spread inside the classes.

For label l with the rows P that carry it and the rows N that do not,
F_l(f) = (|P| (m_P - m)² + |N| (m_N - m)²) / (Σ_P (x - m_P)² + Σ_N (x - m_N)² + ε), and F = Σ_l ω_l F_l, where ω_l is
the label's share of the mutual information between all labels, its own entropy included.
"""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.measures.entropies import mutual_information

EPSILON = 1e-9
DECIMALS = 12


def fisher_key(X: Float, Y: Float) -> Float:
    """log(1 + F) of every feature, to compare by: F itself of a feature without spread would swallow all digits.

    X is scaled, Y is 0/1. A label that all rows carry, or none, adds nothing.

    >>> fisher_key(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.0, 1.0]]), np.array([[0.0], [0.0], [1.0], [1.0]]))
    array([0.        , 1.70474809])
    """
    weights = label_weights(Y)
    mean = X.mean(axis=0)
    score: Float = np.zeros(X.shape[1])
    for label, weight in zip(Y.T, weights, strict=True):
        groups = [X[label == 1], X[label != 1]]
        if all(map(len, groups)):
            # In two passes, so that a feature without spread inside the classes has none by rounding either.
            between = np.sum([len(rows) * (rows.mean(axis=0) - mean) ** 2 for rows in groups], axis=0)
            within = np.sum([((rows - rows.mean(axis=0)) ** 2).sum(axis=0) for rows in groups], axis=0)
            score = score + weight * between / (within + EPSILON)
    key: Float = np.log1p(score)
    return np.round(key, DECIMALS)


def label_weights(Y: Float) -> Float:
    """Each label's share of Σ_l Σ_m I(y_l; y_m); equal shares if no label has any information.

    >>> label_weights(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]))
    array([0.4, 0.4, 0.2])
    """
    information = mutual_information(Y, Y).sum(axis=1)
    total = float(information.sum())
    shares: Float = information / total if total > 0 else np.full(Y.shape[1], 1.0 / Y.shape[1])
    return shares
