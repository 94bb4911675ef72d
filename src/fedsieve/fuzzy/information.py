"""Fuzzy complementary entropies of relations (Definitions 3 to 6, Equations 4 to 7); pure functions of matrices.

The fuzzy class of row i under relation R is its row of R; its size is the row's sum; the intersection of two
classes is their element-wise minimum. All functions take (n_samples, n_samples) relations and return a number.
"""

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Float
from fedsieve.errors import DataError
from fedsieve.fuzzy.relation import check_relation


def entropy(R: ArrayLike) -> float:
    """Fuzzy complementary entropy, Equation 4: CE = (1/n) Σ_i (1 - size_i(R) / n).

    >>> entropy([[1, 0.5], [0.5, 1]])
    0.25
    """
    matrix = check_relation("fuzzy.entropy", R)
    return float(np.mean(1 - _class_sizes(matrix) / len(matrix)))


def joint_entropy(R: ArrayLike, T: ArrayLike) -> float:
    """Fuzzy complementary joint entropy, Equation 5: CJE = (1/n) Σ_i (1 - size_i(R ∩ T) / n).

    >>> joint_entropy([[1, 0.5], [0.5, 1]], [[1, 0], [0, 1]])
    0.5
    """
    first, second = _pair("fuzzy.joint_entropy", R, T)
    return float(np.mean(1 - _class_sizes(np.minimum(first, second)) / len(first)))


def conditional_entropy(R: ArrayLike, T: ArrayLike) -> float:
    """Fuzzy complementary entropy of R given T, Equation 6: CCE = (1/n) Σ_i (size_i(T) - size_i(R ∩ T)) / n.

    >>> conditional_entropy([[1, 0], [0, 1]], [[1, 0.5], [0.5, 1]])
    0.25
    >>> conditional_entropy([[1, 0.5], [0.5, 1]], [[1, 0], [0, 1]])
    0.0
    """
    first, second = _pair("fuzzy.conditional_entropy", R, T)
    n_samples = len(first)
    return float(np.mean((_class_sizes(second) - _class_sizes(np.minimum(first, second))) / n_samples))


def mutual_information(R: ArrayLike, T: ArrayLike) -> float:
    """Fuzzy complementary mutual information, Equation 7.

    CMI = (1/n) Σ_i (1 - (size_i(R) + size_i(T) - size_i(R ∩ T)) / n), which is CE(R) + CE(T) - CJE(R, T).

    >>> mutual_information([[1, 0.5], [0.5, 1]], [[1, 0], [0, 1]])
    0.25
    """
    first, second = _pair("fuzzy.mutual_information", R, T)
    union = _class_sizes(first) + _class_sizes(second) - _class_sizes(np.minimum(first, second))
    return float(np.mean(1 - union / len(first)))


def _class_sizes(R: Float) -> Float:
    sizes: Float = R.sum(axis=1)
    return sizes


def _pair(owner: str, R: ArrayLike, T: ArrayLike) -> tuple[Float, Float]:
    first, second = check_relation(owner, R), check_relation(owner, T)
    if first.shape != second.shape:
        raise DataError(f"{owner}: both relations must be on the same rows; got {len(first)} and {len(second)} rows.")
    return first, second
