"""Missing values in the estimator: filled by default, told of per client, warned of where nobody has any."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from fedsieve import Sieve
from fedsieve.errors import FedSieveWarning
from strategies import with_gaps

QUICK = {"n_trees": 6, "n_bootstraps": 1}


@pytest.fixture
def gapped():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(240, 6))
    Y = np.column_stack([X[:, 1] > 0, X[:, 4] > 0, X[:, 1] + X[:, 4] > 0]).astype(int)
    return with_gaps(X, 1, share=0.25), Y  # enough at every site that no rule holds anything back


def test_a_table_with_missing_values_just_works_and_each_client_s_share_is_told(gapped):
    X, Y = gapped
    clients = {"a": X[60:120], "b": X[120:200], "c": X[200:]}
    found = Sieve(2, **QUICK).fit(X[:60], Y[:60], clients=clients)
    assert_array_equal(found.get_support(indices=True), [1, 4])
    assert list(found.missing_share_) == ["server", "a", "b", "c"]
    for name, rows in {"server": X[:60], **clients}.items():
        assert_allclose(found.missing_share_[name], np.isnan(rows).mean(axis=0))
    assert_allclose(found.missing_total_, np.isnan(X).mean(axis=0))
    assert_array_equal(found.transform(X[:3]), X[:3][:, [1, 4]])


def test_without_clients_it_is_the_same_as_filled_beforehand(gapped):
    X, Y = gapped
    known = np.where(np.arange(len(X))[:, None] < 60, Y, -1)
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    exact = {**QUICK, "ranges": "federated"}  # bins of robust ones are quantiles of present values
    one, other = Sieve(2, **exact).fit(X, known), Sieve(2, missing="error", **exact).fit(filled, known)
    assert_allclose(one.scores_, other.scores_, rtol=0, atol=1e-9)
    assert list(one.missing_share_) == ["server", "pool"]
    assert_array_equal(other.missing_total_, 0)
    assert_array_equal(other.missing_share_["pool"], 0)


def test_frames_sparse_tables_and_pipelines_pass_missing_values_on(gapped):
    X, Y = gapped
    frame = pd.DataFrame(X, columns=list("abcdef"))
    expected = Sieve(2, missing="indicator", **QUICK).fit(X[:60], Y[:60], clients=[X[60:150], X[150:]])
    for rows in (frame.iloc, sparse.csr_array(X)):
        found = clone(expected).fit(rows[:60], Y[:60], clients=[rows[60:150], rows[150:]])
        assert_allclose(found.scores_, expected.scores_, rtol=0, atol=1e-9)
    assert make_pipeline(Sieve(2, **QUICK)).fit(X, Y).transform(X).shape == (240, 2)
    assert Sieve().__sklearn_tags__().input_tags.allow_nan
    assert not Sieve(missing="error").__sklearn_tags__().input_tags.allow_nan


def test_a_column_that_nobody_has_is_warned_of(gapped):
    X, Y = gapped
    X[:, 3] = np.nan
    with pytest.warns(FedSieveWarning, match="Sieve: nobody has a value of 'x3': treated as constant"):
        found = Sieve(2, **QUICK).fit(X[:60], Y[:60], clients=[X[60:150], X[150:]])
    assert found.order_[-1] == 3


def test_what_secure_sums_and_noise_do_not_tell_is_none(gapped):
    pytest.importorskip("cryptography")
    X, Y = gapped
    clients = [X[60:120], X[120:180], X[180:]]
    found = Sieve(2, ranges="robust", secure=True, **QUICK).fit(X[:60], Y[:60], clients=clients)
    assert found.missing_share_ is None
    assert_allclose(found.missing_total_, np.isnan(X).mean(axis=0))
    noisy = Sieve(2, epsilon=5.0, **QUICK).fit(X[:60], Y[:60], clients=clients)
    assert noisy.missing_share_ is noisy.missing_total_ is None


@pytest.mark.parametrize("missing", ["mean", "indicator"])
@pytest.mark.parametrize("center", ["federation", "sites"])
def test_under_site_missing_values_take_part_with_robust_ranges(gapped, missing, center):
    X, Y = gapped
    how = {"missing": missing, "center": center, "ranges": "robust", **QUICK}
    found = Sieve(2, **how).fit(X[:60], Y[:60], clients=[X[60:120], X[120:180], X[180:]], policy="site")
    free = Sieve(2, **how).fit(X[:60], Y[:60], clients=[X[60:120], X[120:180], X[180:]])
    assert_allclose(found.scores_, free.scores_, rtol=0, atol=1e-9)
