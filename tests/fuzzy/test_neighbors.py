"""Neighbors by labels and the dependency of labels on a feature: Equations 9 to 12, and fuzzy decisions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import fuzzy
from fedsieve.errors import DataError, ParameterError
from reference import fuzzy_loops
from strategies import KINDS, tables, with_gaps

RULES = ("least", "nonnegative")
rules = st.sampled_from(RULES)


@st.composite
def labels(draw, n_rows=None):
    """Label rows, crisp or soft; few labels, so that equal and constant rows are common."""
    n_rows = draw(st.integers(2, 14)) if n_rows is None else n_rows
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    steps = draw(st.sampled_from([1, 1, 3]))
    return rng.integers(0, steps + 1, (n_rows, draw(st.integers(1, 5)))) / steps


@st.composite
def labeled_tables(draw):
    X = draw(tables(min_rows=4, max_rows=14, max_features=4))
    X = with_gaps(X, draw(st.integers(0, 99)), share=draw(st.sampled_from([0.0, 0.2])))
    radius = np.array([draw(st.integers(0, 20)) / 16 for _ in range(X.shape[1])])
    return X, draw(labels(len(X))), radius


def as_lists(neighbors):
    return [[j for j in row if j >= 0] for row in neighbors.tolist()]


@given(labels())
def test_label_similarity_equals_its_loop_twin(Y):
    assert_allclose(fuzzy.label_similarity(Y), fuzzy_loops.label_similarity(Y), atol=1e-14)


def test_label_similarity_is_pearsons_correlation(rng):
    Y = rng.integers(0, 2, (12, 20))
    assert_allclose(fuzzy.label_similarity(Y), np.corrcoef(Y), atol=1e-14)


def test_a_row_of_equal_labels_is_similar_to_none_not_even_itself():
    Y = [[1, 1, 1], [0.3, 0.3, 0.3 + 1e-15], [0, 0, 0], [1, 0, 0]]
    expected = np.zeros((4, 4))
    expected[3, 3] = 1
    assert_allclose(fuzzy.label_similarity(Y), expected, atol=1e-15)


@given(labels(), st.data(), rules)
def test_least_similar_rows_equal_their_loop_twin(Y, data, rule):
    similarity = fuzzy_loops.label_similarity(Y)
    k = data.draw(st.integers(1, len(Y) - 1))
    found = fuzzy.least_similar(similarity, k, rule)
    assert found.shape == (len(Y), k)
    assert as_lists(found) == fuzzy_loops.least_similar(similarity, k, rule)
    assert np.all(np.diff((found < 0).astype(int), axis=1) >= 0)  # those that do not exist come last


@given(labels(), st.data())
def test_most_similar_rows_equal_their_loop_twin(Y, data):
    similarity = fuzzy_loops.label_similarity(Y)
    k = data.draw(st.integers(1, len(Y) - 1))
    assert fuzzy.most_similar(similarity, k).tolist() == fuzzy_loops.most_similar(similarity, k)


def test_ties_go_to_the_smaller_row_also_when_rounding_parts_them():
    # Rows 1 and 3 have the same labels; their similarity to row 0 differs by less than the twelfth decimal.
    similarity = np.array([[1, -0.5 + 1e-14, 0.1, -0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    assert fuzzy.least_similar(similarity, 2)[0].tolist() == [1, 3]
    assert fuzzy.most_similar(-similarity, 2)[0].tolist() == [1, 3]
    # A difference in the eleventh decimal is one.
    similarity[0, 1] += 1e-11
    assert fuzzy.least_similar(similarity, 2)[0].tolist() == [3, 1]
    assert fuzzy.most_similar(-similarity, 2)[0].tolist() == [3, 1]


def test_the_nonnegative_rule_counts_zero_and_rounded_zero_and_may_find_too_few():
    similarity = np.array(
        [[1, -1e-14, -0.3, 0.2], [-1e-14, 1, -0.3, -0.3], [-0.3, -0.3, 1, -0.3], [0.2, -0.3, -0.3, 1]]
    )
    assert fuzzy.least_similar(similarity, 2, "nonnegative").tolist() == [[1, 3], [0, -1], [-1, -1], [0, -1]]


@pytest.mark.parametrize("rule", RULES)
def test_a_row_is_never_its_own_neighbor(rule):
    found = fuzzy.least_similar(np.zeros((5, 5)), 4, rule)
    assert all(sorted(row) == [j for j in range(5) if j != i] for i, row in enumerate(found.tolist()))
    assert_array_equal(fuzzy.most_similar(np.zeros((5, 5)), 4), found)


def test_the_neighbor_search_leaves_the_similarity_alone(rng):
    similarity = rng.uniform(-1, 1, (6, 6))
    before = similarity.copy()
    fuzzy.least_similar(similarity, 3, "nonnegative")
    fuzzy.most_similar(similarity, 3)
    assert_array_equal(similarity, before)


@given(st.integers(2, 9), st.data(), st.integers(0, 2**32 - 1), rules)
def test_neighbor_approximations_equal_their_loop_twins(n_rows, data, seed, rule):
    rng = np.random.default_rng(seed)
    R, similarity = rng.random((n_rows, n_rows)), rng.uniform(-1, 1, (n_rows, n_rows))
    k = data.draw(st.integers(1, n_rows - 1))
    different, same = fuzzy.least_similar(similarity, k, rule), fuzzy.most_similar(similarity, k)
    lower = fuzzy_loops.neighbor_lower(R, as_lists(different), k)
    assert_allclose(fuzzy.neighbor_lower_approximation(R, different), lower, atol=1e-14)
    upper = fuzzy_loops.neighbor_upper(R, as_lists(same), k)
    assert_allclose(fuzzy.neighbor_upper_approximation(R, same), upper, atol=1e-14)


def test_a_neighbor_that_does_not_exist_adds_nothing_and_counts_in_k():
    R = np.array([[1, 0.75], [0.75, 1]])
    neighbors = np.array([[1, -1], [-1, -1]])
    assert_array_equal(fuzzy.neighbor_lower_approximation(R, neighbors), [0.125, 0])
    assert_array_equal(fuzzy.neighbor_upper_approximation(R, neighbors), [0.375, 0])


@given(labeled_tables(), st.data(), st.sampled_from(KINDS), rules)
def test_dependency_equals_its_loop_twin(drawn, data, kind, rule):
    X, Y, radius = drawn
    k = data.draw(st.integers(1, len(X) - 1))
    nominal = sorted(data.draw(st.sets(st.integers(0, X.shape[1] - 1))))
    expected = fuzzy_loops.dependency(X, Y, radius, k, kind, rule, nominal)
    assert_allclose(fuzzy.dependency(X, Y, radius, k, kind, rule, nominal=nominal), expected, atol=1e-13)


def test_dependency_follows_features_and_rows(rng):
    # Distinct similarities: ties go by row number, so with ties a permutation may choose other neighbors.
    X, Y = rng.random((15, 5)), rng.random((15, 6))
    W = fuzzy.dependency(X, Y, 0.3)
    columns, rows = rng.permutation(5), rng.permutation(15)
    assert_array_equal(fuzzy.dependency(X[:, columns], Y, 0.3), W[columns])
    assert_allclose(fuzzy.dependency(X[rows], Y[rows][:, ::-1], 0.3), W, atol=1e-14)


@given(labeled_tables(), st.sampled_from(KINDS))
def test_soft_decisions_equal_their_loop_twin(drawn, kind):
    X, Y, radius = drawn
    Y = (Y > 0.5).astype(float)
    relations = [fuzzy_loops.relation(x, eps, kind) for x, eps in zip(X.T, radius, strict=True)]
    decisions = fuzzy.soft_decisions(np.min(relations, axis=0), Y)
    assert_allclose(decisions, fuzzy_loops.soft_decisions(relations, Y), atol=1e-14)
    assert np.all((decisions >= 0) & (decisions <= 1 + 1e-14))


def test_soft_decisions_of_unrelated_rows_are_the_labels_and_of_alike_rows_their_mean():
    Y = np.array([[1, 0], [0, 1], [1, 1]])
    assert_array_equal(fuzzy.soft_decisions(np.eye(3), Y), Y)
    assert_allclose(fuzzy.soft_decisions(np.ones((3, 3)), Y), np.full((3, 2), 2 / 3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fuzzy.label_similarity([1, 0]), DataError, r"Y must be \(n_samples, n_labels\); got shape \(2,"),
        (lambda: fuzzy.label_similarity(np.ones((3, 0))), DataError, r"got shape \(3, 0\)"),
        (lambda: fuzzy.least_similar(np.eye(3), 3), ParameterError, "below the number of labeled rows, 3; got 3"),
        (lambda: fuzzy.least_similar(np.eye(3), 0), ParameterError, "n_neighbors must be at least 1 .*got 0"),
        (lambda: fuzzy.most_similar(np.eye(3), 3), ParameterError, "below the number of labeled rows, 3; got 3"),
        (lambda: fuzzy.least_similar(np.eye(3), 1, "most"), ParameterError, "'least', 'nonnegative'; got 'most'"),
        (lambda: fuzzy.least_similar(np.ones((2, 3)), 1), DataError, r"must be square; got shape \(2, 3\)"),
        (lambda: fuzzy.most_similar(np.ones(3), 1), DataError, r"must be square; got shape \(3,\)"),
        (
            lambda: fuzzy.dependency(np.ones((4, 1)), np.eye(3), 0.1, 1),
            DataError,
            "fuzzy.dependency: X has 4 rows and Y 3",
        ),
        (lambda: fuzzy.dependency(np.ones((3, 1)), np.eye(3), 0.1), ParameterError, "rows, 3; got 3"),
        (lambda: fuzzy.dependency(np.ones((3, 1)), np.eye(3), 0.1, 1, "far"), ParameterError, "got 'far'"),
        (lambda: fuzzy.soft_decisions([[2.0]], [[1]]), DataError, r"fuzzy\.soft_decisions: .*got 2\.0 to 2\.0"),
        (
            lambda: fuzzy.neighbor_lower_approximation([[1, 0]], np.array([[1]])),
            DataError,
            r"fuzzy\.neighbor_lower_approximation: .*got shape \(1, 2\)",
        ),
        (
            lambda: fuzzy.neighbor_upper_approximation([[-1.0]], np.array([[0]])),
            DataError,
            r"fuzzy\.neighbor_upper_approximation: .*got -1\.0 to -1\.0",
        ),
    ],
)
def test_errors_name_the_rule_and_the_value(call, error, message):
    with pytest.raises(error, match=message):
        call()
