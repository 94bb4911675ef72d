"""The feature graph of GRMFS: how much two features say about the labels together, less what they say of each other.

With L(A) = (1/n) Σ_x log2 |[x]_A|, where |[x]_A| is the row sum of the element-wise minimum of the relations in A::

    ASS(i, j) = I(f_i f_j; D)    = log2 n + L(ijD) - L(ij) - L(D)
    INT(i, j) = I(f_j; D | f_i)  = L(ijD) + L(i) - L(ij) - L(iD)
    RED(i, j) = I(f_i; f_j)      = log2 n + L(ij) - L(i) - L(j)

so the graph needs L of all pairs, once alone and once with the labels. Degrees are fixed-point numbers of 40 bits: the
sums are exact, and the result depends neither on threads nor on the order of additions.
"""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.degrees import cuts
from fedsieve.kernels.threads import parallel_map

ONE = 1 << 40  # the degree 1; a sum of 2^22 of them fits 63 bits
CHUNK = 512  # degrees per strip: six strips fit the first cache
ROWS = 16  # rows per task: a product of 16 row sums stays far below the largest float64
SHARES = 16  # tasks that the groups of rows with equal labels are dealt out to


def edge_weights(X: Float, decisions: Float, radius: Float, kind: str, n_threads: int | None = None) -> Float:
    """ASS + INT - RED of all pairs, (n_features, n_features); the edge to feature i (row) from j (column).

    X is (n_samples, n_features), scaled; `decisions` (n_samples, n_labels) in [0, 1], related by the smallest
    1 - |difference| over the labels; `radius` and `kind` as in `fedsieve.fuzzy.relation`. The diagonal is 0.

    >>> X, Y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.eye(2)[[0, 1, 1, 0]]
    >>> edge_weights(X, Y, np.full(2, 0.5), "distance")  # exclusive or: both features together tell the label
    array([[0., 2.],
           [2., 0.]])
    """
    n_samples, n_features = X.shape
    table = np.column_stack([X, np.zeros(n_samples)])  # a constant feature relates all rows: with it, L(cD) = L(D)
    cut = cuts(radius, kind, n_features=n_features)
    pairs = mean_logs(table, np.zeros((n_samples, 1)), np.append(cut, 0.0), kind, n_threads)
    with_labels = mean_logs(table, decisions, np.append(cut, 0.0), kind, n_threads)
    labels, pairs, with_labels = with_labels[-1, -1], pairs[:-1, :-1], with_labels[:-1, :-1]
    own, own_with_labels = np.diagonal(pairs), np.diagonal(with_labels)
    to, of = 2 * own - own_with_labels - labels, own
    weights: Float = 2 * with_labels - 3 * pairs + to[:, None] + of[None, :]
    np.fill_diagonal(weights, 0.0)
    return weights


def mean_logs(X: Float, decisions: Float, cut: Float, kind: str, n_threads: int | None = None) -> Float:
    """L(ijD) of all pairs of features, (n_features, n_features), symmetric, where D relates rows by `decisions`.

    `cut` holds the numbers that the features' thresholds compare with.
    """
    n_samples, n_features = X.shape
    labels = np.ascontiguousarray(decisions)
    total = np.zeros((n_features, n_features))
    if np.isin(X, (0.0, 1.0)).all():
        groups = _groups(labels)

        def count(share: int) -> Float:
            part = np.zeros((n_features, n_features))
            for members, near, degrees in groups[share::SHARES]:
                _add_group(X, members, near, degrees, part)
            return part

        parts = parallel_map(count, range(min(SHARES, len(groups))), n_threads)
    else:
        columns = np.ascontiguousarray(X.T)

        def multiply(first: int) -> Float:
            stop = min(first + ROWS, n_samples)
            return _logs_of_rows(columns, cut, kind == "similarity", labels, first, stop)

        parts = parallel_map(multiply, range(0, n_samples, ROWS), n_threads)
    for part in parts:
        total += part
    total /= n_samples
    return np.triu(total) + np.triu(total, 1).T


def _groups(labels: Float) -> list[tuple[Int, Int, Float]]:
    """Rows with equal labels: who they are, the rows related to them, and how much. Rows like no other are left out."""
    _, first, group = np.unique(labels, axis=0, return_index=True, return_inverse=True)
    by_group = np.argsort(group.ravel(), kind="stable")
    members = np.split(by_group, np.cumsum(np.bincount(group.ravel()))[:-1])
    near, degrees = np.empty(len(labels), dtype=np.int64), np.empty(len(labels), dtype=np.int64)
    found = []
    for row, rows in zip(first, members, strict=True):
        n_near = _related(labels, row, near, degrees)
        if n_near > 1:  # alone, |[x]| = 1 and its logarithm 0
            found.append((rows, near[:n_near].copy(), degrees[:n_near] / ONE))
    return found


def _add_group(X: Float, members: Int, near: Int, degrees: Float, logs: Float) -> None:
    """Add the group's Σ_x log2 |[x]_ijD| for features in {0, 1}: for them |[x]_ijD| is one of four cells of a table."""
    rows, own = X[near], X[members]
    counts = own.T @ own
    if len(near) == len(members):
        masses, size = counts, float(len(members))
    else:
        masses, size = (degrees[:, None] * rows).T @ rows, float(degrees.sum())
    _fold(counts, float(len(members)), masses, size, logs)


@compiled
def _fold(counts: Float, n_members: float, masses: Float, size: float, logs: Float) -> None:
    for i in range(len(counts)):
        for j in range(i, len(counts)):
            both, mass = counts[i, j], masses[i, j]
            left, right = counts[i, i] - both, counts[j, j] - both
            neither = n_members - both - left - right
            if both > 0:
                logs[i, j] += both * np.log2(mass)
            if left > 0:
                logs[i, j] += left * np.log2(masses[i, i] - mass)
            if right > 0:
                logs[i, j] += right * np.log2(masses[j, j] - mass)
            if neither > 0:
                logs[i, j] += neither * np.log2(size - masses[i, i] - masses[j, j] + mass)


@compiled
def _related(labels: Float, row: int, near: Int, degrees: Int) -> int:
    """Fill in the rows related to `row` by labels, and the degrees; returns how many there are."""
    n_near = 0
    for j in range(len(labels)):
        widest = 0.0
        for label in range(labels.shape[1]):
            widest = max(widest, abs(labels[row, label] - labels[j, label]))
            if widest >= 1.0:
                break
        degree = np.int64((1.0 - widest) * ONE + 0.5)
        if degree > 0:
            near[n_near], degrees[n_near] = j, degree
            n_near += 1
    return n_near


@compiled
def _logs_of_rows(columns: Float, cut: Float, by_similarity: bool, labels: Float, first: int, stop: int) -> Float:
    """Σ_x log2 |[x]_ijD| over rows first <= x < stop (at most ROWS), upper triangle, for features of any values."""
    n_features, n_samples = columns.shape
    padded = (n_features + 3) // 4 * 4
    product = np.ones((n_features, n_features))
    strip = np.zeros((padded, CHUNK), dtype=np.int64)
    near, degrees = np.empty(n_samples, dtype=np.int64), np.empty(n_samples, dtype=np.int64)
    for row in range(first, stop):
        n_near = _related(labels, row, near, degrees)
        sums = np.zeros((padded, padded), dtype=np.int64)
        for start in range(0, n_near, CHUNK):
            length = min(CHUNK, n_near - start)
            for f in range(n_features):
                x, column, edge = columns[f, row], columns[f], cut[f]
                for t in range(length):
                    difference = abs(x - column[near[start + t]])
                    alike = 1.0 - difference
                    related = alike > edge if by_similarity else difference <= edge
                    degree = np.int64(alike * ONE + 0.5) if related else np.int64(0)
                    strip[f, t] = min(degree, degrees[start + t])
            _add_strip(strip, length, sums)
        for i in range(n_features):
            for j in range(i, n_features):
                product[i, j] *= sums[i, j] / ONE
    return np.log2(product)


@compiled
def _add_strip(strip: Int, length: int, sums: Int) -> None:
    """Add Σ_t min(strip[i, t], strip[j, t]) to sums[i, j] for j >= i, four i and two j at a time."""
    for i in range(0, strip.shape[0], 4):
        for j in range(i, strip.shape[0], 2):
            s00 = s01 = s10 = s11 = s20 = s21 = s30 = s31 = 0
            for t in range(length):
                y0, y1 = strip[j, t], strip[j + 1, t]
                x = strip[i, t]
                s00 += min(x, y0)
                s01 += min(x, y1)
                x = strip[i + 1, t]
                s10 += min(x, y0)
                s11 += min(x, y1)
                x = strip[i + 2, t]
                s20 += min(x, y0)
                s21 += min(x, y1)
                x = strip[i + 3, t]
                s30 += min(x, y0)
                s31 += min(x, y1)
            sums[i, j] += s00
            sums[i, j + 1] += s01
            sums[i + 1, j] += s10
            sums[i + 1, j + 1] += s11
            sums[i + 2, j] += s20
            sums[i + 2, j + 1] += s21
            sums[i + 3, j] += s30
            sums[i + 3, j + 1] += s31
