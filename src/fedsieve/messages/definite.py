"""Whether a symmetric matrix has a direction of negative spread, at a cost below that of the sums it checks.

A Cholesky factor decides it in n³ / 3 steps, more than a site of few rows took to compute the matrix. Sums of products
of a few rows have a factor of as few rows, which is found quickly and can be compared with the matrix along directions
drawn at random. Of more rows Lanczos' method takes a few products with one vector: it finds the most negative direction
first, and one that is little below 0, beside many that are little above, may escape it. Narrow matrices are checked
exactly.
"""

import numpy as np

from fedsieve.arrays import Float

EXACT = 320  # columns up to which a factor is cheap
FEW = 16  # while the square of the rows is at most so many times the columns, a factor is cheaper than Lanczos' method
COMPARED = 3  # directions
CERTAIN = 1e-2  # of the room: so near the factor must be along each; a lie is as near once in two million times
STEPS = 32  # products with a vector
SPLIT = 1e-12  # relative: what is left below that is rounding


def has_negative_direction(
    upper: Float, spare: Float, scale: Float, room: float, n_rows: int, rng: np.random.Generator
) -> bool:
    """Whether some eigenvalue of a matrix is below -`room`, with its rows and columns multiplied by `scale`.

    Only its upper triangle is read; rounding may have taken `spare` from its diagonal. It is said to be of the
    deviations of `n_rows` rows from their mean. Directions come from `rng`: whoever sent the matrix must not foresee
    them.

    >>> matrix, scale = np.array([[1.0, 4.0], [0.0, 4.0]]), np.array([1.0, 0.5])
    >>> has_negative_direction(matrix, np.zeros(2), scale, 1e-8, 10, np.random.default_rng(0))
    True
    """
    n = len(upper)
    if n <= EXACT:
        return not _has_cholesky_factor(upper, scale, room + spare * scale**2)
    if n_rows**2 <= FEW * n and _has_factor(_Scaled(upper, scale), n_rows - 1, CERTAIN * room, rng):
        return False
    return _smallest(_Scaled(upper, scale, spare), rng.normal(size=n)) < -room


def _has_cholesky_factor(upper: Float, scale: Float, more: Float) -> bool:
    """Whether the matrix is positive definite with so much `more` on its diagonal."""
    from scipy.linalg.lapack import dpotrf  # here: a site's process checks no replies, and does without

    matrix = upper * scale
    matrix *= scale[:, None]
    np.einsum("ii->i", matrix)[:] += more
    wrong_column: int = dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)[1]  # the transpose is one in Fortran's order
    return wrong_column == 0


class _Scaled:
    """A symmetric matrix with more on its diagonal, its rows and columns multiplied, read from its upper triangle."""

    def __init__(self, upper: Float, scale: Float, spare: Float | float = 0.0) -> None:
        from scipy.linalg.blas import dsymv  # here, too

        self.n = len(upper)
        self._upper, self._scale, self._more, self._product = upper, scale, spare * scale**2, dsymv

    def diagonal(self) -> Float:
        return np.asarray(np.diagonal(self._upper) * self._scale**2 + self._more)

    def column(self, place: int) -> Float:
        column = np.concatenate([self._upper[:place, place], self._upper[place, place:]])
        return np.asarray(column * self._scale * self._scale[place])

    def times(self, vector: Float) -> Float:
        product = self._product(1.0, self._upper.T, self._scale * vector, lower=1)  # reads half of what `@` would
        return np.asarray(self._scale * product + self._more * vector)


def _has_factor(matrix: _Scaled, rank: int, room: float, rng: np.random.Generator) -> bool:
    """Whether the matrix is the sum of products of `rank` rows, but for at most `room` along any direction drawn.

    If it is not, it may still have no negative direction: rounding can be larger than that.
    """
    factor, left = np.zeros((rank, matrix.n)), matrix.diagonal()  # Cholesky's, the longest column first
    first = left.max()
    for step in range(rank):
        place = int(np.argmax(left))
        if left[place] <= SPLIT * first:
            break
        rest = matrix.column(place) - factor[:step, place] @ factor[:step]
        factor[step] = rest / np.sqrt(left[place])
        left -= factor[step] ** 2
        left[place] = 0.0
    directions = rng.normal(size=(COMPARED, matrix.n))
    return all(
        float(np.linalg.norm(matrix.times(direction) - (factor @ direction) @ factor)) <= room
        for direction in directions
    )


def _smallest(matrix: _Scaled, start: Float) -> float:
    """The spread along the direction of least spread among those that `STEPS` products with the start lead to.

    It is computed along that direction itself: a tridiagonal matrix tells less and less of the whole one as rounding
    adds up, and an honest site must not be refused for that.
    """
    found = np.empty((STEPS, matrix.n))
    found[0] = start / np.linalg.norm(start)
    diagonal, beside = np.zeros(STEPS), np.zeros(STEPS - 1)
    for step in range(STEPS):
        product = matrix.times(found[step])
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
    return float(least @ matrix.times(least) / (least @ least))
