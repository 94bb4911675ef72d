"""Whether a symmetric matrix has a direction of negative spread, at a cost below that of the sums it checks.

A Cholesky factor decides it in n³ / 3 steps, more than a site of few rows took to compute the matrix. Lanczos' method
takes a few products with one vector: it finds the most negative direction first, and only one so little below 0 that it
hides among the smallest positive ones escapes it. Narrow matrices are checked exactly.
"""

import hashlib

import numpy as np

from fedsieve.arrays import Float

EXACT = 320  # columns up to which a factor is cheap
STEPS = 32  # products with a vector
SPLIT = 1e-12  # relative: below, the directions found so far are all that the start lies in


def has_negative_direction(upper: Float, scale: Float, room: float, words: bytes | memoryview) -> bool:
    """Whether some eigenvalue of a matrix is below -`room`, with its rows and columns multiplied by `scale`.

    Only its upper triangle is read. The start follows from `words`, the reply: nobody can choose it.

    >>> has_negative_direction(np.array([[1.0, 4.0], [0.0, 4.0]]), np.array([1.0, 0.5]), 1e-8, b"")
    True
    """
    n = len(upper)
    if n <= EXACT:
        try:
            np.linalg.cholesky((upper * scale * scale[:, None]).T + room * np.eye(n))  # which reads the lower one
        except np.linalg.LinAlgError:
            return True
        return False
    seed = int.from_bytes(hashlib.sha256(words).digest())  # of all hashes the one that processors compute themselves
    return _smallest(upper, scale, np.random.default_rng(seed).normal(size=n)) < -room


def _smallest(upper: Float, scale: Float, start: Float) -> float:
    """The spread along the direction of least spread among those that `STEPS` products with the start lead to.

    It is computed along that direction itself: a tridiagonal matrix tells less and less of the whole one as rounding
    adds up, and an honest site must not be refused for that.
    """
    from scipy.linalg.blas import dsymv  # here: few matrices are so wide, and a site's process does without

    def times(vector: Float) -> Float:
        return np.asarray(scale * dsymv(1.0, upper.T, scale * vector, lower=1))  # reads half of what `@` would

    found = np.empty((STEPS, len(upper)))
    found[0] = start / np.linalg.norm(start)
    diagonal, beside = np.zeros(STEPS), np.zeros(STEPS - 1)
    for step in range(STEPS):
        product = times(found[step])
        diagonal[step] = found[step] @ product
        known = found[: step + 1]
        for _ in range(2):  # all, twice: what little is left after the first time is full of found directions again
            product -= (known @ product) @ known
        length = float(np.linalg.norm(product))
        if step + 1 == STEPS or length <= SPLIT * np.abs(diagonal).max():
            n_found = step + 1
            break
        beside[step], found[step + 1] = length, product / length
    inner = np.diag(diagonal[:n_found]) + np.diag(beside[: n_found - 1], 1) + np.diag(beside[: n_found - 1], -1)
    least = np.linalg.eigh(inner)[1][:, 0] @ found[:n_found]
    return float(least @ times(least) / (least @ least))
