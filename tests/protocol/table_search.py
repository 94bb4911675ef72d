"""A search for a table with given pair sums or products: chance finds the neighborhood, Newton's method the point."""

import numba
import numpy as np

from fedsieve import messages as m
from fedsieve.fuzzy.relation import SIMILARITY_CAP, relation

N_MOVES = 60_000
N_ATTEMPTS = 6


def of_pair_sums(request: m.AskPairSums, reply: m.PairSums, start: np.ndarray) -> np.ndarray | None:
    """A table has many more values than sums."""
    upper = np.triu_indices(len(reply.features))
    readings = np.zeros((len(reply.upper), len(reply.features), len(reply.features)))
    readings[np.arange(len(reply.upper)), *upper] = 1.0
    return _solve(request.relation, reply.n_rows, start, readings, reply.upper)


def of_products(request: m.AskProducts, reply: m.Products, start: np.ndarray) -> np.ndarray | None:
    """As for pair sums, with fewer conditions: y_p = S_p Σv + Σ_b S_b v_b - 2 Σ_b S_pb v_b."""
    d = len(request.vector)
    readings = np.zeros((d, d, d))
    for p in range(d):
        readings[p, p, p] += request.vector.sum()
        readings[p, np.arange(d), np.arange(d)] += request.vector
        readings[p, p, :] -= 2 * request.vector
    return _solve(request.relation, reply.n_rows, start, readings, reply.values)


def _solve(spec, n_rows: int, start: np.ndarray, readings: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """`readings` (n_targets, d, d) times the sums is to become `target`."""
    if spec is None or spec.columns.nominal or np.isnan(start).any():
        return None
    rng = np.random.default_rng(0)
    width = spec.scaling.high - spec.scaling.low
    X = np.resize(np.clip((start - spec.scaling.low) / width, 0.0, 1.0), (n_rows, len(width)))
    cut = np.minimum(spec.radius, SIMILARITY_CAP) if spec.kind == "similarity" else spec.radius
    for attempt in range(N_ATTEMPTS):
        near = [X, np.full(X.shape, 0.5), rng.random(X.shape)][attempt % 3]
        if attempt < 2:  # as it is, off its ties; and constant, where nothing is apart
            jitter = 1e-4 * (attempt == 0) * rng.normal(size=X.shape)
            found = _newton(np.clip(near + jitter, 0.0, 1.0), spec, readings, target)
        if attempt >= 2 or found is None:
            moves = N_MOVES * (1 + attempt)
            near = _wander(near, cut, spec.kind == "similarity", readings, target, moves, _draws(moves, attempt))
            found = _newton(near, spec, readings, target)
        if found is not None:
            return spec.scaling.low + found * width
    return None


def _draws(n_moves: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.random((n_moves, 3)), rng.normal(size=n_moves)


@numba.njit(cache=True)
def _wander(X, cut, by_similarity, readings, target, n_moves, draws):
    """Change one value at a time; keep what brings the readings nearer, and at first some of what does not."""
    uniform, normal = draws
    X = X.copy()
    n, d = X.shape
    R = np.empty((d, n, n))
    for p in range(d):
        for i in range(n):
            for j in range(n):
                R[p, i, j] = _degree(abs(X[i, p] - X[j, p]), cut[p], by_similarity) if i != j else 1.0
    sums = np.zeros((d, d))
    for p in range(d):
        for b in range(d):
            sums[p, b] = np.minimum(R[p], R[b]).sum()
    cost, new, trial = np.inf, np.empty(n), sums.copy()
    scale = np.abs(target).max() + 1.0
    for move in range(n_moves):
        heat = (1 - move / n_moves) ** 3
        p, i = int(uniform[move, 0] * d), int(uniform[move, 1] * n)
        value = X[i, p] + normal[move] * (0.001 + 0.3 * heat)
        value = min(max(value, 0.0), 1.0)
        for j in range(n):
            new[j] = _degree(abs(value - X[j, p]), cut[p], by_similarity) if i != j else 1.0
        trial[:] = sums
        for b in range(d):
            change = 0.0
            for j in range(n):
                if b == p:
                    change += 2 * (new[j] - R[p, i, j])
                else:
                    change += 2 * (min(new[j], R[b, i, j]) - min(R[p, i, j], R[b, i, j]))
            trial[p, b] += change
            trial[b, p] = trial[p, b]
        after = 0.0
        for t in range(len(target)):
            after += ((readings[t] * trial).sum() - target[t]) ** 2
        after = np.sqrt(after) / scale
        if after < cost or uniform[move, 2] < np.exp((cost - after) / (1e-9 + 0.02 * heat)):
            cost, X[i, p] = after, value
            sums[:] = trial
            for j in range(n):
                R[p, i, j] = R[p, j, i] = new[j]
    return X


@numba.njit(cache=True)
def _degree(difference, cut, by_similarity):
    near = 1.0 - difference > cut if by_similarity else difference <= cut
    return max(1.0 - difference, 0.0) if near else 0.0


def _newton(X: np.ndarray, spec, readings: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    step = 1.0
    sums, slopes = _sums_and_slopes(X, spec)
    missing = target - np.tensordot(readings, sums, 2)
    for _ in range(40):
        if np.abs(missing).max() <= 1e-8 * max(np.abs(target).max(), 1.0):
            return X
        move = np.linalg.lstsq(np.tensordot(readings, slopes, 2), missing, rcond=1e-9)[0].reshape(X.shape)
        trial = np.clip(X + step * move, 0.0, 1.0)
        sums, new_slopes = _sums_and_slopes(trial, spec)
        left = target - np.tensordot(readings, sums, 2)
        if np.abs(left).sum() < np.abs(missing).sum():
            X, slopes, missing, step = trial, new_slopes, left, min(1.0, 2 * step)
        elif step > 1e-3:
            step /= 2
        else:
            return None
    return None


def _sums_and_slopes(X: np.ndarray, spec: m.Relation) -> tuple[np.ndarray, np.ndarray]:
    """Pair sums (d, d), and their slopes (d, d, n_values) in the values of the table."""
    R = np.array([relation(x, float(e), spec.kind) for x, e in zip(X.T, spec.radius, strict=True)])
    signs = -2.0 * np.sign(X.T[:, :, None] - X.T[:, None, :]) * (R > 0)
    d, n = len(R), len(X)
    sums, slopes = np.empty((d, d)), np.zeros((d, d, n, d))
    for p in range(d):
        sums[p] = np.minimum(R[p], R).sum(axis=(1, 2))
        lower = R[p] < R
        lower[p] = True
        by_row = (signs[p] * lower).sum(axis=2)
        slopes[p, :, :, p] += by_row
        others = np.arange(d) != p
        slopes[others, p, :, p] += by_row[others]
    return sums, slopes.reshape(d, d, n * d)
