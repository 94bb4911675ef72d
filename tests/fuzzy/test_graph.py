"""The feature graph: D as a distance between relations, and the facts that let clients share the work on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import fuzzy
from fedsieve.errors import DataError
from fedsieve.fuzzy.graph import pagerank_steps
from reference import fuzzy_loops
from strategies import KINDS, tables, with_gaps

ROUNDING = 1e-13


@st.composite
def relation_lists(draw, max_rows=12):
    """The relations of several features, some of them nominal, with or without gaps."""
    X = draw(tables(max_rows=max_rows, max_features=5))
    X = with_gaps(X, draw(st.integers(0, 99)), share=draw(st.sampled_from([0.0, 0.2])))
    kind = draw(st.sampled_from(KINDS))
    return [fuzzy_loops.relation(x, draw(st.integers(0, 20)) / 16, kind, draw(st.booleans())) for x in X.T]


def distance(relations):
    return fuzzy.correlation_distance(fuzzy_loops.pair_sums(relations), len(relations[0]))


@given(relation_lists())
def test_distance_is_joint_entropy_less_mutual_information(relations):
    assert_allclose(distance(relations), fuzzy_loops.correlation_distance(relations), atol=ROUNDING)


@given(relation_lists())
def test_distance_is_the_mean_absolute_difference_of_relations(relations):  # F1
    expected = [[np.abs(R - T).mean() for T in relations] for R in relations]
    assert_allclose(distance(relations), expected, atol=ROUNDING)


@given(relation_lists())
def test_distance_is_a_pseudo_metric(relations):
    D = distance(relations)
    assert_array_equal(np.diagonal(D), 0)
    assert_array_equal(D, D.T)
    assert np.all((D >= 0) & (D <= 1))
    through = D[:, :, None] + D[None, :, :]  # D_pq + D_qb
    assert np.all(D[:, None, :] <= through + ROUNDING)


@given(tables(max_rows=15, max_features=3), st.sampled_from(KINDS))
def test_copies_shifts_and_mirror_images_are_at_distance_zero(X, kind):
    X = np.round(X * 16) / 16  # shifts without rounding
    features = [*X.T, X[:, 0], 1 - X[:, 0], X[:, 0] + 2]
    D = distance([fuzzy.relation(x, 0.25, kind) for x in features])
    copies = [0, *range(X.shape[1], len(features))]
    assert_allclose(D[np.ix_(copies, copies)], 0, atol=ROUNDING)
    for other in copies[1:]:
        assert_allclose(D[other], D[0], atol=ROUNDING)


@given(relation_lists(max_rows=8), st.randoms(use_true_random=False))
def test_distance_follows_features_and_ignores_the_order_of_rows(relations, random):
    n_rows, n_features = len(relations[0]), len(relations)
    rows, features = random.sample(range(n_rows), n_rows), random.sample(range(n_features), n_features)
    moved = distance([relations[p][np.ix_(rows, rows)] for p in features])
    assert_allclose(moved, distance(relations)[np.ix_(features, features)], atol=ROUNDING)


def test_rounding_leaves_no_negative_distance():
    sums = np.array([[0.1 + 0.2, 0.3 + 2e-16], [0.3 + 2e-16, 0.3]])
    assert sums[0, 0] + sums[1, 1] < 2 * sums[0, 1]
    assert fuzzy.correlation_distance(sums, 1).min() == 0


@st.composite
def clients(draw):
    """For each of several clients the relations of the same features on its own rows."""
    n_features = draw(st.integers(2, 4))
    radii = [draw(st.integers(1, 16)) / 16 for _ in range(n_features)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    parts = [rng.integers(0, 9, (size, n_features)) / 8 for size in sizes]
    return [[fuzzy_loops.relation(x, eps) for x, eps in zip(X.T, radii, strict=True)] for X in parts]


def block_diagonal(blocks):
    n = sum(map(len, blocks))
    whole, start = np.zeros((n, n)), 0
    for block in blocks:
        stop = start + len(block)
        whole[start:stop, start:stop] = block
        start = stop
    return whole


@given(clients())
def test_pair_sums_of_a_block_diagonal_relation_are_sums_over_its_blocks(parts):  # F2
    whole = [block_diagonal(blocks) for blocks in zip(*parts, strict=True)]
    added = sum(fuzzy_loops.pair_sums(part) for part in parts)
    assert_allclose(added, fuzzy_loops.pair_sums(whole), rtol=ROUNDING)
    n_rows = len(whole[0])
    assert_allclose(fuzzy.correlation_distance(added, n_rows), fuzzy_loops.correlation_distance(whole), atol=ROUNDING)


def drive(steps, product):
    """Run the iteration to its end, with `product` in the place of the graph."""
    vector = next(steps)
    while True:
        try:
            vector = steps.send(product(vector))
        except StopIteration as finished:
            return finished.value


@given(clients(), st.integers(0, 2**32 - 1))
def test_pagerank_needs_only_the_clients_products_with_a_vector(parts, seed):  # F3
    whole = [block_diagonal(blocks) for blocks in zip(*parts, strict=True)]
    n_rows, n_features = len(whole[0]), len(whole)
    weights = np.random.default_rng(seed).random(n_features)
    sums = [fuzzy_loops.pair_sums(part) for part in parts]
    shares = [(np.diagonal(S)[:, None] + np.diagonal(S)[None, :] - 2 * S) / n_rows**2 for S in sums]

    def product(vector):  # each client multiplies by its own part and keeps it
        return sum(share @ vector for share in shares)

    # Rounding must not turn a vertex without edges into one with a tiny degree.
    degrees = product(np.ones(n_features)).round(14)
    steps = pagerank_steps(weights, degrees, 0.85, tol=1e-13, max_iter=500)
    ranked = drive(steps, product)
    D = fuzzy_loops.correlation_distance(whole).round(14)
    assert_allclose(ranked.scores, fuzzy_loops.pagerank_solution(D, weights), atol=1e-11)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 2)])
def test_distance_needs_a_square_of_pair_sums(shape):
    with pytest.raises(DataError, match=r"fuzzy\.correlation_distance: need one row and one column per feature"):
        fuzzy.correlation_distance(np.ones(shape), 2)
