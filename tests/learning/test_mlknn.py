"""ML-kNN against exact fractions in loops, by hand, and its laws; how it reads y; bad input by its message."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from fedsieve import MLkNN
from fedsieve.errors import DataError, ParameterError
from learning.tables import classifications
from reference import mlknn_loops


@given(classifications())
def test_posteriors_and_predictions_are_those_of_the_loops(case):
    X, Y, queries, k, smoothing = case
    model = MLkNN(k, smoothing).fit(X, Y)
    expected = mlknn_loops.posteriors(X, Y, queries, k, smoothing)
    assert_allclose(model.predict_proba(queries), np.array(expected, dtype=float), rtol=1e-13)
    assert_array_equal(model.predict(queries), mlknn_loops.predictions(expected))


@given(classifications())
def test_sparse_rows_give_the_same_bits(case):
    X, Y, queries, k, smoothing = case
    dense, thin = MLkNN(k, smoothing).fit(X, Y), MLkNN(k, smoothing).fit(sparse.csr_array(X), sparse.csr_array(Y))
    assert sparse.issparse(thin.rows_)
    assert_array_equal(thin.predict_proba(sparse.csr_array(queries)), dense.predict_proba(queries))


@given(classifications())
def test_probabilities_lie_strictly_between_0_and_1_and_the_prior_is_the_smoothed_share(case):
    X, Y, queries, k, smoothing = case
    model = MLkNN(k, smoothing).fit(X, Y)
    probabilities = model.predict_proba(queries)
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert_array_equal(model.predict(queries), probabilities >= 0.5)
    assert_allclose(model.prior_, (smoothing + Y.sum(axis=0)) / (2 * smoothing + len(Y)), rtol=1e-14)


@given(classifications(), st.integers(0, 2**32 - 1))
def test_labels_do_not_know_of_each_other_and_queries_neither(case, seed):
    X, Y, queries, k, smoothing = case
    rng = np.random.default_rng(seed)
    labels, order = rng.permutation(Y.shape[1]), rng.permutation(len(queries))
    expected = MLkNN(k, smoothing).fit(X, Y).predict_proba(queries)
    model = MLkNN(k, smoothing).fit(X, Y[:, labels])
    assert_array_equal(model.predict_proba(queries[order]), expected[order][:, labels])


@given(classifications())
def test_the_opposite_label_has_the_opposite_posterior(case):
    X, Y, queries, k, smoothing = case
    with_label = MLkNN(k, smoothing).fit(X, Y).predict_proba(queries)
    assert_allclose(MLkNN(k, smoothing).fit(X, 1 - Y).predict_proba(queries), 1 - with_label, atol=1e-14)


def test_the_order_of_training_rows_does_not_matter_without_ties(rng):
    X, Y, queries = rng.normal(size=(40, 5)), rng.integers(0, 2, (40, 4)), rng.normal(size=(9, 5))
    order = rng.permutation(40)
    expected = MLkNN(5).fit(X, Y).predict_proba(queries)
    assert_array_equal(MLkNN(5).fit(X[order], Y[order]).predict_proba(queries), expected)


def test_a_duplicate_row_votes_and_the_row_itself_does_not():
    # Two pairs of twins, one neighbor: each row's neighbor is its twin. Rows 0 and 1 disagree, 2 and 3 agree.
    X, Y = [[0.0], [0.0], [5.0], [5.0]], [[1], [0], [1], [1]]
    # prior = (1+3)/(2+4); with the label: twin lacks it once, has it twice; without: twin has it once.
    given_0 = Fraction(4, 6) * Fraction(1 + 1, 2 + 3)
    given_0 /= given_0 + Fraction(2, 6) * Fraction(1 + 0, 2 + 1)
    given_1 = Fraction(4, 6) * Fraction(1 + 2, 2 + 3)
    given_1 /= given_1 + Fraction(2, 6) * Fraction(1 + 1, 2 + 1)
    model = MLkNN(1).fit(X, Y)
    assert_allclose(model.posterior_, [[float(given_0), float(given_1)]], rtol=1e-15)
    # A query at 0 ties between rows 0 and 1: the lower index has the label.
    assert_allclose(model.predict_proba([[0.0], [4.9]]), [[float(given_1)]] * 2, rtol=1e-15)


# Four pairs of twins. With or without the label, two rows have a twin with it and two have one without: no evidence.
TWINS, OF_TWINS = np.repeat([[0.0], [1.0], [2.0], [3.0]], 2, axis=0), [1, 1, 0, 1, 0, 1, 0, 0]


def test_a_label_is_on_at_exactly_one_half():
    X, Y = [[0.0], [1.0], [2.0], [3.0]], [[1], [0], [0], [1]]
    # Every row has all others as neighbors: 1 of 3 with the label, 2 of 3 without; nothing is known of 0 and 3.
    assert_array_equal(MLkNN(3).fit(X, Y).posterior_, [[0.5, 0.75, 0.25, 0.5]])
    even = MLkNN(1).fit(TWINS, np.array(OF_TWINS)[:, None])
    assert_array_equal(even.predict_proba([[0.0]]), [[0.5]])
    assert_array_equal(even.predict([[0.0]]), [[1]])


def test_ten_neighbors_is_the_default_and_numpy_integers_will_do(rng):
    X, Y = rng.random((30, 3)), rng.integers(0, 2, (30, 2))
    assert_array_equal(MLkNN().fit(X, Y).posterior_, MLkNN(np.int64(10), 1).fit(X, Y).posterior_)


# --- how y is read


@pytest.mark.parametrize(
    ("off", "on"), [(0, 1), (-1, 1), (False, True), (0.0, 1.0), ("no", "yes"), (3, 7)], ids=lambda v: repr(v)
)
def test_columns_come_back_as_their_own_values(rng, off, on):
    X, bits = rng.random((25, 3)), rng.integers(0, 2, (25, 4)).astype(bool)
    bits[:, 2] = False  # a label that never occurs
    Y = np.where(bits, on, off)
    model, plain = MLkNN(4).fit(X, Y), MLkNN(4).fit(X, bits.astype(int))
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(model.predict(X), np.where(plain.predict(X) == 1, on, off))
    assert model.predict(X).dtype == Y.dtype
    assert model.classes_.tolist() == [[off, on]] * 4


def test_columns_may_have_different_pairs(rng):
    X, bits = rng.random((25, 3)), rng.integers(0, 2, (25, 2))
    model = MLkNN(4).fit(X, bits * [1, 5] + [0, 2])
    assert model.classes_.tolist() == [[0, 1], [2, 7]]
    assert_array_equal(model.predict(X), MLkNN(4).fit(X, bits).predict(X) * [1, 5] + [0, 2])


def test_two_classes_in_one_dimension_are_one_label(rng):
    X, y = rng.random((31, 3)), rng.integers(0, 2, 31)
    label, model = MLkNN(5).fit(X, y[:, None]), MLkNN(5).fit(X, np.array(["ham", "spam"])[y])
    assert_array_equal(model.classes_, ["ham", "spam"])
    assert model.predict_proba(X).shape == (31, 2)
    assert_allclose(model.predict_proba(X)[:, 1], label.predict_proba(X)[:, 0], rtol=1e-13)
    assert model.predict(X).shape == (31,)
    undecided = label.predict_proba(X)[:, 0] == 0.5
    assert_array_equal(model.predict(X)[~undecided], np.array(["ham", "spam"])[label.predict(X)[~undecided, 0]])


def test_many_classes_in_one_dimension_are_one_label_each_and_the_most_probable_wins(rng):
    X = np.vstack([rng.normal(size=(15, 2)) + 6 * center for center in np.eye(2)[[0, 1, 1]] * [[1], [1], [-1]]])
    y = np.repeat([20, 10, 30], 15)
    model = MLkNN(5).fit(X, y)
    assert_array_equal(model.classes_, [10, 20, 30])
    labels = MLkNN(5).fit(X, (y[:, None] == [10, 20, 30]).astype(int)).predict_proba(X)
    assert_allclose(model.predict_proba(X), labels / labels.sum(axis=1, keepdims=True), rtol=1e-13)
    assert_array_equal(model.predict(X), np.array([10, 20, 30])[labels.argmax(axis=1)])
    assert (model.predict(X) == y).mean() > 0.9


def test_of_equally_probable_classes_the_first_wins_and_a_single_class_is_certain():
    model = MLkNN(3).fit([[0.0]] * 4, ["b", "a", "a", "b"])
    assert_array_equal(model.predict_proba([[0.0]]).round(12), [[0.25, 0.75]])
    even = MLkNN(1).fit(TWINS, np.array(["a", "b"])[OF_TWINS])
    assert_array_equal(even.predict_proba([[0.0]]), [[0.5, 0.5]])
    assert_array_equal(even.predict([[0.0]]), ["a"])
    alone = MLkNN(2).fit([[0.0], [1.0], [2.0]], ["only"] * 3)
    assert_array_equal(alone.predict([[5.0]]), ["only"])
    assert_array_equal(alone.predict_proba([[5.0]]), [[1.0]])


def test_a_column_of_many_classes_is_read_as_one_dimension_with_a_warning(rng):
    X, y = rng.random((30, 3)), rng.integers(0, 3, 30)
    with pytest.warns(DataConversionWarning, match="more than two values is read as 1-D y"):
        model = MLkNN(4).fit(X, y[:, None])
    assert_array_equal(model.predict(X), MLkNN(4).fit(X, y).predict(X))


# --- bad input

X4, Y4 = np.arange(8.0).reshape(4, 2), np.array([[0, 1], [1, 0], [1, 1], [0, 0]])


@pytest.mark.parametrize("k", [4, 10])
def test_as_many_neighbors_as_rows_is_too_many(k):
    with pytest.raises(
        ParameterError, match=f"MLkNN: n_neighbors must be below the number of training rows, 4.*got {k}"
    ):
        MLkNN(k).fit(X4, Y4)


@pytest.mark.parametrize("k", [0, -3, 2.5, "many", None])
def test_n_neighbors_is_a_whole_number_of_at_least_1(k):
    with pytest.raises(ParameterError, match=f"n_neighbors must be a whole number of at least 1; got {k!r}"):
        MLkNN(k).fit(X4, Y4)


@pytest.mark.parametrize("smoothing", [0, -1.0, np.inf, np.nan, "1"])
def test_smoothing_is_above_0(smoothing):
    with pytest.raises(ParameterError, match="smoothing must be a finite number above 0; got"):
        MLkNN(2, smoothing).fit(X4, Y4)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (Y4[:3], "X has 4 rows and Y 3; they must be the same rows"),
        ([[0, 1], [1, -1], [-1, -1], [0, 0]], "column 0 of Y must have two values, off and on; got '-1', '0', '1'"),
        ([[0, 1], [1, -1], [-1, -1], [0, 0]], "rows without labels are to be left out"),
        ([["x", "x"]] * 4, "column 0 of Y must have two values, off and on; got 'x'"),
        ([[5, 5]] * 4, "got '5'"),
        (None, "requires y to be passed"),
        ([[0.5, 1], [1, 0], [1, 1], [0, 0]], "Unknown label type"),
        ([[np.nan, 1], [1, 0], [1, 1], [0, 0]], "NaN"),
    ],
)
def test_bad_labels_are_named(Y, message):
    with pytest.raises(ValueError, match=message):
        MLkNN(2).fit(X4, Y)


def test_the_error_of_bad_labels_is_ours():
    with pytest.raises(DataError, match="MLkNN: column 0"):
        MLkNN(2).fit(X4, [[7, 7]] * 4)
