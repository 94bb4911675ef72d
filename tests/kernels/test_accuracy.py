"""How exact pair sums are: closed forms, the threshold in float64, the error bound at its worst, large sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import fuzzy, kernels
from fedsieve.kernels import continuous
from fedsieve.kernels.degrees import ONE, cuts
from kernels.twins import exact_pair_sums

TINY = 1e-12  # far below the resolution of float32 and of the stored degrees


def squared_counts(x, z):
    """S_pb of two 0/1 features: the sum of the four squared counts."""
    return sum(int(np.sum((x == a) & (z == b))) ** 2 for a in (0, 1) for b in (0, 1))


@pytest.mark.parametrize("n_rows", [3000, 70_000])
def test_0_1_features_have_a_closed_form(rng, n_rows):
    X = (rng.random((n_rows, 3)) < [0.5, 0.1, 0.9]).astype(float)
    expected = [[squared_counts(x, z) for z in X.T] for x in X.T]
    assert_array_equal(kernels.pair_sums(X, 0.3), expected)


def test_row_pairs_of_0_1_features_give_the_closed_form_too(rng):
    X = (rng.random((3000, 3)) < [0.5, 0.1, 0.9]).astype(float)
    expected = [[squared_counts(x, z) for z in X.T] for x in X.T]
    sums = continuous.sums_from_values(np.ascontiguousarray(X.T), np.full(3, 0.3), False, 3)
    assert_array_equal(np.triu(sums / ONE), np.triu(expected))


def test_the_largest_table_does_not_overflow():
    n_rows = (1 << 20) - 1
    X = np.zeros((n_rows, 2))
    X[: n_rows // 2, 1] = 0.5
    first, second = n_rows // 2, n_rows - n_rows // 2
    sums = kernels.pair_sums(X, 0.75)
    mixed = first**2 + second**2 + first * second  # two halves that are related by one half
    assert_allclose(sums, [[float(n_rows) ** 2, mixed], [mixed, mixed]], rtol=1e-15)


def test_a_strip_of_fully_related_pairs_does_not_overflow():
    # 480 degrees of 1 fill most of 32 bits; a strip of 512 would come out as 0.
    for n_rows in (31, 32, 33, 100):
        sums = continuous.sums_from_values(np.zeros((5, n_rows)), np.zeros(5), False, 5)
        assert_array_equal(np.triu(sums), np.triu(np.full((5, 5), n_rows**2 * ONE)))


@pytest.mark.parametrize("as_continuous", [True, False])
def test_the_threshold_is_taken_in_float64(as_continuous):
    radius = 0.3
    pairs = np.array([[0.0, radius + TINY], [0.0, radius], [0.0, radius - TINY]]).T  # beyond, at, within
    assert len(np.unique(pairs[1].astype(np.float32))) == 1  # float32 could not tell
    n_padding = 30 if as_continuous else 0
    padding = 10 + np.arange(n_padding)[:, None] * np.ones(3)  # many values, none near another
    X = np.vstack([pairs, padding])
    related = np.diagonal(kernels.pair_sums(X, radius)) - len(X)
    assert_allclose(related, [0, 1.4, 1.4], rtol=2.4e-7)
    # Under "similarity" the pair needs more than the radius: 1 - 0.3 is above 0.7 - TINY, and not above 0.7 + TINY.
    for edge, expected in ((0.7 - TINY / 2, [0, 1.4, 1.4]), (0.7 + TINY / 2, [0, 0, 1.4])):
        related = np.diagonal(kernels.pair_sums(X, edge, "similarity")) - len(X)
        assert_allclose(related, expected, rtol=2.4e-7)


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_the_error_bound_holds_where_sums_are_smallest_for_their_degrees(rng, kind):
    # Rows in the four corners: three quarters of the pairs carry a tiny degree that rounding moves by its whole half.
    n_rows, inside = 200, 1 - 2.0**-24
    corners = rng.integers(0, 2, (n_rows, 2)) * inside
    X = np.hstack([corners, rng.random((n_rows, 2))])
    radius = 1.0 if kind == "distance" else 0.0
    relations = [fuzzy.relation(x, radius, kind) for x in X.T]
    float_sums = np.array([[np.minimum(R, T).sum() for T in relations] for R in relations])
    error = np.abs(kernels.pair_sums(X, radius, kind) / float_sums - 1)
    assert error.max() <= 2.4e-7
    assert error.max() > 1e-7  # the case is near the worst one, or this test would show nothing


def test_degrees_are_rounded_to_the_nearest_not_cut_off(rng):
    # Cutting off would lose half a step of 2^-23 per pair on average, always in the same direction.
    X = rng.random((400, 4))
    relations = [fuzzy.relation(x, 1.0) for x in X.T]
    float_sums = np.array([[np.minimum(R, T).sum() for T in relations] for R in relations])
    assert_allclose(kernels.pair_sums(X, 1.0), float_sums, rtol=2e-9)
    assert_array_equal(kernels.pair_sums(X, 1.0), exact_pair_sums(X, 1.0))


def test_cuts_cap_the_similarity_and_leave_the_radius_alone():
    radius = np.array([0.5, 1.0, 2.0])
    nominal = np.array([True, False, False])
    assert_array_equal(cuts(radius, "distance", nominal), [0, 1, 2])
    assert_array_equal(cuts(radius, "similarity", nominal), [1 - 1e-12] * 3)
    assert_array_equal(cuts(radius, "similarity"), [0.5, 1 - 1e-12, 1 - 1e-12])
    assert_array_equal(radius, [0.5, 1, 2])
