"""Pair sums at the front door: any table, any form of input, one answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import fuzzy, kernels
from fedsieve.errors import DataError, FedSieveError, ParameterError
from kernels.twins import exact_pair_sums, mixed_table, relations_of
from reference import fuzzy_loops
from strategies import KINDS, tables, with_gaps

kinds = st.sampled_from(KINDS)


@st.composite
def questions(draw, max_rows=40):
    """A table with or without gaps, a radius per feature, a kind and a mask of nominal features."""
    X = draw(tables(max_rows=max_rows))
    X = with_gaps(X, draw(st.integers(0, 99)), share=draw(st.sampled_from([0.0, 0.0, 0.3])))
    n_features = X.shape[1]
    radius = np.array([draw(st.integers(0, 20)) / 16 for _ in range(n_features)])
    nominal = np.array([draw(st.booleans()) for _ in range(n_features)]) if draw(st.booleans()) else None
    return X, radius, draw(kinds), nominal


@given(questions(max_rows=16))
def test_pair_sums_are_those_of_the_loop_twin_within_the_stated_error(question):
    X, radius, kind, nominal = question
    named = np.zeros(len(radius), dtype=bool) if nominal is None else nominal
    relations = [fuzzy_loops.relation(X[:, p], radius[p], kind, named[p]) for p in range(len(radius))]
    sums = kernels.pair_sums(X, radius, kind, nominal=nominal)
    assert_allclose(sums, fuzzy_loops.pair_sums(relations), rtol=2.4e-7)


@given(questions())
def test_pair_sums_are_exact_sums_of_rounded_degrees(question):
    X, radius, kind, nominal = question
    sums = kernels.pair_sums(X, radius, kind, nominal=nominal)
    assert sums.dtype == np.float64
    assert_array_equal(sums, exact_pair_sums(X, radius, kind, nominal))


@given(questions())
def test_pair_sums_are_symmetric_with_each_features_own_sum_on_the_diagonal(question):
    X, radius, kind, nominal = question
    sums = kernels.pair_sums(X, radius, kind, nominal=nominal)
    assert_array_equal(sums, sums.T)
    own = relations_of(X, radius, kind, nominal).sum(axis=(1, 2))
    assert_allclose(np.diagonal(sums), own, rtol=2.4e-7)
    assert np.all(sums <= np.diagonal(sums))
    assert np.all(sums >= len(X))  # every row is related to itself


@given(questions(), st.randoms(use_true_random=False))
def test_pair_sums_follow_features_and_ignore_the_order_of_rows_bit_for_bit(question, random):
    X, radius, kind, nominal = question
    features = random.sample(range(X.shape[1]), X.shape[1])
    rows = random.sample(range(len(X)), len(X))
    moved_names = None if nominal is None else nominal[features]
    moved = kernels.pair_sums(X[rows][:, features], radius[features], kind, nominal=moved_names)
    sums = kernels.pair_sums(X, radius, kind, nominal=nominal)
    assert_array_equal(moved, sums[np.ix_(features, features)])


@given(questions())
def test_pair_sums_of_relations_are_those_of_the_values_bit_for_bit(question):
    X, radius, kind, nominal = question
    from_relations = kernels.pair_sums_of_relations(relations_of(X, radius, kind, nominal))
    assert_array_equal(from_relations, kernels.pair_sums(X, radius, kind, nominal=nominal))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share_missing", [0.0, 0.1])
@pytest.mark.parametrize("n_features", [1, 2, 3, 5, 8, 13])
def test_tables_of_both_sorts_of_features_use_both_ways_and_agree(rng, kind, share_missing, n_features):
    # With 300 rows the three-valued features are counted and the 40-valued ones are not.
    X = mixed_table(rng, 300, n_features, share_missing=share_missing)
    radius = rng.integers(1, 12, n_features) / 16
    nominal = rng.random(n_features) < 0.3
    sums = kernels.pair_sums(X, radius, kind, nominal=nominal)
    assert_array_equal(sums, exact_pair_sums(X, radius, kind, nominal))


@pytest.mark.parametrize("n_features", [63, 64, 65, 130])
def test_wide_tables_are_put_together_from_blocks(rng, n_features):
    X = mixed_table(rng, 40, n_features)
    assert_array_equal(kernels.pair_sums(X, 0.3), exact_pair_sums(X, 0.3))
    binary = rng.integers(0, 2, (40, n_features))
    assert_array_equal(kernels.pair_sums(binary, 0.3), exact_pair_sums(binary, 0.3))


def test_two_rows_and_one_feature_are_enough():
    assert_array_equal(kernels.pair_sums([[0.0], [0.25]], 0.25), [[3.5]])
    assert_array_equal(kernels.pair_sums([[0.0], [0.25]], 0.125), [[2.0]])
    assert_array_equal(kernels.pair_sums([[np.nan], [np.nan]], 1.0), [[2.0]])


def test_the_order_in_memory_does_not_matter(rng):
    X = mixed_table(rng, 80, 7)
    sums = kernels.pair_sums(X, 0.3)
    wide = np.zeros((160, 14))
    wide[::2, ::2] = X
    for same in (np.asfortranarray(X), wide[::2, ::2], X.tolist()):
        assert_array_equal(kernels.pair_sums(same, 0.3), sums)


def test_read_only_input_is_accepted_and_no_input_is_changed(rng):
    X, radius, nominal = np.asfortranarray(mixed_table(rng, 60, 6)), np.full(6, 0.3), np.arange(6) == 2
    before = X.copy()
    sums = kernels.pair_sums(X, radius, "similarity", nominal=nominal)
    assert_array_equal(X, before)
    assert_array_equal(radius, 0.3)
    X.flags.writeable = False
    assert_array_equal(kernels.pair_sums(X, radius, "similarity", nominal=nominal), sums)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float32, np.float64])
def test_every_real_type_of_0_and_1_gives_the_same_sums(rng, dtype):
    X = rng.integers(0, 2, (70, 6))
    sums = kernels.pair_sums(X.astype(dtype), 0.3)
    assert_array_equal(sums, exact_pair_sums(X.astype(float), 0.3))
    assert_array_equal(kernels.pair_sums(np.asfortranarray(X.astype(dtype)), 0.3), sums)


def test_float32_values_are_compared_in_float64(rng):
    X = rng.random((50, 5), dtype=np.float32)
    assert_array_equal(kernels.pair_sums(X, 0.3), exact_pair_sums(X.astype(np.float64), 0.3))


def test_small_unsigned_codes_do_not_wrap_around():
    X = np.array([[0], [255], [1]], dtype=np.uint8)  # 0 - 1 is not 255
    assert_array_equal(kernels.pair_sums(X, 0.0, nominal=np.array([True])), [[3.0]])
    assert_array_equal(kernels.pair_sums(X / 255, 0.5), exact_pair_sums(X / 255, 0.5))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix])
def test_a_sparse_table_is_its_dense_copy(rng, form, kind):
    binary = (rng.random((90, 9)) < 0.2).astype(float)
    binary[:, 3], binary[:, 4] = 0, 1  # constant features
    others = binary * rng.integers(1, 5, binary.shape) / 4
    radius, nominal = np.linspace(0, 1, 9), np.arange(9) == 5
    for X in (binary, others):
        sums = kernels.pair_sums(form(X), radius, kind, nominal=nominal)
        assert_array_equal(sums, exact_pair_sums(X, radius, kind, nominal))


def test_a_sparse_table_may_hold_booleans_or_stored_zeros(rng):
    X = rng.random((40, 5)) < 0.3
    expected = exact_pair_sums(X.astype(float), 0.3)
    assert_array_equal(kernels.pair_sums(sparse.csr_array(X), 0.3), expected)
    stored = sparse.csr_array(np.ones((40, 5)))
    stored.data[:] = X.astype(float).ravel()
    assert_array_equal(kernels.pair_sums(stored, 0.3), expected)


def test_one_radius_stands_for_all_features(rng):
    X = mixed_table(rng, 40, 6)
    assert_array_equal(kernels.pair_sums(X, 0.3), kernels.pair_sums(X, np.full(6, 0.3)))
    assert not np.array_equal(kernels.pair_sums(X, 0.3), kernels.pair_sums(X, 0.6))


def test_copies_of_a_feature_have_equal_sums_whichever_way_they_take(rng):
    x = rng.integers(0, 4, 150) / 4
    X = np.stack([x, rng.random(150), 1 - x, x + 2], axis=1)
    D = fuzzy.correlation_distance(kernels.pair_sums(X, 0.3), 150)
    assert_array_equal(D[np.ix_([0, 2, 3], [0, 2, 3])], 0)
    assert D[0, 1] > 0


def test_errors_name_the_rule_and_the_value():
    with pytest.raises(ParameterError, match=r"kernels: kind must be one of .*'similarity'; got 'near'"):
        kernels.pair_sums(np.ones((3, 1)), 0.1, "near")
    with pytest.raises(
        DataError, match=r"kernels\.pair_sums: needs 2 to 1048575 rows without a sample of pairs; got 1\."
    ):
        kernels.pair_sums([[0.5]], 0.1)
    with pytest.raises(DataError, match=r"needs 2 to 1048575 rows without a sample of pairs; got 1048576\."):
        kernels.pair_sums(np.broadcast_to(0.0, (1 << 20, 1)), 0.1)


def test_a_sparse_entry_that_is_stored_in_parts_is_their_sum():
    twice = sparse.csr_array((np.ones(4), [0, 0, 1, 0], [0, 2, 3, 4]), shape=(3, 2))
    assert_array_equal(kernels.pair_sums(twice, 0.3), kernels.pair_sums(twice.toarray(), 0.3))


@pytest.mark.parametrize(
    ("X", "radius", "message"),
    [
        (np.ones(3), 0.1, r"X must be \(n_rows, n_features\); got shape \(3,\)"),
        (np.ones((3, 2)), [0.1, 0.2, 0.3], r"one radius for each of 2 features; got shape \(3,\)"),
        (np.ones((3, 2)), -1.0, r"a radius must be at least 0; got -1\.0"),
        (np.ones((3, 2)), [0.1, np.nan], "a radius must be at least 0; got nan"),
        (np.array([[0.0], [np.inf]]), 0.1, "infinite values"),
    ],
)
def test_unusable_arguments_are_named(X, radius, message):
    with pytest.raises(FedSieveError, match=message):
        kernels.pair_sums(X, radius)


def test_relations_of_one_row_are_its_own():
    assert_array_equal(kernels.pair_sums_of_relations(np.ones((5, 1, 1))), np.ones((5, 5)))
