"""Labeled rows of which single labels are unknown: they count where they are known, in Sieve and SSFMLFS."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import pearsonr

from fedsieve import SSFMLFS, Sieve
from fedsieve.catalog import registry
from fedsieve.errors import DataError
from fedsieve.fuzzy.neighbors import known_label_similarity, label_similarity
from fedsieve.selectors.labels import read_labels
from fedsieve.sieve.label_model import label_model

QUICK = {"n_trees": 10, "n_bootstraps": 2}
TAKERS = ("Sieve", "SSFMLFS")


def build(name):
    return Sieve(2, **QUICK) if name == "Sieve" else SSFMLFS(2)


@pytest.fixture
def data():
    rng = np.random.default_rng(11)
    X = rng.random((40, 6))
    Y = (X[:, :3] > 0.5).astype(float)
    clients = [rng.random((15, 6)) for _ in range(3)]
    return X, Y, clients


@pytest.mark.parametrize("name", TAKERS)
def test_minus_one_and_nan_say_the_same_and_count_where_known(name, data):
    X, Y, clients = data
    hidden = np.zeros(Y.shape, dtype=bool)
    hidden[::3, 0] = hidden[1::4, 2] = True
    as_nan = build(name).fit(X, np.where(hidden, np.nan, Y), clients=clients)
    as_minus = build(name).fit(X, np.where(hidden, -1, Y), clients=clients)
    frame = pd.DataFrame(np.where(hidden, None, Y)).astype("Float64")
    assert_array_equal(as_nan.scores_, as_minus.scores_)
    assert_array_equal(
        as_nan.scores_, build(name).fit(X, frame.to_numpy(float, na_value=np.nan), clients=clients).scores_
    )
    taken_for_absent = build(name).fit(X, np.where(hidden, 0, Y), clients=clients)
    assert not np.allclose(as_nan.scores_, taken_for_absent.scores_)


def test_a_label_known_in_some_rows_is_learned_from_these_alone(data):
    X, Y, _ = data
    known = np.arange(40) % 2 == 0
    partly = Y.copy()
    partly[~known, 1] = np.nan
    model = label_model(X, partly, 0.3)
    assert_allclose(model[:, [0, 2]], label_model(X, Y, 0.3)[:, [0, 2]], atol=1e-12)
    assert_allclose(model[:, 1], label_model(X[known], Y[known], 0.3)[:, 1] * np.sqrt(0.5), atol=1e-12)


@pytest.mark.parametrize("name", TAKERS)
def test_rows_of_which_nothing_is_known_are_unlabeled(name, data):
    X, Y, _ = data
    Y[5:20] = -1
    mixed = Y.copy()
    mixed[5:20, 1] = np.nan
    assert_array_equal(build(name).fit(X, mixed).scores_, build(name).fit(X, Y).scores_)


def test_sieve_finds_what_a_seldom_known_label_says(data):
    X, Y, clients = data
    Y = np.column_stack([Y[:, 0], X[:, 4] > 0.5]).astype(float)
    Y[15:, 1] = np.nan
    assert set(Sieve(2, n_trees=50).fit(X, Y, clients=clients).order_[:2]) == {0, 4}


@pytest.mark.parametrize("k", ["auto", 2])
def test_the_number_of_features_is_judged_on_rows_that_are_wholly_known(k, data):
    X, Y, clients = data
    Y[::4, 0] = np.nan
    found = Sieve(k, **QUICK).fit(X, Y, clients=clients)
    assert np.isfinite(found.stability_).all()
    if k == "auto":
        assert np.isfinite(found.choice_.loss).all()


def test_wide_tables_and_noise_take_them_as_well(data):
    X, Y, clients = data
    Y[::3, 0] = np.nan
    assert np.isfinite(Sieve(1, screen=2, **QUICK).fit(X, Y, clients=clients).scores_).all()
    pytest.importorskip("dp_accounting")
    assert np.isfinite(Sieve(1, epsilon=10.0, **QUICK).fit(X, Y, clients=clients).scores_).all()


@pytest.mark.parametrize("decisions", ["crisp", "soft"])
def test_ssfmlfs_compares_rows_by_what_is_known_of_both(decisions, data):
    X, Y, clients = data
    Y[::3, 0] = np.nan
    found = SSFMLFS(2, decisions=decisions).fit(X, Y, clients=clients)
    assert (found.relevance_ > 0).any()
    assert np.isfinite(found.scores_).all()


def test_the_similarity_is_a_correlation_over_common_labels():
    rng = np.random.default_rng(3)
    Y = rng.random((12, 7)).round(1)
    assert_allclose(known_label_similarity(Y), label_similarity(Y), atol=1e-12)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    similarity = known_label_similarity(Y)
    for i in range(12):
        for j in range(12):
            both = ~np.isnan(Y[i]) & ~np.isnan(Y[j])
            a, b = Y[i, both], Y[j, both]
            alike = pearsonr(a, b)[0] if both.sum() > 1 and np.ptp(a) and np.ptp(b) else 0.0
            assert similarity[i, j] == pytest.approx(alike, abs=1e-9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda Y: np.column_stack([Y, np.full(40, np.nan)]),
            "1 of 4 labels is known in no row, the first .* label 3",
        ),
        (lambda Y: np.where(Y == 0, -1, 1), "all known labels are 1, since -1 means unknown. Absent labels are 0"),
        (lambda Y: np.where(Y == 0, 2, np.nan), "labels must be 0 or 1; got another number in row"),
    ],
)
@pytest.mark.parametrize("name", TAKERS)
def test_what_cannot_be_meant_is_refused(name, change, said, data):
    X, Y, _ = data
    with pytest.raises(DataError, match=rf"^{name}: {said}"):
        build(name).fit(X, change(Y))


@pytest.mark.parametrize("name", [n for n, entry in registry().items() if n not in TAKERS and not entry.control])
@pytest.mark.parametrize("unknown", [-1, np.nan])
def test_all_others_refuse_them_and_name_those_that_do_not(name, unknown, data):
    X, Y, _ = data
    Y[3, 1] = unknown
    with pytest.raises(
        DataError, match=r"in row 3, label 1 \(1 such entries\).* Single unknown labels are for Sieve and"
    ):
        registry()[name].factory().fit(X, Y)


def test_rows_without_any_label_are_told_from_rows_with_some():
    labels, labeled = read_labels([[1, -1], [-1, -1], [0, np.nan], [0, 1]], partly=True)
    assert labeled.tolist() == [True, False, True, True]
    assert_array_equal(labels[labeled], [[1, np.nan], [0, np.nan], [0, 1]])
