"""What the four neighborhood methods share: counts of neighbors, margins, degenerate tables, bad parameters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve.errors import DataError, ParameterError
from fedsieve.rivals.fisher import fisher_key, label_weights
from fedsieve.rivals.margins import margin_radii
from fedsieve.rivals.mlfrs import MLFRS
from fedsieve.rivals.mlfsnrs import MLFSNRS, agreements
from fedsieve.rivals.mlnrs import MLNRS
from fedsieve.rivals.neighborhoods import Neighborhoods, carries_all, followed_by, forward, packed
from fedsieve.rivals.rfnmifs import RFNMIFS
from strategies import tables

METHODS = (RFNMIFS, MLFSNRS, MLNRS, MLFRS)


def order(method, X, Y, **parameters):
    return method(**parameters).fit(X, Y).order_.tolist()


@st.composite
def growing(draw):
    """A table, all 0/1 or not, labels, radii, and the features that are in already."""
    X = draw(tables(max_rows=80, max_features=70))
    if draw(st.booleans()):
        X = np.round(X)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Y = (rng.random((len(X), draw(st.integers(1, 70)))) < draw(st.sampled_from([0.05, 0.5]))).astype(float)
    radii = rng.choice([0.0, 0.15, 0.5, 1.0, np.sqrt(2), 1.7], len(X))
    return X, Y, radii, rng.permutation(X.shape[1])[: draw(st.integers(0, 3))]


def grown(X, radii, features):
    near = Neighborhoods(X, radii)
    for feature in features:
        near.add(feature)
    return near


def by_matrix(X, radii, features):
    differences = X[:, None, features] - X[None, :, features]
    return np.sqrt((differences**2).sum(axis=2)) <= radii[:, None] + 1e-9


@given(growing())
def test_neighbors_are_those_of_the_whole_matrix_of_distances(case):
    X, Y, radii, features = case
    near, inside = grown(X, radii, features), carries_all(Y)
    others = np.setdiff1d(np.arange(X.shape[1]), features)
    total, within = near.counts(inside, others)
    for column, f in enumerate(others):
        matrix = by_matrix(X, radii, [*features, f])
        assert_array_equal(total[:, column], matrix.sum(axis=1))
        assert_array_equal(within[:, column], (matrix & inside).sum(axis=1))


@given(growing())
def test_agreements_are_those_of_the_whole_matrix_of_distances(case):
    X, Y, radii, features = case
    near = grown(X, radii, features)
    others = np.setdiff1d(np.arange(X.shape[1]), features)
    counts = agreements(near, Y, others)
    for column, f in enumerate(others):
        matrix = by_matrix(X, radii, [*features, f])
        disagree = np.stack([(matrix & (label[:, None] != label)).any(axis=1) for label in Y.T], axis=1)
        assert counts[column] == (~disagree).sum()


def test_threads_change_nothing(monkeypatch, rng):
    X, Y = rng.random((150, 9)), rng.integers(0, 2, (150, 4)).astype(float)
    monkeypatch.setenv("FEDSIEVE_THREADS", "1")
    alone = [order(method, X, Y) for method in METHODS]
    monkeypatch.setenv("FEDSIEVE_THREADS", "3")
    assert [order(method, X, Y) for method in METHODS] == alone


def test_bits_lie_in_words_lowest_first():
    table = np.zeros((2, 70))
    table[0, [0, 3, 69]] = 1
    assert packed(table).tolist() == [[9, 32], [0, 0]]


def test_who_carries_all_labels_of_whom():
    Y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert carries_all(Y).tolist() == [[True, True, False], [False, True, False], [True, True, True]]


def test_the_search_stops_before_the_pick_that_is_not_worth_it():
    worth = np.array([0.1, 0.5, 0.3, 0.5])
    added = []

    def criteria(features):
        return [worth[features] + sum(worth[added])]

    everything = np.array([True, True, True, True])
    picked, alone = forward(
        everything, criteria, [0.0], [np.array([0, 0, 0, 1.0])], added.append, lambda rise: rise[0] < 0.2
    )
    assert picked == added == [3, 1, 2]
    assert alone[0].tolist() == worth.tolist()
    assert followed_by(picked, np.array([0, 1, 2, 3])).tolist() == [3, 1, 2, 0]
    assert forward(~everything, criteria, [0.0], [], added.append, lambda _: False) == ([], ())


def test_margins_leave_out_labels_without_hits_or_misses():
    X = np.array([[0.0], [0.2], [1.0]])
    Y = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    # Label 0: rows 0 and 1 are hits of each other, row 2 has none. Label 1 has no misses. Label 2: rows 0 and 2.
    assert_allclose(margin_radii(X, Y), [max(0, (1.0 - 0.2 + 0.2 - 1.0) / 2), 0.8 - 0.2, 0.0], atol=1e-12)
    assert margin_radii(X, np.ones((3, 2))).tolist() == [0, 0, 0]


def test_fisher_scores_by_hand():
    X = np.array([[0.0, 1.0], [0.5, 1.0], [0.5, 1.0], [1.0, 1.0]])
    Y = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    # Means 0.25 and 0.75 around 0.5: between 4/16, within 4/16. The label that all carry has no weight.
    assert_allclose(fisher_key(X, Y), [np.log(2), 0.0], atol=1e-8)
    assert label_weights(Y).tolist() == [1.0, 0.0]
    assert label_weights(np.ones((3, 2))).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("method", METHODS)
class TestEachMethod:
    def test_permuted_features_are_ranked_the_same(self, method, rng):
        X, Y = rng.random((90, 12)), rng.integers(0, 2, (90, 3))
        X[:, 4] += Y[:, 0]
        places = rng.permutation(12)
        assert [places[p] for p in order(method, X[:, places], Y)] == order(method, X, Y)

    def test_scale_and_offset_do_not_matter(self, method, rng):
        X, Y = rng.integers(0, 17, (60, 6)) / 16, rng.integers(0, 2, (60, 3))
        assert order(method, X * [1, 2, 4, 8, 16, 32] - 3, Y) == order(method, X, Y)

    def test_constant_features_and_labels(self, method, rng):
        X, Y = rng.random((60, 5)), rng.integers(0, 2, (60, 3))
        X[:, [1, 3]] = 7.0
        X[:, 4] = Y[:, 0]
        ranks = order(method, X, Y)
        assert sorted(ranks) == [0, 1, 2, 3, 4]
        assert ranks.index(1) < ranks.index(3)
        assert ranks.index(4) < ranks.index(1)
        assert order(method, np.ones((10, 3)), Y[:10]) == [0, 1, 2]
        assert sorted(order(method, X, np.ones((60, 2)))) == [0, 1, 2, 3, 4]
        assert sorted(order(method, X, np.zeros((60, 2)))) == [0, 1, 2, 3, 4]

    def test_a_copy_of_a_feature_comes_behind_it(self, method, rng):
        X, Y = rng.random((60, 6)), rng.integers(0, 2, (60, 3))
        X[:, 4] = 3 * X[:, 1] + 1
        ranks = order(method, X, Y)
        assert ranks.index(1) < ranks.index(4)

    def test_one_label_in_either_form(self, method, rng):
        X, y = rng.random((60, 5)), rng.integers(0, 2, 60)
        X[:, 2] = y
        assert order(method, X, np.where(y == 1, "yes", "no"))[0] == 2
        assert order(method, X, y[:, None])[0] == 2

    def test_more_labels_than_features(self, method, rng):
        Y = (rng.random((80, 90)) < 0.1).astype(float)
        assert sorted(order(method, rng.random((80, 3)), Y)) == [0, 1, 2]

    def test_two_rows(self, method):
        assert sorted(order(method, [[0.0, 1.0], [1.0, 1.0]], [[1, 0], [0, 1]])) == [0, 1]
        assert sorted(order(method, [[0.0, 1.0], [1.0, 1.0]], [[1, 0], [1, 0]])) == [0, 1]

    def test_sparse_rows_give_the_dense_answer(self, method, rng):
        X = (rng.random((70, 80)) < 0.2).astype(float)
        Y = rng.integers(0, 2, (70, 3))
        assert order(method, sparse.csr_matrix(X), Y) == order(method, X, Y)

    def test_unlabeled_rows_are_refused(self, method):
        with pytest.raises(DataError, match=f"{method.__name__}: 1 rows of y are -1"):
            method().fit(np.eye(3), [[1, 0], [0, 1], [-1, -1]])

    @pytest.mark.parametrize("gain", [-1.0, np.nan, np.inf])
    def test_gain_must_be_a_size(self, method, gain):
        with pytest.raises(
            ParameterError, match=rf"{method.__name__}: gain must be a number of at least 0, and finite; got {gain}\."
        ):
            method(gain=gain).fit(np.eye(3), np.eye(3))


@pytest.mark.parametrize("method", [RFNMIFS, MLFRS])
@pytest.mark.parametrize("count", [0, 2.5, True])
def test_the_number_of_neighbors_must_be_whole(method, count):
    message = rf"{method.__name__}: n_neighbors must be a whole number of at least 1; got {count}\."
    with pytest.raises(ParameterError, match=message):
        method(n_neighbors=count).fit(np.eye(3), np.eye(3))


def test_more_neighbors_than_rows_are_all_rows(rng):
    X, Y = rng.random((20, 4)), rng.integers(0, 2, (20, 2))
    for method in (RFNMIFS, MLFRS):
        assert order(method, X, Y, n_neighbors=10**12) == order(method, X, Y, n_neighbors=20)
