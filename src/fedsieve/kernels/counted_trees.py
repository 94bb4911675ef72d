"""The trees of `kernels/trees.py` where every row counts once and every label is known: the same splits, by counting.

Then all that a split is judged by are whole numbers: of a split only the labels of its smaller side are counted, those
of the other side and both sums of squares follow exactly. A column of two values is a bit for each row: a large node is
a mask, and one word at a time tells how many of 64 rows have the larger value; in a small one the rows' own bits, those
of all such columns, tell which of them vary.
"""

import numpy as np

from fedsieve.arrays import Bool, Float, Int, Ring
from fedsieve.kernels.compiled import compiled, popcount
from fedsieve.kernels.tree_steps import SAME, parted, shares, span, tree_key, uniform

BITS = 64
ONE, NONE = np.uint64(1), np.uint64(0)
ROWS_PER_WORD = 2  # a node of more rows than this for each word is looked at by its mask
# An index without sign: for one with a sign compiled code asks each time whether it counts from the end.
Places = np.ndarray[tuple[int, ...], np.dtype[np.uint32]]


def two_valued(columns: Float) -> tuple[Bool, Float, Float, Ring, Ring]:
    """Which columns have two values or one, the smaller and the larger one, and where it is the larger one.

    The latter as bits: per column one for each row, and per row one for each column.
    """
    low, high = columns.min(axis=1), columns.max(axis=1)
    larger = columns == high[:, None]
    two: Bool = (larger | (columns == low[:, None])).all(axis=1)
    larger &= two[:, None]
    return two, low, high, _packed(larger), _packed(larger.T)


def _packed(marked: Bool) -> Ring:
    """64 marks of a row to a word, the first in the lowest bit."""
    n_words = -(-marked.shape[1] // BITS)
    bits = np.zeros((len(marked), n_words * BITS), dtype=bool)
    bits[:, : marked.shape[1]] = marked
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


@compiled
def _is_set(bits: Ring, place: int) -> int:
    return int((bits[place >> 6] >> np.uint64(place & 63)) & ONE)


@compiled
def _number_labels(
    node: Places, starts: Places, carried: Places, number_of: Int, occurs: Places, n_before: int, numbers: Places
) -> int:
    """Number the labels that occur in a node, from 0 on; returns how many do. Those of the node before are forgotten.

    `numbers` is to `carried` what the number of a label is to the label, so that counts of few labels lie together.
    """
    for place in range(n_before):
        number_of[occurs[place]] = -1
    n_labels = 0
    for row in node:
        for place in range(starts[row], starts[row + 1]):
            label = carried[place]
            number = number_of[label]
            if number < 0:
                number = n_labels
                number_of[label] = number
                occurs[number] = label
                n_labels += 1
            numbers[place] = number
    return n_labels


@compiled
def _count(rows: Places, starts: Places, numbers: Places, counts: Int) -> None:
    """How many of the rows carry each label of the node."""
    for number in range(len(counts)):
        counts[number] = 0
    for row in rows:
        for place in range(starts[row], starts[row + 1]):
            counts[numbers[place]] += 1


@compiled
def _product(first: Int, second: Int) -> int:
    """Of counts, exactly; numpy's own would be of floats."""
    total = 0
    for place in range(len(first)):
        total += first[place] * second[place]
    return total


@compiled
def _varying(node: Places, row_bits: Ring, varying: Ring) -> None:
    """Mark the columns of two values that have both in these rows."""
    varying[:] = 0
    for row in node:
        for word in range(len(varying)):
            varying[word] |= row_bits[row, word] ^ row_bits[node[0], word]


@compiled
def _in_mask(mask: Ring, bits: Ring, flip: np.uint64, found: Places) -> None:
    """List the rows of a mask that have a bit, or have it not."""
    n_found = 0
    for word in range(len(mask)):
        here = mask[word] & (bits[word] ^ flip)
        while here != NONE:
            lowest = here & (~here + ONE)
            found[n_found] = word * BITS + popcount(lowest - ONE)
            n_found += 1
            here ^= lowest


@compiled
def _by_bit(node: Places, bits: Ring, lower: Places, higher: Places) -> int:
    """List the rows that have a bit, and those that have it not; returns how many have it.

    Every row is written to both lists and stays in one of them: without a branch that nobody could foresee.
    """
    n_low, n_high = 0, 0
    for row in node:
        lower[n_low], higher[n_high] = row, row
        above = _is_set(bits, row)
        n_low, n_high = n_low + 1 - above, n_high + above
    return n_high


@compiled
def _by_value(node: Places, column: Float, threshold: float, lower: Places, higher: Places) -> int:
    """The same by which values are above a threshold."""
    n_low, n_high = 0, 0
    for row in node:
        lower[n_low], higher[n_high] = row, row
        above = int(column[row] > threshold)
        n_low, n_high = n_low + 1 - above, n_high + above
    return n_high


@compiled
def counted_importances(
    columns: Float,
    two: Bool,
    lows: Float,
    highs: Float,
    bits: Ring,
    row_bits: Ring,
    starts: Places,
    carried: Places,
    n_labels: int,
    n_candidates: int,
    min_leaf: int,
    seed: np.uint64,
    tree: np.uint64,
) -> Float:
    """One tree: how much each column's splits make the labels purer; adds up to 1."""
    n_features, n_rows = columns.shape
    n_words = bits.shape[1]
    key = tree_key(seed, tree)
    counter = np.zeros(1, dtype=np.int64)
    importance = np.zeros(n_features)
    rows, features = np.arange(n_rows).astype(np.uint32), np.arange(n_features).astype(np.uint32)
    lower, higher = np.empty(n_rows, dtype=np.uint32), np.empty(n_rows, dtype=np.uint32)
    number_of, occurs, n_occur = np.full(n_labels, -1), np.empty(n_labels, dtype=np.uint32), 0
    numbers = np.empty(len(carried), dtype=np.uint32)
    of_node, of_fewer = np.zeros(n_labels, dtype=np.int64), np.zeros(n_labels, dtype=np.int64)
    mask, varying = np.zeros(n_words, dtype=np.uint64), np.zeros(row_bits.shape[1], dtype=np.uint64)
    stack = [(0, n_rows, 0)]  # rows from, to, and how many features, the first of `features`, are constant in them
    while len(stack) > 0:
        first, last, n_constant = stack.pop()
        node, n = rows[first:last], last - first
        if n < 2 * min_leaf:
            continue
        n_occur = _number_labels(node, starts, carried, number_of, occurs, n_occur, numbers)
        whole, counts = of_node[:n_occur], of_fewer[:n_occur]
        _count(node, starts, numbers, whole)
        squares = _product(whole, whole)
        purity = float(squares) / float(n)
        if purity >= whole.sum():  # every label that occurs is carried by all rows
            continue
        masked = n > ROWS_PER_WORD * n_words
        if masked:
            mask[:] = 0
            for row in node:
                mask[row >> 6] |= ONE << np.uint64(row & 63)
        else:
            _varying(node, row_bits, varying)
        best, best_feature, best_threshold = 0.0, -1, 0.0
        end = n_features  # those from here on have been tried
        while n_features - end < n_candidates and n_constant < end:
            pick = n_constant + int(uniform(counter, key) * (end - n_constant))
            feature = features[pick]
            column, n_high = columns[feature], 0
            if two[feature]:
                low, high = lows[feature], highs[feature]
                if masked:
                    for word in range(n_words):
                        n_high += popcount(mask[word] & bits[feature, word])
                    varies = 0 < n_high < n
                else:
                    varies = _is_set(varying, feature) == 1
            else:
                low, high = span(column, node)
                varies = high > low
            if not varies:
                features[pick], features[n_constant] = features[n_constant], feature
                n_constant += 1
                continue
            end -= 1
            features[pick], features[end] = features[end], feature
            threshold = low + uniform(counter, key) * (high - low)
            if two[feature] and threshold >= high:  # rounded up: all rows would go left
                continue
            if not two[feature]:
                n_high = _by_value(node, column, threshold, lower, higher)
            elif not masked:
                n_high = _by_bit(node, bits[feature], lower, higher)
            n_low = n - n_high
            if n_low < min_leaf or n_high < min_leaf:
                continue
            fewer_left = n_low <= n_high
            fewer = lower if fewer_left else higher
            if two[feature] and masked:
                _in_mask(mask, bits[feature], ~NONE if fewer_left else NONE, fewer)
            _count(fewer[: min(n_low, n_high)], starts, numbers, counts)
            own, shared = _product(counts, counts), _product(counts, whole)
            others = squares - 2 * shared + own
            left, right = (own, others) if fewer_left else (others, own)
            gain = float(left) / float(n_low)
            gain = gain + float(right) / float(n_high) - purity
            if gain > best + SAME * n:
                best, best_feature, best_threshold = gain, feature, threshold
        if best_feature < 0:
            continue
        importance[best_feature] += best
        place = parted(rows, first, last, columns[best_feature], best_threshold)
        stack.append((first, place, n_constant))
        stack.append((place, last, n_constant))
    return shares(importance)
