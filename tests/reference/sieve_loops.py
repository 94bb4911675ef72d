"""Sieve, to the letter of its description: all rows in one place, every sum a loop, every alignment from scratch.

Nothing here is a message, nothing is merged, updated or reused. Two-dimensional tables go in and come out as arrays;
units are lists of columns. What is made of counts alone (gains of splits, ranking losses) is made of fractions: equal
ones are equal.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference import forward_loops

Float = NDArray[np.float64]
Units = Sequence[Sequence[int]]
Range = tuple[float, float]

WORD = 2**64 - 1


@dataclass(frozen=True, eq=False)
class Views:
    """What the labeled rows say of each unit; ranks start at 0, `order` is of units."""

    ranks: dict[str, list[float]]
    scores: list[float]
    relevance: list[float]
    order: list[int]


@dataclass(frozen=True, eq=False)
class Choice:
    """How wrong each number of units is, and the number chosen."""

    k: int
    sizes: list[int]
    loss: list[float]
    error: list[float]


@dataclass(frozen=True, eq=False)
class Selection:
    """What a selection says of each feature; ranks start at 1."""

    scores: Float
    order: list[int]
    relevance: Float
    ranks: dict[str, Float]
    redundancy: Float
    redundant_with: list[int]
    n_selected: int
    choice: Choice | None


def select(
    clients: Mapping[str, ArrayLike],
    X: ArrayLike,
    Y: ArrayLike,
    *,
    n_to_select: int | str | None = None,
    nominal: Collection[int] = (),
    groups: Units = (),
    blend: str = "regression",
    ridge: float | str = "auto",
    n_trees: int = 200,
    seed: int = 0,
    missing: str = "mean",
    center: str = "federation",
) -> Selection:
    """Rank the features of unlabeled clients and a labeled server, `X` (n, d) and `Y` (n, L)."""
    server = np.asarray(X, dtype=np.float64)
    labels = np.asarray(Y, dtype=np.float64)
    n_features = server.shape[1]
    sites = [*(np.asarray(rows, dtype=np.float64) for rows in clients.values()), server]
    everyone = np.vstack(sites)

    # encoding, by the ranges of all rows
    ranges = [present_range(everyone[:, p]) for p in range(n_features)]
    told = [p for p in range(n_features) if missing == "indicator" and any(math.isnan(v) for v in everyone[:, p])]
    columns_of_feature = feature_columns(ranges, nominal, told)
    features_of_unit = numbered_units(n_features, groups)
    units = [[c for p in features for c in columns_of_feature[p]] for features in features_of_unit]
    gapped = [encoded(rows, ranges, nominal, told) for rows in sites]
    whole = np.vstack(gapped)
    parts = [filled(part, part if center == "sites" else whole) for part in gapped]
    own = near_values(parts[-1], np.isnan(gapped[-1]))

    # the order
    if center == "sites":
        C = sum(len(part) * covariance(part) for part in parts) / len(everyone)
    else:
        C = covariance(np.vstack(parts))
    G = likeness(C, units)
    look = regression_look if blend == "regression" else three_look
    seen = look(C, G, units, own, labels, ridge, seed)
    views = seen(own, labels, n_trees)

    # how many
    choice = None
    n_units = default_number(len(units)) if n_to_select is None else n_to_select
    if n_to_select == "auto":
        choice = chosen_number(seen, units, own, labels, n_trees, seed)
        n_units = choice.k
    chosen = views.order[: int(n_units)]
    how_like, like_which = redundancy(G, chosen)

    # from units to features
    unit_of = {p: u for u, features in enumerate(features_of_unit) for p in features}

    def per_feature(values: Sequence[float]) -> Float:
        return np.array([values[unit_of[p]] for p in range(n_features)], dtype=np.float64)

    return Selection(
        scores=per_feature(views.scores),
        order=[p for u in views.order for p in features_of_unit[u]],
        relevance=per_feature(views.relevance),
        ranks={name: per_feature(ranks) + 1 for name, ranks in views.ranks.items()},
        redundancy=per_feature(how_like),
        redundant_with=[
            features_of_unit[like_which[unit_of[p]]][0] if like_which[unit_of[p]] >= 0 else -1
            for p in range(n_features)
        ],
        n_selected=sum(len(features_of_unit[u]) for u in chosen),
        choice=choice,
    )


# Columns and units


def feature_columns(ranges: Sequence[Range], nominal: Collection[int], told: Collection[int] = ()) -> list[list[int]]:
    """The encoded columns of each feature: one, or one per code between the smallest and the largest.

    Of some features one more, which tells where values are missing.

    >>> feature_columns([(0.0, 2.5), (3.0, 5.0), (0.0, 1.0)], nominal=[1])
    [[0], [1, 2, 3], [4]]
    """
    columns, n_columns = [], 0
    for p, (low, high) in enumerate(ranges):
        width = (int(high) - int(low) + 1 if p in nominal else 1) + (p in told)
        columns.append(list(range(n_columns, n_columns + width)))
        n_columns += width
    return columns


def present_range(column: Float) -> Range:
    """The smallest and the largest value; 0 where all are missing."""
    present = [float(v) for v in column if not math.isnan(v)]
    return (min(present), max(present)) if present else (0.0, 0.0)


def filled(part: Float, rows: Float) -> Float:
    """A part of the encoded rows with the mean of all `rows` where a value is missing; 0 where all are.

    >>> filled(np.array([[np.nan, 1.0]]), np.array([[0.25, 0.0], [0.75, 1.0], [np.nan, np.nan]]))
    array([[0.5, 1. ]])
    """
    table = part.copy()
    for c in range(part.shape[1]):
        present = [float(v) for v in rows[:, c] if not math.isnan(v)]
        mean = 0.0 if not present else present[0] if min(present) == max(present) else math.fsum(present) / len(present)
        for i in range(len(part)):
            if math.isnan(part[i, c]):
                table[i, c] = mean
    return table


def near_values(table: Float, gaps: NDArray[np.bool_]) -> Float:
    """Means within 1e-9 of a value of the column are that value, others have 12 digits; `gaps` says where means are."""
    found = table.copy()
    for c in range(gaps.shape[1]):
        present = [float(v) for v, gap in zip(table[:, c], gaps[:, c], strict=True) if not gap]
        for i in range(len(table)):
            near = [v for v in present if abs(v - table[i, c]) <= 1e-9]
            if gaps[i, c]:
                mean = float(table[i, c])
                found[i, c] = min(near, key=lambda v, mean=mean: abs(v - mean)) if near else round(mean, 12)
    return found


def encoded(rows: Float, ranges: Sequence[Range], nominal: Collection[int], told: Collection[int] = ()) -> Float:
    """Numbers on [0, 1], codes as one 0/1 column each, missing values as NaN; of some, whether they are missing.

    >>> encoded(np.array([[2.0, 7.0], [3.0, 6.0]]), [(2.0, 4.0), (6.0, 8.0)], nominal=[1])
    array([[0. , 0. , 1. , 0. ],
           [0.5, 1. , 0. , 0. ]])
    """
    table = []
    for row in rows:
        line: list[float] = []
        for p, (low, high) in enumerate(ranges):
            if math.isnan(row[p]):
                line.extend([math.nan] * len(range(int(low), int(high) + 1)) if p in nominal else [math.nan])
            elif p in nominal:
                line.extend(1.0 if int(row[p]) == code else 0.0 for code in range(int(low), int(high) + 1))
            else:
                line.append(0.0 if low == high else (float(row[p]) - low) / (high - low))
            if p in told:
                line.append(1.0 if math.isnan(row[p]) else 0.0)
        table.append(line)
    return np.array(table)


def numbered_units(n_features: int, groups: Units) -> list[list[int]]:
    """Groups, and features in no group, by their first feature.

    >>> numbered_units(5, [[4, 1], [3, 2]])
    [[0], [1, 4], [2, 3]]
    """
    grouped = {p for group in groups for p in group}
    return sorted([sorted(group) for group in groups] + [[p] for p in range(n_features) if p not in grouped])


def default_number(n_units: int) -> int:
    """40 % of less than 100, 30 % of less than 500, 20 % of less than 1000, else 10 %; at least 1."""
    share = 0.4 if n_units < 100 else 0.3 if n_units < 500 else 0.2 if n_units < 1000 else 0.1
    return max(1, round(share * n_units))


# Covariance, targets, ridge


def centered(column: Sequence[float]) -> list[float]:
    """A column minus its mean; exactly 0 if it is constant."""
    values = [float(v) for v in column]
    if min(values) == max(values):
        return [0.0] * len(values)
    mean = math.fsum(values) / len(values)
    return [v - mean for v in values]


def centered_columns(rows: Float) -> Float:
    return np.array([centered(rows[:, p]) for p in range(rows.shape[1])]).reshape(rows.shape[1], len(rows)).T


def covariance(rows: Float) -> Float:
    """The mean of (x_p - mean_p)(x_q - mean_q): first the means, then the products."""
    n, d = rows.shape
    deviations = centered_columns(rows)
    C = np.zeros((d, d))
    for p in range(d):
        for q in range(d):
            C[p, q] = math.fsum(deviations[i, p] * deviations[i, q] for i in range(n)) / n
    return C


def targets(Y: Float) -> Float:
    """Labels that vary, centered and of length 1, (n, number of them)."""
    kept = []
    for label in range(Y.shape[1]):
        column = centered(Y[:, label])
        length = math.sqrt(math.fsum(v * v for v in column))
        if length > 0:
            kept.append([v / length for v in column])
    return np.array(kept).reshape(len(kept), len(Y)).T


def ridge_coefficients(X: Float, T: Float, ridge: float) -> Float:
    """W of (XᵀX + ρ) W = XᵀT for centered X; ρ is `ridge` mean squared lengths of a column. Nothing explains by 0."""
    n, d = X.shape
    gram, cross = np.zeros((d, d)), np.zeros((d, T.shape[1]))
    for p in range(d):
        for q in range(d):
            gram[p, q] = math.fsum(X[i, p] * X[i, q] for i in range(n))
        for label in range(T.shape[1]):
            cross[p, label] = math.fsum(X[i, p] * T[i, label] for i in range(n))
    rho = ridge * math.fsum(gram[p, p] for p in range(d)) / d
    if rho == 0 or T.shape[1] == 0:
        return cross * 0.0
    for p in range(d):
        gram[p, p] += rho
    return np.linalg.solve(gram, cross)


def likeness(C: Float, units: Units) -> Float:
    """G_uv: the sum of C_pq² over the columns p of u and q of v."""
    G = np.zeros((len(units), len(units)))
    for u, left in enumerate(units):
        for v, right in enumerate(units):
            G[u, v] = math.fsum(C[p, q] ** 2 for p in left for q in right)
    return G


def shares(values: Sequence[float]) -> list[float]:
    """Divided by their sum; all 0 stay 0."""
    total = math.fsum(values)
    return [0.0 if total == 0 else v / total for v in values]


def squared_norms(M: Float, units: Units) -> list[float]:
    """Per unit the sum of squares of its rows of M."""
    return [math.fsum(float(v) ** 2 for p in columns for v in M[p]) for columns in units]


def predicted_relevance(C: Float, units: Units, X: Float, T: Float, ridge: float) -> list[float]:
    """b, as shares: squared covariances of the columns with the labels that the ridge regression predicts."""
    W = ridge_coefficients(centered_columns(X), T, ridge)
    d, n_labels = W.shape
    CW = np.zeros((d, n_labels))
    for p in range(d):
        for label in range(n_labels):
            CW[p, label] = math.fsum(C[p, q] * W[q, label] for q in range(d))
    return shares(squared_norms(CW, units))


def irreplaceable(C: Float, units: Units, X: Float, T: Float, ridge: float) -> list[float]:
    """c, as shares: squared coefficients of standardized columns."""
    standardized = centered_columns(X)
    for p in range(standardized.shape[1]):
        deviation = math.sqrt(C[p, p])
        for i in range(len(standardized)):
            standardized[i, p] = 0.0 if deviation == 0 else standardized[i, p] / deviation
    return shares(squared_norms(ridge_coefficients(standardized, T, ridge), units))


# Ranks


def rounded(scores: Sequence[float]) -> list[float]:
    """Scores in units of the largest one's power of ten, to 10 decimals.

    >>> rounded([250.0, -1.0, 0.1 + 0.2])
    [2.5, -0.01, 0.003]
    """
    largest = max((abs(float(s)) for s in scores), default=0.0)
    scale = 1.0 if largest == 0 else 10.0 ** math.floor(math.log10(largest))
    return [float(np.round(float(s) / scale, 10)) for s in scores]


def mean_ranks(scores: Sequence[float]) -> list[float]:
    """0 for the largest; equal ones share the mean of the places they take.

    >>> mean_ranks([0.1 + 0.2, 0.5, 0.3, 0.0])
    [1.5, 0.0, 1.5, 3.0]
    """
    values = rounded(scores)
    ranks = []
    for mine in values:
        ahead = sum(1 for other in values if other > mine)
        equal = sum(1 for other in values if other == mine)  # itself as well
        ranks.append(ahead + (equal - 1) / 2)
    return ranks


def alignment(b: Sequence[float], G: Float, taken: Sequence[int]) -> float:
    """The cosine of two kernels, up to a constant: b(S) / √(Σ G_uv), u and v in S."""
    inner = math.fsum(b[u] for u in taken)
    squared_norm = math.fsum(G[u, v] for u in taken for v in taken)
    return inner / math.sqrt(squared_norm)


def greedy_alignment(b: Sequence[float], G: Float) -> list[int]:
    """All units, each next one that of the largest alignment; those without variance last.

    >>> greedy_alignment([1.0, 0.9, 0.8], np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    [0, 2, 1]
    """
    taken: list[int] = []
    waiting = [u for u in range(len(b)) if G[u, u] > 0]
    while waiting:
        values = rounded([alignment(b, G, [*taken, u]) for u in waiting])
        winner = waiting[values.index(max(values))]
        taken.append(winner)
        waiting.remove(winner)
    return taken + [u for u in range(len(b)) if G[u, u] == 0]


Look = Callable[[Float, Float, int], Views]


def three_look(C: Float, G: Float, units: Units, _X: Float, _Y: Float, ridge: float | str, seed: int) -> Look:
    """The first Sieve: how units are ranked by the labels of some rows; C and G are those of all rows."""
    strength = 0.3 if isinstance(ridge, str) else ridge

    def seen(X: Float, Y: Float, n_trees: int) -> Views:
        T = targets(Y)
        b = predicted_relevance(C, units, X, T, strength)
        c = irreplaceable(C, units, X, T, strength)
        importances = tree_importances(X, Y, n_trees, seed)
        t = shares([math.fsum(importances[p] for p in columns) for columns in units])

        taken = greedy_alignment(b, G)
        together = [float(taken.index(u)) for u in range(len(units))]
        m = default_number(len(units))
        largest_c, largest_t = max(c) or 1.0, max(t) or 1.0
        scores, relevance = [], []
        for u in range(len(units)):
            linear = m / (m + together[u]) / 4 + math.sqrt(c[u] / largest_c) / 4
            scores.append(linear + math.sqrt(t[u] / largest_t) / 2)
            relevance.append(b[u] / 4 + c[u] / 4 + t[u] / 2)
        ranks = {"together": together, "alone": mean_ranks(c), "trees": mean_ranks(t)}
        return Views(ranks, scores, relevance, best_first(scores, G))

    return seen


def regression_look(C: Float, G: Float, units: Units, own: Float, labels: Float, ridge: float | str, seed: int) -> Look:
    """Sieve: the penalty, and how much the regression has to say, are chosen once, on all labeled rows."""
    per_deviation, R = forward_loops.standardized(C)
    tried = forward_loops.STRENGTHS if isinstance(ridge, str) else (ridge,)
    scaled, label_says = own * per_deviation, forward_loops.says(labels)
    strength, explained = forward_loops.left_out(scaled, targets(labels), label_says, tried)
    say = forward_loops.say_of_the_regression(explained)

    def seen(X: Float, Y: Float, n_trees: int) -> Views:
        W = ridge_coefficients(centered_columns(X) * per_deviation, targets(Y), strength)
        B = (R @ W) * forward_loops.says(Y)
        b = shares(forward_loops.first_gains(R, B, units))
        importances = tree_importances(X, Y, n_trees, seed)
        t = shares([math.fsum(importances[p] for p in columns) for columns in units])
        m = default_number(len(units))
        order = forward_loops.forward_order(R, B, units, 2 * m)
        linear = [float(order.index(u)) for u in range(len(units))]
        largest = max(t) or 1.0
        scores = [
            say * m / (m + place) + (1 - say) * math.sqrt(share / largest)
            for place, share in zip(linear, t, strict=True)
        ]
        relevance = [say * by_regression + (1 - say) * by_trees for by_regression, by_trees in zip(b, t, strict=True)]
        return Views({"linear": linear, "trees": mean_ranks(t)}, scores, relevance, best_first(scores, G))

    return seen


def best_first(scores: Sequence[float], G: Float) -> list[int]:
    """By score, to 12 decimals, those without variance last."""
    return sorted(range(len(scores)), key=lambda u: (G[u, u] == 0, -float(np.round(scores[u], 12)), u))


# Trees


def mix(z: int) -> int:
    """Scramble 64 bits.

    >>> hex(mix(0))
    '0xe220a8397b1dcdaf'
    """
    z = (z + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def tree_key(seed: int, tree: int) -> int:
    return mix(mix(seed & WORD) ^ tree)


class Uniform:
    """Random numbers in [0, 1)."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.counter = 0

    def next(self) -> float:
        self.counter += 1
        return (mix((self.key + self.counter) & WORD) >> 11) / 2**53


def tree_importances(X: Float, Y: Float, n_trees: int, seed: int, most_rows: int = 4096) -> list[float]:
    """Shares of the decrease of impurity, over all trees; copies of a column share equally."""
    different = [[float(v) for v in column] for column in np.unique(np.asarray(X, dtype=np.float64).T, axis=0)]
    labels = [[float(v) for v in row] for row in Y]
    n_candidates = max(1, int(math.sqrt(X.shape[1])))
    totals = [0.0] * len(different)
    for tree in range(n_trees):
        rows = rows_seen(len(labels), most_rows, seed, tree)
        columns, carried = [[column[i] for i in rows] for column in different], [labels[i] for i in rows]
        for p, credit in enumerate(shares(tree_credits(columns, carried, n_candidates, Uniform(tree_key(seed, tree))))):
            totals[p] += credit
    totals = shares(totals)
    which = [different.index([float(v) for v in X[:, q]]) for q in range(X.shape[1])]
    return [totals[p] / which.count(p) for p in which]


def rows_seen(n_rows: int, most_rows: int, seed: int, tree: int) -> list[int]:
    """All rows, or of more than a tree sees so many, each the next draw of those left."""
    if n_rows <= most_rows:
        return list(range(n_rows))
    random, left = Uniform(mix(~tree_key(seed, tree) & WORD)), list(range(n_rows))
    drawn = []
    for place in range(most_rows):
        at = int(random.next() * (n_rows - place))
        drawn.append(left[at])
        left[at] = left[0]
        del left[0]
    return sorted(drawn)


def tree_credits(
    columns: Sequence[Sequence[float]], Y: Sequence[Sequence[float]], n_candidates: int, random: Uniform
) -> list[float]:
    """The gains of one tree's splits, added up by column."""
    n = len(columns)
    credits = [0.0] * n
    features = list(range(n))
    stack = [(list(range(len(Y))), 0)]
    while stack:
        rows, n_constant = stack.pop()
        if len(rows) < 4 or is_settled(rows, Y):
            continue
        best_gain, best = Fraction(0), None
        end = n
        while n - end < n_candidates and n_constant < end:
            pick = n_constant + int(random.next() * (end - n_constant))
            column = columns[features[pick]]
            low, high = min(column[i] for i in rows), max(column[i] for i in rows)
            if low == high:
                features[pick], features[n_constant] = features[n_constant], features[pick]
                n_constant += 1
                continue
            end -= 1
            features[pick], features[end] = features[end], features[pick]
            threshold = low + random.next() * (high - low)
            left = [i for i in rows if column[i] <= threshold]
            right = [i for i in rows if column[i] > threshold]
            if len(left) < 2 or len(right) < 2:
                continue
            gain = impurity_decrease(left, right, Y)
            if gain > best_gain:
                best_gain, best = gain, (features[end], left, right)
        if best is not None:
            p, left, right = best
            credits[p] += float(best_gain)
            stack.append((left, n_constant))
            stack.append((right, n_constant))
    return credits


def carriers(rows: Sequence[int], Y: Sequence[Sequence[float]], label: int) -> int:
    return sum(1 for i in rows if Y[i][label] > 0)


def knowing(rows: Sequence[int], Y: Sequence[Sequence[float]], label: int) -> int:
    """In how many of the rows the label is known."""
    return sum(1 for i in rows if not math.isnan(Y[i][label]))


def is_settled(rows: Sequence[int], Y: Sequence[Sequence[float]]) -> bool:
    """Whether every label is carried by none or all of the rows in which it is known."""
    return all(carriers(rows, Y, label) in (0, knowing(rows, Y, label)) for label in range(len(Y[0])))


def impurity_decrease(left: Sequence[int], right: Sequence[int], Y: Sequence[Sequence[float]]) -> Fraction:
    """The sum over labels of a²/n_left + b²/n_right - c²/n, n being the rows in which the label is known.

    >>> impurity_decrease([0, 1], [2, 3], [[1, 1], [1, 0], [0, 1], [0, 0]])
    Fraction(1, 1)
    """
    gain = Fraction(0)
    for label in range(len(Y[0])):
        for rows, sign in ((left, 1), (right, 1), ([*left, *right], -1)):
            carrying, n = carriers(rows, Y, label), knowing(rows, Y, label)
            if n:
                gain += sign * Fraction(carrying * carrying, n)
    return gain


# Redundancy and the number of units


def redundancy(G: Float, chosen: Sequence[int]) -> tuple[list[float], list[int]]:
    """Per unit how like the most similar other chosen unit is, and which; 0 and -1 if none is like it at all."""
    how_like, like_which = [], []
    for u in range(len(G)):
        best, value, twin = 0.0, 0.0, -1
        for v in sorted(chosen):
            if v == u or G[u, u] == 0 or G[v, v] == 0:
                continue
            cosine = G[u, v] / math.sqrt(G[u, u] * G[v, v])
            if np.round(cosine, 10) > best:
                best, value, twin = float(np.round(cosine, 10)), math.sqrt(cosine), v
        how_like.append(value)
        like_which.append(twin)
    return how_like, like_which


def chosen_number(seen: Look, units: Units, X: Float, Y: Float, n_trees: int, seed: int) -> Choice:
    """The fewest units whose ranking of labels is about as good as that of the best number."""
    n, n_labels = Y.shape
    sizes = sorted({int(k) for k in np.round(np.geomspace(1, len(units), 20))})
    judged = [i for i in range(n) if 0 < sum(Y[i]) < n_labels]
    losses: dict[tuple[int, int], list[Fraction]] = {(i, k): [] for i in judged for k in sizes}  # three of each
    for repeat in range(3):
        shuffled = np.random.default_rng([seed, 1, repeat]).permutation(n)
        for f in range(5):
            fold = [int(i) for i in shuffled[f::5]]
            taught = [i for i in range(n) if i not in fold]
            views = seen(X[taught], Y[taught], math.ceil(n_trees / 4))
            for k in sizes:
                columns = [c for u in views.order[:k] for c in units[u]]
                for i in fold:
                    if i in judged:
                        losses[i, k].append(ranking_loss(Y[i], neighbor_scores(X, Y, columns, i, taught)))
    per_row = {k: [sum(losses[i, k]) / 3 for i in judged] for k in sizes}
    loss = [sum(per_row[k]) / len(judged) for k in sizes]
    best = loss.index(min(loss))
    squared_error = []
    for k in sizes:
        differences = [mine - least for mine, least in zip(per_row[k], per_row[sizes[best]], strict=True)]
        mean = sum(differences) / len(judged)
        variance = sum((v - mean) ** 2 for v in differences) / (len(judged) - 1)
        squared_error.append(variance / len(judged))
    good_enough = [
        k for k, value, square in zip(sizes, loss, squared_error, strict=True) if (value - loss[best]) ** 2 <= square
    ]
    return Choice(good_enough[0], sizes, [float(v) for v in loss], [math.sqrt(v) for v in squared_error])


def neighbor_scores(X: Float, Y: Float, columns: Sequence[int], i: int, taught: Sequence[int]) -> list[float]:
    """Per label the share of the ten nearest taught rows that carry it, and as one more row that of all of them."""
    distances = []
    for j in taught:
        a, b = [float(X[i, c]) for c in columns], [float(X[j, c]) for c in columns]
        own, other = math.fsum(v * v for v in a), math.fsum(v * v for v in b)
        product = math.fsum(v * w for v, w in zip(a, b, strict=True))
        distances.append(float(np.round(own - 2 * product + other, 9)))
    nearest = sorted(range(len(taught)), key=lambda place: (distances[place], place))[:10]
    scores = []
    for label in range(Y.shape[1]):
        count = sum(float(Y[taught[place], label]) for place in nearest)
        mean = sum(float(Y[j, label]) for j in taught) / len(taught)
        scores.append((count + mean) / (len(nearest) + 1))
    return scores


def ranking_loss(y: Sequence[float], scores: Sequence[float]) -> Fraction:
    """The share of pairs of a label of the row and another in which the label is not scored higher."""
    pairs = [(a, b) for a in range(len(y)) for b in range(len(y)) if y[a] and not y[b]]
    return Fraction(sum(1 for a, b in pairs if scores[a] <= scores[b]), len(pairs))


# Reasons


def label_correlations(C: Float, units: Units, X: Float, Y: Float, ridge: float) -> list[list[float]]:
    """Per label and unit, the absolute correlation that the regression expects over all rows; NaN for constants."""
    scale, _ = forward_loops.standardized(C)
    W = scale[:, None] * ridge_coefficients(centered_columns(X) * scale, targets(Y), ridge)
    covered = iter((C @ W).T)
    found = []
    for label in Y.T:
        if min(label) == max(label):
            found.append([math.nan] * len(units))
            continue
        with_label, length = next(covered), math.sqrt(len(Y))
        by_column = [
            min(1.0, abs(with_label[p]) * length / math.sqrt(C[p, p])) if C[p, p] > 0 else 0.0 for p in range(len(C))
        ]
        found.append([max(by_column[p] for p in columns) for columns in units])
    return found


def place_by_chance(u: int, by_chance: float, b: Sequence[float], G: Float) -> int:
    """In front of which of the others, taken in their real order, unit u would be taken if it had this relevance."""
    others = [v for v in greedy_alignment(b, G) if v != u and G[v, v] > 0]
    with_chance = [by_chance if v == u else b[v] for v in range(len(b))]
    if G[u, u] == 0:
        return len(others)
    for place, other in enumerate(others):
        best = alignment(with_chance, G, [*others[:place], other])
        if alignment(with_chance, G, [*others[:place], u]) >= best * (1 - 1e-10):
            return place
    return len(others)
