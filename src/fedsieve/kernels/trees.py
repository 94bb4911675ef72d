"""How much extremely randomized trees use each feature to tell labeled rows apart: a relevance that is not linear.

The random numbers are our own, so that a seed gives the same trees on every machine and for any number of threads.
"""

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.threads import parallel_map

MIN_LEAF = 2  # rows at least on each side of a split
SAME = 1e-12  # gains that differ less, per row, differ by rounding


def tree_importances(X: Float, Y: Float, n_trees: int, seed: int = 0, weights: Float | None = None) -> Float:
    """Mean decrease of the labels' Gini impurity by splits on each feature, (n_features,); adds up to 1.

    A split is the best of about √n_features random ones, each a random feature with a random threshold. Features that
    no tree uses have 0, as have all where no split helps. The order of the features plays no part, and copies of a
    column share equally: trees see the different columns, sorted.

    A row of weight 2 counts like two equal rows. A label that is unknown (NaN) in some rows has its impurity, and its
    decrease, in the others: the decrease is the sum over labels of a²/n_left + b²/n_right - (a + b)²/n, a and b being
    the rows on either side that have the label, n those in which it is known.
    """
    table, place, n_copies = np.unique(X.T, axis=0, return_inverse=True, return_counts=True)
    columns = np.ascontiguousarray(table, dtype=np.float64)  # one after the other: a node looks at one at a time
    carried, unknown = _listed(Y > 0), _listed(np.isnan(Y))
    counted = np.ones(len(X)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    n_candidates = max(1, int(np.sqrt(X.shape[1])))

    def grow(tree: int) -> Float:
        key = np.uint64(seed), np.uint64(tree)
        return _importances(columns, counted, *carried, *unknown, Y.shape[1], n_candidates, MIN_LEAF, *key)

    total: Float = np.sum(list(parallel_map(grow, range(n_trees))), axis=0)
    shared = (total / n_copies)[place.ravel()]
    return shared / max(float(shared.sum()), np.finfo(np.float64).tiny)


def _listed(marked: Bool) -> tuple[Int, Int]:
    """The labels marked in row i are labels[starts[i]:starts[i + 1]]; starts, labels."""
    starts = np.concatenate([[0], np.cumsum(marked.sum(axis=1))]).astype(np.int64)
    return starts, np.nonzero(marked)[1].astype(np.int64)


@compiled
def _mixed(state: np.uint64) -> np.uint64:
    """SplitMix64: from a counter to a random number."""
    z = state + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def _uniform(counter: Int, key: np.uint64) -> float:
    """The next number in [0, 1)."""
    counter[0] += 1
    return float(_mixed(key + np.uint64(counter[0])) >> np.uint64(11)) / 9007199254740992.0


@compiled
def _sum_labels(rows: Int, weights: Float, starts: Int, carried: Int, sums: Float, present: Int, n_present: int) -> int:
    """Count the labels of the rows into `sums`, and list in `present` those that occur; returns how many do.

    The `n_present` labels listed before are forgotten first: a small node never looks at labels it does not have.
    """
    for place in range(n_present):
        sums[present[place]] = 0.0
    n_present = 0
    for row in rows:
        for place in range(starts[row], starts[row + 1]):
            label = carried[place]
            if sums[label] == 0.0:
                present[n_present] = label
                n_present += 1
            sums[label] += weights[row]
    return n_present


@compiled
def _sum_unknown(rows: Int, weights: Float, starts: Int, unknown: Int, sums: Float) -> None:
    """How many of the rows lack each label."""
    sums[:] = 0.0
    for row in rows:
        for place in range(starts[row], starts[row + 1]):
            sums[unknown[place]] += weights[row]


@compiled
def _purity(sums: Float, lacking: Float, present: Int, n_present: int, n_rows: float) -> float:
    """Σ_l c_l² / n_l: the rows minus this is n times the Gini impurity, up to what a split does not change.

    n_l is how many rows there are without those that lack the label, since it is unknown.
    """
    total, apart = 0.0, 0.0
    for place in range(n_present):
        label = present[place]
        if lacking[label] == 0.0:
            total += sums[label] ** 2
        elif sums[label] > 0.0:
            apart += sums[label] ** 2 / (n_rows - lacking[label])
    return total / n_rows + apart


@compiled
def _importances(
    columns: Float,
    weights: Float,
    starts: Int,
    carried: Int,
    unknown_starts: Int,
    unknown: Int,
    n_labels: int,
    n_candidates: int,
    min_leaf: int,
    seed: np.uint64,
    tree: np.uint64,
) -> Float:
    n_features, n_rows = columns.shape
    key = _mixed(_mixed(seed) ^ tree)
    counter = np.zeros(1, dtype=np.int64)
    importance = np.zeros(n_features)
    rows = np.arange(n_rows)
    features = np.arange(n_features)
    whole, left, right = np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_labels)
    lacking, lacking_left, lacking_right = np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_labels)
    all_known = len(unknown) == 0
    present, n_present = np.empty(n_labels, dtype=np.int64), 0
    stack = [(0, n_rows, 0)]  # rows from, to, and how many features, the first of `features`, are constant in them
    while len(stack) > 0:
        first, last, n_constant = stack.pop()
        node, weight = rows[first:last], 0.0
        for row in node:
            weight += weights[row]
        if max(float(last - first), weight) < 2 * min_leaf:
            continue
        n_present = _sum_labels(node, weights, starts, carried, whole, present, n_present)
        if not all_known:
            _sum_unknown(node, weights, unknown_starts, unknown, lacking)
        purity, total = _purity(whole, lacking, present, n_present, weight), 0.0
        for place in range(n_present):
            total += whole[present[place]]
        if purity >= total:  # every label that occurs is carried by all rows
            continue
        best, best_feature, best_threshold = 0.0, -1, 0.0
        end = n_features  # those from here on have been tried
        while n_features - end < n_candidates and n_constant < end:
            pick = n_constant + int(_uniform(counter, key) * (end - n_constant))
            feature = features[pick]
            column = columns[feature]
            low, high = column[node[0]], column[node[0]]
            for row in node:
                low, high = min(low, column[row]), max(high, column[row])
            if high <= low:
                features[pick], features[n_constant] = features[n_constant], feature
                n_constant += 1
                continue
            end -= 1
            features[pick], features[end] = features[end], feature
            threshold = low + _uniform(counter, key) * (high - low)
            for place in range(n_present):
                left[present[place]] = 0.0
            n_left, weight_left = 0, 0.0
            for row in node:
                if column[row] <= threshold:
                    n_left += 1
                    weight_left += weights[row]
                    for place in range(starts[row], starts[row + 1]):
                        left[carried[place]] += weights[row]
            weight_right = weight - weight_left
            # Enough is two rows, or one that counts for two.
            enough_left = max(float(n_left), weight_left) >= min_leaf
            if not enough_left or max(float(len(node) - n_left), weight_right) < min_leaf:
                continue
            if not all_known:
                _sum_unknown(node[column[node] <= threshold], weights, unknown_starts, unknown, lacking_left)
                for label in range(n_labels):
                    lacking_right[label] = lacking[label] - lacking_left[label]
            for place in range(n_present):
                right[present[place]] = whole[present[place]] - left[present[place]]
            gain = _purity(left, lacking_left, present, n_present, weight_left)
            gain = gain + _purity(right, lacking_right, present, n_present, weight_right) - purity
            if gain > best + SAME * weight:
                best, best_feature, best_threshold = gain, feature, threshold
        if best_feature < 0:
            continue
        importance[best_feature] += best
        place = first
        for position in range(first, last):
            row = rows[position]
            if columns[best_feature, row] <= best_threshold:
                rows[position] = rows[place]
                rows[place] = row
                place += 1
        stack.append((first, place, n_constant))
        stack.append((place, last, n_constant))
    total = importance.sum()
    return importance / total if total > 0.0 else importance
