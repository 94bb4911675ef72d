"""Whether a given row is among a site's rows, from the site's covariances: its own rows lie nearer to them."""

import numpy as np

from benchmarks.privacy.attacks.gram import Gram
from fedsieve.arrays import Float


def nearness(gram: Gram, rows: Float, ridge: float = 1e-3) -> Float:
    """Minus the squared Mahalanobis distance of each row; a site's own rows helped to make the matrix so wide.

    A row x of the site has xᵀG⁻¹x of d / n on average, any other one of d / (n - d): few rows tell them apart.
    """
    n, sums = gram.products[0, 0], gram.products[0, 1:]
    covariance = gram.products[1:, 1:] / n - np.outer(sums, sums) / n**2
    covariance += ridge * np.mean(np.diagonal(covariance)) * np.eye(len(sums))
    deviation = rows - sums / n
    return -np.einsum("ij,ij->i", deviation, np.linalg.solve(covariance, deviation.T).T)


def area_under_curve(of_members: Float, of_others: Float) -> float:
    """How often a member scores above another row; 0.5 is chance.

    >>> area_under_curve(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    above = (of_members[:, None] > of_others).mean() + (of_members[:, None] == of_others).mean() / 2
    return float(above)
