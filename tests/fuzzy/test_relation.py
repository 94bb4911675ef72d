"""Relations of one feature: Equation 3 against its loop twin, and the laws of Definition 1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve import fuzzy
from fedsieve.errors import DataError, ParameterError
from reference import fuzzy_loops
from strategies import KINDS, columns, with_gaps

kinds = st.sampled_from(KINDS)
# Sixteenths meet the differences of few-valued features exactly, so that the threshold itself is tested.
radii = st.one_of(st.integers(0, 24).map(lambda k: k / 16), st.integers(0, 1000).map(lambda k: k / 1000))
features = st.integers(2, 25).flatmap(columns)
sixteenths = st.lists(st.integers(0, 16), min_size=2, max_size=12).map(lambda ks: np.array(ks) / 16)


@given(features, radii, kinds, st.booleans(), st.booleans(), st.integers(0, 99))
def test_relation_equals_its_loop_twin(x, radius, kind, nominal, gaps, seed):
    if gaps:
        x = with_gaps(x, seed, share=0.3)
    R = fuzzy.relation(x, radius, kind, nominal=nominal)
    assert_array_equal(R, fuzzy_loops.relation(x, radius, kind, nominal))


@given(features, radii, kinds, st.booleans(), st.integers(0, 99))
def test_relation_is_reflexive_symmetric_and_bounded(x, radius, kind, nominal, seed):
    R = fuzzy.relation(with_gaps(x, seed), radius, kind, nominal=nominal)
    assert R.dtype == np.float64
    assert np.all((R >= 0) & (R <= 1))
    assert_array_equal(np.diagonal(R), 1)
    assert_array_equal(R, R.T)


@given(sixteenths, radii, kinds, st.integers(-8, 8))
def test_relation_knows_differences_only(x, radius, kind, shift):
    R = fuzzy.relation(x, radius, kind)
    assert_array_equal(fuzzy.relation(x + shift, radius, kind), R)
    assert_array_equal(fuzzy.relation(1 - x, radius, kind), R)


@given(features, radii, kinds, st.booleans(), st.randoms(use_true_random=False))
def test_relation_follows_a_permutation_of_the_rows(x, radius, kind, nominal, random):
    order = random.sample(range(len(x)), len(x))
    R = fuzzy.relation(x, radius, kind, nominal=nominal)
    assert_array_equal(fuzzy.relation(x[order], radius, kind, nominal=nominal), R[np.ix_(order, order)])


def test_a_difference_equal_to_the_radius_is_related_by_distance_only():
    x = [0.0, 0.5]  # here difference, similarity and radius are all one half
    assert fuzzy.relation(x, 0.5, "distance")[0, 1] == 0.5
    assert fuzzy.relation(x, 0.5, "similarity")[0, 1] == 0.0


@pytest.mark.parametrize("radius", [1 - 1e-12, 1.0, 1.5])
def test_equal_values_are_related_by_similarity_at_any_radius(radius):
    assert_array_equal(fuzzy.relation([0.3, 0.3, 0.4], radius, "similarity"), [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("nominal", [True, False])
def test_missing_values_are_unrelated_even_to_each_other(nominal):
    x = [0.5, np.nan, np.nan, 0.5]
    expected = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]]
    for kind in KINDS:
        assert_array_equal(fuzzy.relation(x, 0.25, kind, nominal=nominal), expected)


def test_codes_of_a_nominal_feature_need_not_be_scaled():
    for radius, kind in ((0.0, "distance"), (99.0, "distance"), (0.0, "similarity")):
        assert_array_equal(fuzzy.relation([3, 4, 3], radius, kind, nominal=True), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])


@given(sixteenths, kinds)
def test_membership_takes_one_radius_per_difference(x, kind):
    radius = np.linspace(0, 1.2, len(x))
    each = [fuzzy.membership(difference, eps, kind) for difference, eps in zip(x, radius, strict=True)]
    assert_array_equal(fuzzy.membership(x, radius, kind), each)
    related = x <= radius if kind == "distance" else 1 - x > np.minimum(radius, 1 - 1e-12)
    assert_array_equal(each, np.where(related, 1 - x, 0))


def test_membership_never_falls_below_zero():
    assert_array_equal(fuzzy.membership([0.5, 1.0, 1.5], 2.0), [0.5, 0, 0])


@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_properties_equal_their_loop_twins(n, seed, mend_diagonal, mend_symmetry):
    R = np.random.default_rng(seed).integers(0, 3, (n, n)) / 2
    if mend_diagonal:
        np.fill_diagonal(R, 1)
    if mend_symmetry:
        R = np.maximum(R, R.T)
    found = fuzzy.properties(R)
    reflexive, symmetric = fuzzy_loops.is_reflexive(R), fuzzy_loops.is_symmetric(R)
    transitive = fuzzy_loops.is_transitive(R)
    assert (found.reflexive, found.symmetric, found.transitive) == (reflexive, symmetric, transitive)
    assert found.is_similarity == (reflexive and symmetric)
    assert found.is_equivalence == (reflexive and symmetric and transitive)


@given(features, radii, kinds)
def test_every_relation_is_a_similarity_and_a_nominal_one_an_equivalence(x, radius, kind):
    assert fuzzy.properties(fuzzy.relation(x, radius, kind)).is_similarity
    assert fuzzy.properties(fuzzy.relation(x, radius, kind, nominal=True)).is_equivalence


def test_transitivity_is_of_the_max_min_kind():
    chain = np.array([[1, 0.75, 0.5], [0.75, 1, 0.75], [0.5, 0.75, 1]])
    assert not fuzzy.properties(chain).transitive  # 0.5 < min(0.75, 0.75)
    chain[0, 2] = chain[2, 0] = 0.75
    assert fuzzy.properties(chain).is_equivalence


def test_properties_forgive_rounding_up_to_atol():
    R = np.array([[1 - 1e-9, 0.5], [0.5 + 1e-9, 1]])
    assert not fuzzy.properties(R).is_similarity
    assert fuzzy.properties(R, atol=1e-8).is_equivalence


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fuzzy.relation([[0.0], [1.0]], 0.1), DataError, r"fuzzy\.relation: x must be .*got shape \(2, 1\)"),
        (lambda: fuzzy.relation([0.0], 0.1, "near"), ParameterError, "kind must be one of 'distance', 'similarity'"),
        (lambda: fuzzy.relation([0.0], -0.1), ParameterError, r"radius must be at least 0; got -0\.1"),
        (lambda: fuzzy.membership([0.0, 0.1], [0.1, np.nan]), ParameterError, "radius must be at least 0; got nan"),
        (lambda: fuzzy.membership(0.0, 0.1, kind="Distance"), ParameterError, "got 'Distance'"),
        (lambda: fuzzy.properties([1.0, 0.5]), DataError, r"fuzzy\.properties: .*square.*got shape \(2,\)"),
        (lambda: fuzzy.properties(np.ones((2, 3))), DataError, r"square matrix of rows; got shape \(2, 3\)"),
        (lambda: fuzzy.properties(np.ones((0, 0))), DataError, r"got shape \(0, 0\)"),
        (lambda: fuzzy.properties([[1, -0.5], [2, 1]]), DataError, r"entries in \[0, 1\]; got -0\.5 to 2\.0\.$"),
        (lambda: fuzzy.properties([[1, np.nan], [0, 1]]), DataError, r"got 0\.0 to 1\.0 and NaN\.$"),
    ],
)
def test_errors_name_the_rule_and_the_value(call, error, message):
    with pytest.raises(error, match=message):
        call()
