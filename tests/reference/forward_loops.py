"""Sieve's forward regression, to the letter of its description: every fit from scratch, every row really left out."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Units = Sequence[Sequence[int]]

STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)


def standardized(C: Float) -> tuple[Float, Float]:
    """What divides columns by their deviations, 0 for constant ones; and their correlations."""
    per_deviation = np.array([0.0 if C[p, p] == 0 else 1 / math.sqrt(C[p, p]) for p in range(len(C))])
    return per_deviation, np.array(
        [[C[p, q] * a * b for q, b in enumerate(per_deviation)] for p, a in enumerate(per_deviation)]
    )


def says(Y: Float) -> list[float]:
    """The roots of the deviations of the labels that vary, of length 1 together.

    >>> says(np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]))
    [1.0]
    """
    shares = [math.fsum(column) / len(column) for column in Y.T if min(column) < max(column)]
    roots = [math.sqrt(math.sqrt(share * (1 - share))) for share in shares]
    length = math.sqrt(math.fsum(root**2 for root in roots))
    return [root / length for root in roots]


def fitted(X: Float, T: Float, penalty: float) -> Float:
    """Ridge coefficients of rows and targets that are centered already."""
    return np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ T)


def left_out(
    X: Float, T: Float, weights: Sequence[float], strengths: Sequence[float] = STRENGTHS
) -> tuple[float, float]:
    """Each row is left out, the others are fitted with an intercept, and its targets are predicted.

    The penalty is that of all rows. Ties go to the stronger one. Told are the penalty and what it explains: one less
    its error, in units of that of the others' mean.
    """
    n, d = X.shape
    centered = X - X.mean(axis=0)
    unit = float((centered**2).sum()) / d or 1.0
    errors, by_mean = [], 0.0
    for i in range(n):
        level = T[[j for j in range(n) if j != i]].mean(axis=0)
        by_mean += math.fsum((v * w) ** 2 for v, w in zip(T[i] - level, weights, strict=True))
    for strength in strengths:
        error = 0.0
        for i in range(n):
            others = [j for j in range(n) if j != i]
            center, level = X[others].mean(axis=0), T[others].mean(axis=0)
            W = fitted(X[others] - center, T[others] - level, strength * unit)
            missed = T[i] - level - (X[i] - center) @ W
            error += math.fsum((v * w) ** 2 for v, w in zip(missed, weights, strict=True))
        errors.append(error)
    best = min(errors)
    strength = max(s for s, error in zip(strengths, errors, strict=True) if error <= best * (1 + 1e-9))
    return strength, 1 - best / by_mean


def say_of_the_regression(explained: float) -> float:
    """Seven tenths, in proportion where less than half a percent is explained, a tenth at least.

    >>> [say_of_the_regression(explained) for explained in (0.2, 0.005, 0.0025, -0.1)]
    [0.7, 0.7, 0.35, 0.1]
    """
    return max(0.1, 0.7 * min(1.0, explained / 0.005))


def explained(R: Float, B: Float, columns: Sequence[int], taken: Sequence[int]) -> float:
    """tr(Bᵀ (R + 0.1 I)⁻¹ B) of some columns, of what the taken ones do not tell of them and of the labels."""
    own, theirs = R[np.ix_(columns, columns)], R[np.ix_(columns, taken)]
    among, labels = R[np.ix_(taken, taken)], B[list(columns)]
    if taken:
        told = theirs @ np.linalg.pinv(among, rcond=1e-8, hermitian=True)
        own, labels = own - told @ theirs.T, labels - told @ B[list(taken)]
    return float((labels * np.linalg.solve(own + 0.1 * np.eye(len(columns)), labels)).sum())


def forward_path(R: Float, B: Float, units: Units, n_taken: int) -> tuple[list[int], list[float]]:
    """Units, each the one that explains most beyond those before, after `n_taken` all others at once; and gains.

    Of equal gains the one that explains more alone is first. A unit's gain is what it explains in its place, or the
    least of those before it.

    >>> R = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> forward_path(R, np.array([[0.6], [0.55], [0.3]]), [[0], [1], [2]], 3)[0]
    [0, 2, 1]
    """
    constant = [u for u, columns in enumerate(units) if all(R[p, p] == 0 for p in columns)]
    order: list[int] = []
    waiting = [u for u in range(len(units)) if u not in constant]
    alone = {u: explained(R, B, units[u], []) for u in waiting}
    scale = max(alone.values(), default=0.0) or 1.0
    gain = dict.fromkeys(constant, 0.0)

    def look() -> list[tuple[float, float]]:
        taken = [p for u in order for p in units[u]]
        for u in waiting:
            gain[u] = explained(R, B, units[u], taken)
        return [(float(np.round(gain[u] / scale, 10)), float(np.round(alone[u] / scale, 10))) for u in waiting]

    while waiting and len(order) < n_taken:
        values = look()
        order.append(waiting.pop(values.index(max(values))))
    values = look()
    rest = sorted(range(len(waiting)), key=lambda place: (-values[place][0], -values[place][1], place))
    order += [waiting[place] for place in rest] + constant
    return order, [min(gain[v] for v in order[: order.index(u) + 1]) for u in range(len(units))]


def forward_order(R: Float, B: Float, units: Units, n_taken: int) -> list[int]:
    """The order alone."""
    return forward_path(R, B, units, n_taken)[0]


def first_gains(R: Float, B: Float, units: Units) -> list[float]:
    """What each unit explains by itself."""
    return [explained(R, B, columns, []) for columns in units]


def place_by_gain(u: int, by_chance: float, gains: Sequence[float], varies: Sequence[bool]) -> int:
    """Behind how many others that vary unit u would come with this gain; those without variance come last."""
    others = [v for v in range(len(gains)) if v != u and varies[v]]
    if not varies[u]:
        return len(others)
    return sum(1 for v in others if gains[v] > by_chance * (1 + 1e-10))
