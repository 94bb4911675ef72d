"""Stability is computed when it is read, not by `fit`; a pickled selector has it, and none of the server's rows."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from fedsieve import Sieve
from fedsieve.sieve import ranking


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5)) + 1234.5
    Y = (X[:, [1, 3]] + rng.normal(size=(30, 2)) > 1234.5).astype(float)
    return X, Y, [rng.normal(size=(40, 5)) + 1234.5 for _ in range(2)]


@pytest.fixture
def computed(monkeypatch):
    """How often bootstraps were drawn."""
    calls, real = [], ranking.bootstrap_orders
    monkeypatch.setattr(ranking, "bootstrap_orders", lambda *args: calls.append(1) or real(*args))
    return calls


def fitted(case, **more):
    X, Y, clients = case
    return Sieve(n_features_to_select=2, n_trees=8, n_bootstraps=3, **more).fit(X, Y, clients=clients)


def test_fit_draws_no_bootstrap_and_reading_draws_them_once(case, computed):
    selector = fitted(case)
    assert not computed
    first = selector.stability_
    selector.explain()
    assert selector.rank_interval_.shape == (5, 2)
    assert_array_equal(selector.stability_, first)
    assert len(computed) == 1
    assert selector.stability_.sum() == pytest.approx(2)


def test_what_becomes_of_the_callers_rows_after_fit_plays_no_part(case):
    expected = fitted(case).stability_
    X, Y, clients = (case[0].copy(), case[1].copy(), case[2])
    selector = fitted((X, Y, clients))
    X[:], Y[:] = 0.0, 0.0
    assert_array_equal(selector.stability_, expected)


def test_pickling_computes_it_and_carries_no_row(case, computed):
    selector = fitted(case)
    content = pickle.dumps(selector)
    assert len(computed) == 1
    assert not [row for row in case[0] if row.tobytes() in content or row[0].tobytes() in content]
    loaded = pickle.loads(content)
    assert_array_equal(loaded.stability_, selector.stability_)
    assert_array_equal(loaded.rank_interval_, selector.rank_interval_)
    assert pickle.dumps(loaded)  # once more, without the rows
    assert len(computed) == 1


def test_another_number_draws_no_bootstrap_either(case, computed):
    selector = fitted(case)
    again = selector.rerank(3)
    assert not computed
    assert again.support_.sum() == 3
    assert selector.support_.sum() == 2


def test_a_clone_knows_nothing_of_it(case):
    copy = clone(fitted(case))
    with pytest.raises(AttributeError):
        _ = copy.stability_
