"""Sieve as its users meet it: planted problems, mixed tables, reasons, bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import Sieve
from fedsieve.errors import DataError, FedSieveWarning, ParameterError


@pytest.fixture(scope="module")
def planted():
    """Three of twenty columns carry the labels, one of them not linearly; one more copies the first with noise."""
    rng = np.random.default_rng(3)
    X = rng.random((400, 20))
    X[:, 11] = X[:, 2] + 0.1 * rng.random(400)
    Y = np.column_stack([X[:, 2] > 0.5, X[:, 7] > 0.6, np.abs(X[:, 15] - 0.5) > 0.25]).astype(int)
    return X, Y


def parts(X):
    return {"a": X[150:190], "b": X[190:310], "c": X[310:]}


def test_it_finds_what_carries_the_labels_also_where_it_is_not_linear(planted):
    X, Y = planted
    selector = Sieve().fit(X[:150], Y[:150], clients=parts(X))
    found = set(selector.get_support(indices=True))
    assert {2, 7, 15} <= found
    assert 11 not in found  # what it tells, the second column has told
    assert selector.transform(X).shape == (400, 8)
    assert [entry.kind for entry in selector.transcript_ if entry.receiver == "a"] == [
        "AskHistograms",
        "AskCovariances",
    ]


def test_one_place_gives_what_a_federation_gives(planted):
    X, Y = planted
    federated = Sieve().fit(X[:150], Y[:150], clients=parts(X))
    unlabeled = np.where(np.arange(400)[:, None] < 150, Y, -1)
    pooled = Sieve().fit(X, unlabeled)
    assert_array_equal(pooled.order_, federated.order_)
    assert_allclose(pooled.scores_, federated.scores_, atol=1e-9)
    assert_allclose(pooled.redundancy_, federated.redundancy_, atol=1e-9)
    assert pooled.transcript_ == ()


def test_unlabeled_rows_count(planted):
    X, Y = planted
    alone = Sieve().fit(X[:150], Y[:150])
    with_others = Sieve().fit(X[:150], Y[:150], clients=parts(X))
    assert not np.allclose(alone.relevance_, with_others.relevance_)


def test_auto_keeps_little_more_than_what_is_needed(planted):
    X, Y = planted
    selector = Sieve("auto", n_bootstraps=0).fit(X[:150], Y[:150], clients=parts(X))
    assert 2 <= selector.support_.sum() == selector.choice_.k <= 6
    chosen = set(selector.get_support(indices=True))
    assert 7 in chosen
    assert chosen & {2, 11}
    assert len(selector.choice_.loss) == len(selector.choice_.sizes) == len(selector.choice_.error)
    assert np.isnan(selector.stability_).all()


def test_the_reasons_name_the_twin_and_the_stability(planted):
    X, Y = planted
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(20)])
    selector = Sieve(4, ranges="federated").fit(frame[:100], Y[:100], clients=[frame[100:250], frame[250:]])
    reasons = pd.DataFrame(selector.explain()).set_index("feature")
    assert list(reasons.index) == [f"c{i}" for i in selector.order_]
    assert list(reasons["rank"]) == list(range(1, 21))
    assert reasons.loc["c2", "why"].startswith("selected as ")
    assert reasons.loc["c11", "redundant_with"] == "c2"
    correlation = abs(np.corrcoef(X[:, 2], X[:, 11])[0, 1])
    assert reasons.loc["c11", "redundancy"] == pytest.approx(correlation)
    assert f"much like 'c2', which is chosen (|correlation| {correlation:.2f})" in reasons.loc["c11", "why"]
    last = reasons.iloc[-1]
    assert last["why"].startswith("not selected: ")
    assert last["stability"] < 0.5 < reasons.loc["c7", "stability"]
    assert selector.relevance_.sum() == pytest.approx(1)
    assert set(selector.ranks_) == {"linear", "trees"}


def test_features_that_were_screened_out_say_so(planted):
    X, Y = planted
    selector = Sieve(2, screen=4).fit(X[:150], Y[:150], clients=parts(X))
    out = selector.scores_ < 0
    assert out.sum() == 16
    assert np.isnan(selector.redundancy_[out]).all()
    assert selector.explain()[-1]["why"].endswith("too little to be compared with the others.")
    assert "AskProjections" in {entry.kind for entry in selector.transcript_}


def test_codes_are_one_feature_and_columns_of_codes_can_be_a_group():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 200)
    X = np.column_stack([rng.random(200), codes, rng.random((200, 3))])
    Y = np.column_stack([codes == 2, codes % 2 == 1]).astype(int)
    by_code = Sieve(1, nominal=[1]).fit(X[:60], Y[:60], clients=[X[60:120], X[120:]])
    assert_array_equal(by_code.get_support(indices=True), [1])
    spread = np.column_stack([X[:, :1], codes[:, None] == np.arange(4), X[:, 2:]])
    group = Sieve(1, groups=[[1, 2, 3, 4]]).fit(spread[:60], Y[:60], clients=[spread[60:120], spread[120:]])
    assert_array_equal(group.get_support(indices=True), [1, 2, 3, 4])
    assert_allclose(group.scores_[[0, 1, 5, 6, 7]], by_code.scores_, atol=1e-9)


def test_sparse_tables_give_what_dense_ones_give():
    rng = np.random.default_rng(5)
    X = (rng.random((150, 12)) < 0.2).astype(float)
    Y = np.column_stack([X[:, 3], X[:, 3] + X[:, 5] > 0]).astype(int)
    dense = Sieve().fit(X[:60], Y[:60], clients=[X[60:100], X[100:]])
    tables = [sparse.csr_array(part) for part in (X[:60], X[60:100], X[100:])]
    light = Sieve().fit(tables[0], Y[:60], clients=tables[1:])
    assert_allclose(light.scores_, dense.scores_)


def test_the_seed_decides_and_nothing_else(planted):
    X, Y = planted

    def scores(seed):
        return Sieve(random_state=seed, n_trees=20, n_bootstraps=0).fit(X[:150], Y[:150]).scores_

    assert_array_equal(scores(0), scores(0))
    assert_array_equal(scores(np.int64(7)), scores(7))
    assert not np.array_equal(scores(0), scores(1))
    assert not np.array_equal(scores(None), scores(None))


def test_classes_are_as_good_as_labels(planted):
    X, Y = planted
    names = np.where(Y[:, 0] == 1, "ill", "well")
    assert Sieve(1).fit(X[:150], names[:150]).get_support(indices=True) in ([2], [11])


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"n_features_to_select": 21}, r"Sieve: n_features_to_select must be a whole number in \[1, n_features=20\]"),
        ({"n_features_to_select": "all"}, "Sieve: n_features_to_select must be a whole number"),
        ({"n_features_to_select": 20, "groups": [[0, 1]]}, r"in \[1, groups=19\], a share .*; got 20"),
        ({"groups": ["x1"]}, r"Sieve: groups\[0\] must be a list of features; got \'x1\'"),
        ({"groups": [[0, 1], [1, 2]]}, "Sieve: groups must not overlap; 'x1' occurs twice"),
        ({"groups": [[]]}, "Sieve: a group needs at least one feature"),
        ({"groups": [["height"]]}, "Sieve: groups name no such feature: 'height'"),
        ({"groups": [[40]]}, r"Sieve: groups\[0\]=.* has an index beyond the 20 features"),
        ({"nominal": [40]}, "Sieve: nominal=.* has an index beyond the 20 features"),
        ({"ridge": 0}, "Sieve: ridge must be above 0"),
        ({"n_trees": 0}, "Sieve: n_trees must be a whole number of at least 1; got 0"),
        ({"n_bootstraps": -1}, "Sieve: n_bootstraps must be a whole number of at least 0; got -1"),
        ({"screen": 1}, "Sieve: screen must be a whole number of at least 2; got 1"),
        ({"on_bad_client": "beg"}, "Sieve: on_bad_client must be one of"),
        ({"random_state": -1}, "Sieve: seed must be a whole number of at least 0; got -1"),
    ],
)
def test_bad_parameters_are_named(planted, parameters, says):
    X, Y = planted
    with pytest.raises(ParameterError, match=says):
        Sieve(**parameters).fit(X[:150], Y[:150])


def test_bad_tables_are_named(planted):
    X, Y = planted
    with pytest.raises(
        DataError, match=r"Sieve: no label varies over the 150 labeled rows; nothing to learn. Label more rows, until"
    ):
        Sieve().fit(X[:150], np.ones((150, 2), dtype=int))
    with pytest.raises(DataError, match="Sieve: one row of Y is -1"):
        Sieve().fit(X[:150], np.vstack([Y[:149], [[-1, -1, -1]]]))
    with pytest.raises(DataError, match='Sieve: n_features_to_select="auto" needs at least 10 labeled rows'):
        Sieve("auto").fit(X[:9], Y[:9])
    with pytest.raises(DataError, match=r"Sieve: nominal column 'x3' has a code that is no whole number"):
        Sieve(nominal=[3]).fit(X[:150], Y[:150])
    broken = X[:150].copy()
    broken[4, 5] = np.nan
    with pytest.raises(DataError, match=r"missing \(NaN\) value in column 'x5'"):
        Sieve(missing="error").fit(broken, Y[:150])
    broken[4, 5] = np.inf
    with pytest.raises(DataError, match=r"infinite \(inf\) value in column 'x5'"):
        Sieve().fit(broken, Y[:150])


@pytest.mark.parametrize("n", [0, 1])
def test_one_row_is_refused_with_a_way_out(n):
    """It was scikit-learn's message, which names no way out."""
    X, Y = np.ones((n, 3)), np.ones((n, 2), dtype=int)
    with pytest.raises(DataError, match=f"^Sieve: X must have at least 2 rows; got n_samples={n}. Add labeled rows"):
        Sieve().fit(X, Y, clients=[np.eye(3), np.eye(3)])


@pytest.mark.parametrize("how", [{}, {"center": "sites"}, {"screen": 6, "n_features_to_select": 2}, {"blend": "views"}])
def test_where_no_feature_varies_the_selection_is_said_to_mean_nothing(how):
    """The first four of ten were selected, and nothing was said."""
    Y = np.random.default_rng(0).integers(0, 2, (30, 3))
    still, quick = np.ones((30, 10)), {"n_bootstraps": 0, "n_trees": 5, **how}
    with pytest.warns(
        FedSieveWarning, match=r"Sieve: no feature varies: which are selected means nothing\. Give tables"
    ):
        Sieve(**quick).fit(still, Y, clients=[still, still])
    varying = still.copy()
    varying[::2, 7] = 2.0
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        Sieve(**quick).fit(still, Y, clients=[varying, still])
    assert not any("no feature varies" in str(one.message) for one in given)
