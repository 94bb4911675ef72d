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
    """A bound from above on the smallest eigenvalue: the smallest in the space of `STEPS` products with the start."""
    from scipy.linalg.blas import dsymv  # here: few matrices are so wide, and a site's process does without

    found = np.empty((STEPS, len(upper)))
    found[0] = start / np.linalg.norm(start)
    diagonal, beside = np.zeros(STEPS), np.zeros(STEPS - 1)
    for step in range(STEPS):
        product = scale * dsymv(1.0, upper.T, scale * found[step], lower=1)  # reads half of what `@` would
        diagonal[step] = found[step] @ product
        known = found[: step + 1]
        product -= (known @ product) @ known  # all of them: rounding would let found directions back in
        length = float(np.linalg.norm(product))
        if step + 1 == STEPS or length < SPLIT * np.abs(diagonal).max():
            n_found = step + 1
            break
        beside[step], found[step + 1] = length, product / length
    inner = np.diag(diagonal[:n_found]) + np.diag(beside[: n_found - 1], 1) + np.diag(beside[: n_found - 1], -1)
    return float(np.linalg.eigvalsh(inner)[0])
