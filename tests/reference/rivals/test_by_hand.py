"""The twins themselves, on examples small enough to work out on paper."""

import numpy as np
import pytest

from . import (
    bmfs_loops,
    d2f_loops,
    fimf_loops,
    fsnm_loops,
    grmfs_loops,
    mgfs_loops,
    mlaco_loops,
    mlfrs_loops,
    mlfsnrs_loops,
    mlnrs_loops,
    rfnmifs_loops,
)
from .neighborhoods import all_neighbors


def columns(*values):
    return np.array(values, dtype=np.float64).T


A, B = [0, 0, 1, 1], [0, 1, 0, 1]
A_XOR_B = [0, 1, 1, 0]


def test_d2f_prefers_the_feature_that_completes_an_exclusive_or():
    assert d2f_loops.order(columns(A, [5, 5, 5, 5], B), columns(A_XOR_B)) == [0, 2, 1]


def test_d2f_gives_a_copy_nothing():
    # after f0: J = 1 - I(f; f0; y) = 1 - 1 for its copy, 0 - 0 for the independent feature
    assert d2f_loops.order(columns(A, B, A), columns(A)) == [0, 1, 2]


@pytest.mark.parametrize(("n_labels", "expected"), [(10, [1, 1, 0]), (1, [1, 0, 0])])
def test_fimf_counts_interaction_within_the_chosen_labels_only(n_labels, expected):
    X, Y = columns(A, A_XOR_B, [3, 3, 3, 3]), columns(A, B)
    assert fimf_loops.scores(X, Y, n_labels=n_labels) == pytest.approx(expected)
    assert fimf_loops.order(X, Y, n_labels=n_labels) == [0, 1, 2]


def test_fsnm_first_two_solves():
    X, Y = [[2, 0], [0, 1]], [[1], [1]]
    assert fsnm_loops.weight_norms(X, Y, max_iter=1) == pytest.approx([2 / 5, 1 / 2])
    # residuals 1/5 and 1/2: rows weigh 5/2 and 1, features 5/4 and 1
    assert fsnm_loops.weight_norms(X, Y, max_iter=2) == pytest.approx([5 / 11.25, 1 / 2])
    assert fsnm_loops.order(X, Y, max_iter=2) == [1, 0]


def test_fsnm_ranks_no_intercept():
    assert sorted(fsnm_loops.order(columns(A, B), columns(A), fit_intercept=True)) == [0, 1]


def test_bmfs_lists_a_round_from_the_most_frequent_label_on():
    often, seldom = [1, 1, 1, 0], [1, 0, 0, 0]
    X = columns(seldom, often, [0, 0, 0, 1])
    assert bmfs_loops.order(X, columns(often, seldom)) == [1, 0, 2]


def test_bmfs_constant_features():
    X, Y = columns([0, 0, 0, 1], [7, 7, 7, 7], [1, 2, 1, 0]), columns([1, 1, 1, 0])
    assert bmfs_loops.order(X, Y, constant="last") == [2, 0, 1]
    assert bmfs_loops.order(X, Y, constant="published") == [1, 2, 0]


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3), (5, 1), (1, 5)])
def test_bmfs_match_is_the_cheapest(shape):
    C = np.random.default_rng(0).uniform(0, 2, shape).tolist()
    match = bmfs_loops.cheapest_match(C)
    assert len(match) == min(shape)
    assert sum(C[row][t] for t, row in match.items()) == pytest.approx(bmfs_loops.cheapest_cost(C))


def test_mgfs_star():
    # 1 - correlation is 0, 0, 2: edges 0-2 and 1-2 only; c2 = 0.05 + 0.85 (c0 + c1), c0 = 0.05 + 0.425 c2
    X, Y = columns(A, A, [1, 1, 0, 0]), columns(A)
    assert mgfs_loops.order(X, Y) == [2, 0, 1]
    center = 0.135 / 0.2775
    expected = [0.05 + 0.425 * center, 0.05 + 0.425 * center, center]
    assert mgfs_loops.pagerank([[0, 0, 2], [0, 0, 2], [2, 2, 0]]) == pytest.approx(expected, abs=1e-3)


def test_mgfs_constant_features():
    X, Y = columns([7, 7, 7, 7], A, [1, 1, 0, 0]), columns(A)
    assert mgfs_loops.order(X, Y, constant="last") == [1, 2, 0]
    assert mgfs_loops.order(X, Y, constant="published") == [2, 0, 1]  # the constant one stands where f1 does


def test_mlaco_one_cycle_of_single_steps():
    # three ants, one step each, always to the best: f0 -> f1, f1 -> f0, f2 -> f0
    X, Y = columns([1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]), columns([1, 1, 0, 0])
    expected = [0.9 + 2 / 3, 0.9 / np.sqrt(2) + 1 / 3, 0]
    assert mlaco_loops.pheromone(X, Y, n_cycles=1) == pytest.approx(expected)
    assert mlaco_loops.order(X, Y, n_cycles=1) == [0, 1, 2]


def test_mlaco_single_feature():
    assert mlaco_loops.order(columns(A), columns(A, B)) == [0]


def test_rfnmifs_weights_and_information():
    # to the hit (1, 0), to the two misses (1/2, 1) on the mean; f1 halves the rows and so tells y = 1 by one bit
    X, Y = columns(B, A), columns(A)
    rows, labels = X.tolist(), Y.astype(int).tolist()
    assert rfnmifs_loops.relief_weights(rows, labels) == pytest.approx([-0.5, 1])
    alike = rfnmifs_loops.alike_rows(labels)
    assert rfnmifs_loops.information(all_neighbors(rows, [1], [0, 0, 0, 0]), alike) == pytest.approx(0.5)
    assert rfnmifs_loops.information(all_neighbors(rows, [], [0, 0, 0, 0]), alike) == 0
    assert rfnmifs_loops.order(X, Y) == [1, 0]


def test_mlfsnrs_fisher_score_and_dependency():
    rows, labels = [[0.0], [0.5], [0.5], [1.0]], [[0], [0], [1], [1]]
    assert mlfsnrs_loops.fisher_scores(rows, labels) == pytest.approx([0.25 / 0.25])
    assert mlfsnrs_loops.dependency(all_neighbors(rows, [0], [0, 0, 0, 0]), labels) == 1 / 2
    everybody = all_neighbors(rows, [], [0, 0, 0, 0])
    assert mlfsnrs_loops.dependency(everybody, [[0, 1], [0, 1], [1, 1], [1, 1]]) == 1 / 2
    assert mlfsnrs_loops.order(columns(B, A), columns(A)) == [1, 0]


def test_mlfsnrs_picks_candidates_only():
    X, Y = columns(A, B, [0, 1, 2, 3]), columns(A, A_XOR_B)
    # A is the only candidate (perfect for one label); the rest follows by Fisher score
    assert mlfsnrs_loops.order(X, Y, keep=0.3) == [0, 2, 1]


def test_mlnrs_stop():
    # no feature alone purifies the neighbors of rows 0 and 1, but f1 and f2 do together
    X = columns([0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1])
    Y = columns([1, 1, 0, 0, 0, 0])
    everybody, near = (all_neighbors(X.tolist(), chosen, [0.15] * 6) for chosen in ([], [2]))
    assert mlnrs_loops.gamma(everybody, Y.tolist()) == pytest.approx((4 / 6, (4 + 2 * 2 / 6) / 6))
    assert mlnrs_loops.gamma(near, Y.tolist()) == pytest.approx((4 / 6, (4 + 2 * 2 / 3) / 6))
    assert mlnrs_loops.order(X, Y) == [2, 0, 1]


@pytest.mark.parametrize(("n_neighbors", "expected"), [(1, 0), (2, 1 / 2), (5, 1 / 2)])
def test_mlfrs_dependency(n_neighbors, expected):
    X, Y = columns(B, A), columns(A)
    different = mlfrs_loops.different_rows(Y.tolist())
    assert different == [[2, 3], [2, 3], [0, 1], [0, 1]]
    start = mlfrs_loops.nothing_apart(different)
    first, second = (mlfrs_loops.apart(X.tolist(), different, f, start) for f in (0, 1))
    assert mlfrs_loops.dependency(first, n_neighbors) == expected
    assert mlfrs_loops.dependency(second, n_neighbors) == 1
    assert mlfrs_loops.apart(X.tolist(), different, 0, second) == second  # the largest difference counts
    assert mlfrs_loops.order(X, Y, n_neighbors=n_neighbors) == [1, 0]


def test_grmfs_two_binary_features():
    # every relation is equality; the only row of similarity >= 0 is the one of the same class
    X, Y = columns(A, B), columns(A, [1, 1, 0, 0])
    relations = [grmfs_loops.relation(column, 1.2, "paper") for column in (A, B)]
    decisions = grmfs_loops.fuzzy_decisions(relations, Y)
    assert decisions == Y.tolist()
    assert grmfs_loops.least_similar(grmfs_loops.label_similarity(decisions), 3) == [[1], [0], [3], [2]]
    # I(f0 f1; D) = 1 both ways, I(f1; D | f0) = 0, I(f0; D | f1) = 1, I(f0; f1) = 0
    assert grmfs_loops.edge_weights(relations, grmfs_loops.label_relation(decisions)) == [[0, 1], [2, 0]]
    # node weights 0 and 1/3: g0 = 0.85 g1, g1 = 0.15 / 3 + 0.85 g0
    second = 0.05 / (1 - 0.85**2)
    assert grmfs_loops.scores(X, Y, max_iter=200) == pytest.approx([0.85 * second, second])
    assert grmfs_loops.order(X, Y) == [1, 0]
    assert grmfs_loops.scores(X, Y, mode="code") == pytest.approx([0.5, 0.5], abs=1e-3)


def test_grmfs_cuts_differ_between_paper_and_code():
    column = [0, 1, 4]  # scaled 0, 1/4, 1 with deviation 0.520, radius 0.434
    assert grmfs_loops.relation(column, 1.2, "paper") == [[1, 0.75, 0], [0.75, 1, 0], [0, 0, 1]]
    assert grmfs_loops.relation(column, 1.2, "code") == [[1, 0.75, 0], [0.75, 1, 0], [0, 0, 1]]
    column = [0, 2, 4]  # scaled 0, 1/2, 1 with radius 0.417: neither the difference 1/2 is within nor the similarity
    assert grmfs_loops.relation(column, 1.2, "paper")[0] == [1, 0, 0]
    assert grmfs_loops.relation(column, 1.2, "code")[0] == [1, 0.5, 0]


TWINS = [
    (bmfs_loops, {}),
    (bmfs_loops, {"constant": "published"}),
    (d2f_loops, {}),
    (d2f_loops, {"n_bins": 3}),
    (fimf_loops, {}),
    (fsnm_loops, {}),
    (fsnm_loops, {"fit_intercept": True}),
    (grmfs_loops, {}),
    (grmfs_loops, {"mode": "code"}),
    (mgfs_loops, {}),
    (mgfs_loops, {"constant": "published"}),
    (mlaco_loops, {"n_cycles": 3}),
    (mlfrs_loops, {}),
    (mlfsnrs_loops, {}),
    (mlnrs_loops, {}),
    (rfnmifs_loops, {}),
]
FEATURES = {
    "one": [[3, 1, 4, 1, 5]],
    "constant": [[2, 2, 2, 2, 2], [0, 0, 0, 0, 0]],
    "copies": [[3, 1, 4, 1, 5], [7, 7, 7, 7, 7], [3, 1, 4, 1, 5], [0, 1, 0, 1, 1]],
}
LABELS = {
    "one": [[0, 1, 0, 1, 1]],
    "constant": [[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]],
    "many": [[0, 1, 0, 1, 1], [1, 0, 1, 0, 0], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1], [0, 1, 0, 1, 1]],
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize(("twin", "parameters"), TWINS)
def test_every_twin_ranks_all_features_of_degenerate_data(twin, parameters, features, labels):
    X, Y = columns(*FEATURES[features]), columns(*LABELS[labels])
    assert sorted(twin.order(X, Y, **parameters)) == list(range(X.shape[1]))
