"""How much extremely randomized trees use each feature to tell labeled rows apart: a relevance that is not linear.

The random numbers are our own, so that a seed gives the same trees on every machine and for any number of threads. Rows
with weights and labels that are unknown are dealt with here; without any, `counted_trees` finds the same faster.
"""

from collections.abc import Callable

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.counted_trees import Places, counted_importances, two_valued
from fedsieve.kernels.threads import parallel_map
from fedsieve.kernels.tree_steps import SAME, drawn_rows, parted, shares, span, tree_key, uniform

MIN_LEAF = 2  # rows at least on each side of a split
MOST_ROWS = 4096  # that one tree sees; of more, each tree sees others


def tree_importances(
    X: Float, Y: Float, n_trees: int, seed: int = 0, weights: Float | None = None, most_rows: int = MOST_ROWS
) -> Float:
    """Mean decrease of the labels' Gini impurity by splits on each feature, (n_features,); adds up to 1.

    A split is the best of about √n_features random ones, each a random feature with a random threshold. Features that
    no tree uses have 0, as have all where no split helps. The order of the features plays no part, and copies of a
    column share equally: trees see the different columns, sorted. Of more than `most_rows` rows each tree sees so many,
    drawn without replacement.

    A row of weight 2 counts like two equal rows. A label that is unknown (NaN) in some rows has its impurity, and its
    decrease, in the others: the decrease is the sum over labels of a²/n_left + b²/n_right - (a + b)²/n, a and b being
    the rows on either side that have the label, n those in which it is known.
    """
    table, place, n_copies = np.unique(X.T, axis=0, return_inverse=True, return_counts=True)
    columns = np.ascontiguousarray(table, dtype=np.float64)  # one after the other: a node looks at one at a time
    n_rows, n_candidates, key = len(X), max(1, int(np.sqrt(X.shape[1]))), np.uint64(seed)

    def grow_some(tree: int) -> Float:
        rows = drawn_rows(n_rows, most_rows, key, np.uint64(tree))
        some = np.ascontiguousarray(columns[:, rows])
        return _growth(some, Y[rows], n_candidates, key, None if weights is None else weights[rows])(tree)

    grow = _growth(columns, Y, n_candidates, key, weights) if n_rows <= most_rows else grow_some
    total: Float = np.sum(list(parallel_map(grow, range(n_trees))), axis=0)
    shared = (total / n_copies)[place.ravel()]
    return shared / max(float(shared.sum()), np.finfo(np.float64).tiny)


def _growth(
    columns: Float, Y: Float, n_candidates: int, key: np.uint64, weights: Float | None
) -> Callable[[int], Float]:
    """What grows the tree of a number from these rows, and returns the shares of the columns."""
    carried, unknown, n_labels = _listed(Y > 0), np.isnan(Y), Y.shape[1]
    if weights is None and not unknown.any():
        bits = two_valued(columns)

        def grow(tree: int) -> Float:
            return counted_importances(columns, *bits, *carried, n_labels, n_candidates, MIN_LEAF, key, np.uint64(tree))

    else:
        counted = np.ones(len(Y)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        lacking = _listed(unknown)

        def grow(tree: int) -> Float:
            return _importances(
                *(columns, counted, *carried, *lacking), n_labels, n_candidates, MIN_LEAF, key, np.uint64(tree)
            )

    return grow


def _listed(marked: Bool) -> tuple[Places, Places]:
    """The labels marked in row i are labels[starts[i]:starts[i + 1]]; starts, labels."""
    starts = np.concatenate([[0], np.cumsum(marked.sum(axis=1))]).astype(np.uint32)
    return starts, np.nonzero(marked)[1].astype(np.uint32)


@compiled
def _sum_labels(
    rows: Int, weights: Float, starts: Places, carried: Places, sums: Float, present: Int, n_present: int
) -> int:
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
def _sum_unknown(rows: Int, weights: Float, starts: Places, unknown: Places, sums: Float) -> None:
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
    starts: Places,
    carried: Places,
    unknown_starts: Places,
    unknown: Places,
    n_labels: int,
    n_candidates: int,
    min_leaf: int,
    seed: np.uint64,
    tree: np.uint64,
) -> Float:
    n_features, n_rows = columns.shape
    key = tree_key(seed, tree)
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
            pick = n_constant + int(uniform(counter, key) * (end - n_constant))
            feature = features[pick]
            column = columns[feature]
            low, high = span(column, node)
            if high <= low:
                features[pick], features[n_constant] = features[n_constant], feature
                n_constant += 1
                continue
            end -= 1
            features[pick], features[end] = features[end], feature
            threshold = low + uniform(counter, key) * (high - low)
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
        place = parted(rows, first, last, columns[best_feature], best_threshold)
        stack.append((first, place, n_constant))
        stack.append((place, last, n_constant))
    return shares(importance)
