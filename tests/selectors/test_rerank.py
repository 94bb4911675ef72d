"""`rerank` and the reasons of a fitted selector: what is computed late, and what a pickle keeps of it."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from fedsieve import FMLFS, SSFMLFS, Sieve
from fedsieve.errors import DataError, ParameterError
from fedsieve.transport.rerank import rerank
from fedsieve.transport.totals_file import Totals

QUICK = {"n_trees": 8, "n_bootstraps": 3}


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(180, 8))
    Y = np.column_stack([X[:, 2] > 0, X[:, 5] + X[:, 2] > 0.3]).astype(int)
    return X[:60], Y[:60], [X[60:120], X[120:]]


@pytest.mark.parametrize(
    "selector",
    [Sieve(3, **QUICK), Sieve("auto", secure=False, **QUICK), SSFMLFS(3), Sieve(3, groups=[[0, 4]], **QUICK)],
)
def test_another_number_is_what_fit_would_find(planted, selector):
    X, Y, clients = planted
    before = selector.fit(X, Y, clients=clients).support_.copy()
    again = selector.rerank(5)
    fresh = type(selector)(**{**selector.get_params(), "n_features_to_select": 5}).fit(X, Y, clients=clients)
    for name in ("scores_", "order_", "support_", "relevance_"):
        assert_array_equal(getattr(again, name), getattr(fresh, name), err_msg=name)
    assert again.n_features_to_select == 5
    assert_array_equal(selector.support_, before)
    assert again.transcript_ == selector.transcript_
    assert again.influence_ == fresh.influence_
    if isinstance(selector, Sieve):
        assert again.explain() == fresh.explain()
        assert_array_equal(again.rerank(2, n_bootstraps=0).stability_, np.full(8, np.nan))


def test_without_clients_and_with_another_seed(planted):
    X, Y, _ = planted
    selector = Sieve(3, **QUICK).fit(X, Y)
    other = selector.rerank(3, random_state=7)
    assert_array_equal(other.scores_, Sieve(3, random_state=7, **QUICK).fit(X, Y).scores_)


@pytest.fixture(scope="module")
def gapped(planted):
    """Gaps, some labels unknown, and weights; at one client a whole column is missing."""
    X, Y, (first, second) = planted
    rng = np.random.default_rng(5)
    X, first, second = (np.where(rng.random(rows.shape) < 0.1, np.nan, rows) for rows in (X, first, second))
    first[:, 1] = np.nan
    unknown = np.where(rng.random(Y.shape) < 0.1, -1, Y)
    return X, unknown, [first, second], rng.integers(1, 4, len(X)).astype(float)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"missing": "indicator"},
        {"center": "sites"},
        {"missing": "indicator", "center": "sites", "ranges": "robust"},
        {"screen": 2, "missing": "indicator"},
        {"secure": True, "ranges": "robust"},
    ],
)
def test_another_number_with_gaps_weights_and_unknown_labels_is_what_fit_would_find(gapped, how):
    X, Y, clients, weights = gapped
    clients = [*clients, clients[1][::-1]]
    selector = Sieve(1, **QUICK, **how).fit(X, Y, clients=clients, sample_weight=weights)
    if "screen" in how:  # as many are compared as are selected twice
        again, fresh = selector.rerank(1, random_state=3), Sieve(1, random_state=3, **QUICK, **how)
    else:
        again, fresh = selector.rerank(0.5), Sieve(0.5, **QUICK, **how)
    fresh.fit(X, Y, clients=clients, sample_weight=weights)
    for name in ("scores_", "order_", "support_", "relevance_", "per_label_", "null_band_", "rank_interval_"):
        assert_array_equal(getattr(again, name), getattr(fresh, name), err_msg=name)
    assert [row["why"] for row in again.explain()] == [row["why"] for row in fresh.explain()]
    assert_array_equal(again.missing_total_, fresh.missing_total_)
    if "secure" not in how:
        assert set(again.missing_share_) == set(fresh.missing_share_) >= {"client-0", "client-1"}
        assert again.missing_share_["client-0"][1] == 1.0
    assert again.site_shift_ is selector.site_shift_


def test_other_weights_are_other_rows(gapped):
    X, Y, clients, weights = gapped
    run = Sieve(2, **QUICK).fit(X, Y, clients=clients, sample_weight=weights)._run
    totals = Totals.of(run.method, run.federation.labeled, run.totals)
    with pytest.raises(DataError, match="are not those of the run"):
        rerank(totals, replace(run.federation.labeled, weights=None), {"n_features_to_select": 1})


def test_the_reasons_of_text_are_those_of_its_codes(planted):
    X, Y, clients = planted

    def frame(rows, words):
        named = pd.DataFrame(rows, columns=[f"f{i}" for i in range(8)])
        return named.assign(f2=np.where(named["f2"] > 0, *words))

    text, codes = (
        Sieve(3, nominal=nominal, **QUICK)
        .fit(frame(X, words), Y, clients=[frame(rows, words) for rows in clients])
        .rerank(2)
        for words, nominal in ((("high", "low"), ()), ((0.0, 1.0), ["f2"]))
    )
    assert text.categories_ == {"f2": ("high", "low")}
    assert [row["why"] for row in text.explain()] == [row["why"] for row in codes.explain()]


def test_what_clients_were_asked_cannot_change(planted):
    X, Y, clients = planted
    selector = Sieve(3, **QUICK).fit(X, Y, clients=clients)
    with pytest.raises(ParameterError, match="Sieve: 'ranges' decides what the sites are asked"):
        selector.rerank(3, ranges="robust")
    with pytest.raises(
        ParameterError, match=r"n_features_to_select must be a whole number in \[1, n_features=8\], a share .*; got 9\."
    ):
        selector.rerank(9)
    with pytest.raises(DataError, match=r"Sieve: a pickled selector keeps no totals to rerank from\. Fit again\."):
        pickle.loads(pickle.dumps(selector)).rerank(2)


def test_a_method_that_needs_single_replies_says_so(planted):
    X, Y, clients = planted
    rng = np.random.default_rng(0)
    with_labels = [(rows, rng.integers(0, 2, (len(rows), 2))) for rows in clients]
    selector = FMLFS(3).fit(X, Y, clients=with_labels)
    with pytest.raises(
        DataError, match=r"FMLFS: there are no totals to rerank from: the method needs every site's own"
    ):
        selector.rerank(2)
    assert selector.per_label_.shape == (2, 8)
    assert selector.per_label_.mean(axis=0) == pytest.approx(selector.relevance_)


def test_the_labels_of_a_frame_or_the_classes_of_y_are_named(planted):
    X, Y, clients = planted
    named = Sieve(3, **QUICK).fit(X, pd.DataFrame(Y, columns=["fever", "pain"]), clients=clients)
    assert named.label_names_ == ("fever", "pain")
    assert named.per_label_.shape == (2, 8)
    best = next(row for row in named.explain() if row["feature"] == "x2")
    assert set(best["labels"]) == {"fever", "pain"}
    assert "most for 'fever'" in best["why"]
    classes = Sieve(3, **QUICK).fit(X, np.array(["no", "yes"])[Y[:, 0]], clients=clients)
    assert classes.label_names_ == ("no", "yes")
    assert_array_equal(classes.per_label_[0], classes.per_label_[1])  # two classes: one is the other's opposite
    assert {word for row in classes.explain() for word in row["labels"]} == {"yes"}  # said "most for 'no' and 'yes'"
    assert "most for 'yes';" in classes.rerank(2).explain()[0]["why"]
    assert Sieve(3, **QUICK).fit(X, Y[:, 0] + 2 * Y[:, 1]).label_names_ == ("0", "1", "2", "3")


def test_a_pickle_holds_no_rows_and_of_chance_what_was_read(planted):
    X, Y, clients = planted
    selector = Sieve(3, **QUICK).fit(X, Y, clients=clients)
    unread = pickle.loads(pickle.dumps(selector))
    with pytest.raises(AttributeError, match="null_band_ was not read before the selector was pickled"):
        _ = unread.null_band_
    assert all(row["better_than_chance"] is None for row in unread.explain())
    band = selector.null_band_
    data = pickle.dumps(selector)
    assert X[:5].tobytes() not in data
    read = pickle.loads(data)
    assert_array_equal(read.null_band_, band)
    assert read.explain() == selector.explain()
    assert_array_equal(pickle.loads(pickle.dumps(read)).null_band_, band)


def test_a_feature_below_its_band_is_no_better_than_chance_and_says_so(planted):
    X, _, clients = planted
    noise = np.random.default_rng(9).integers(0, 2, (60, 3))
    rows = pd.DataFrame(Sieve(3, n_trees=40, n_bootstraps=0).fit(X, noise, clients=clients).explain())
    assert (rows["better_than_chance"] == (rows["score"] > rows["chance"])).all()
    assert rows["score"].max() > 0.8  # the best of nothing
    low = ~rows["better_than_chance"].astype(bool)
    assert low.any()
    assert rows["why"].str.contains("no better than chance")[low].all()
    assert not rows["why"].str.contains("no better than chance")[~low].any()


def test_ranks_of_bootstraps_surround_a_clear_winner_closely(planted):
    X, Y, clients = planted
    selector = Sieve(2, n_trees=40, n_bootstraps=20).fit(X, Y, clients=clients)
    low, high = selector.rank_interval_.T
    assert (low <= high).all()
    assert (low >= 1).all()
    assert (high <= 8).all()
    width = high - low
    assert width[2] < np.delete(width, [2, 5]).mean()
