"""FMLFS: sites' information against plain loops, fronts, planted and degenerate tables."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve import datasets
from fedsieve.errors import ParameterError
from fedsieve.rivals.fmlfs import FMLFS
from reference.rivals.fmlfs_loops import fmlfs_loops
from sites_with_labels import fit, pooled, sites_with_labels, split

PARAMETERS = st.fixed_dictionaries(
    {
        "n_bins": st.integers(2, 6),
        "weighting": st.sampled_from(["rows", "plain"]),
        "relevance": st.sampled_from(["mean", "max"]),
    }
)


@parametrize_with_checks([FMLFS()])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks([FMLFS(1, n_bins=2, weighting="plain", relevance="max")])
def test_scikit_learn_s_checks_in_full(estimator, check):
    check(estimator)


def assert_as_by_loops(sites, parameters):
    found, slow = fit(FMLFS(**parameters), sites), fmlfs_loops(sites, **parameters)
    assert_allclose(found.relevance_, slow["relevance"], atol=1e-9)
    assert_allclose(found.apart_, slow["apart"], atol=1e-9)
    assert found.front_.tolist() == slow["front"]
    assert_allclose(found.crowding_, slow["crowding"], atol=1e-9)
    assert found.order_.tolist() == slow["order"]


@given(sites_with_labels(), PARAMETERS)
def test_everything_found_is_that_of_plain_loops(sites, parameters):
    assert_as_by_loops(sites, parameters)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
@pytest.mark.parametrize(
    "parameters", [{}, {"n_bins": 2, "weighting": "plain"}, {"n_bins": 5, "relevance": "max"}], ids=str
)
def test_emotions_at_four_sites_are_ranked_as_by_plain_loops(parameters):
    data = datasets.load("emotions")
    assert_as_by_loops(split(data.X[:, ::2], data.Y, [300, 150, 100, 43]), parameters)


@given(sites_with_labels(), PARAMETERS, st.randoms(use_true_random=False))
def test_neither_the_clients_order_nor_their_names_matter(sites, parameters, random):
    (X, Y), *others = sites
    before = FMLFS(**parameters).fit(X, Y, clients=others)
    random.shuffle(others)
    after = FMLFS(**parameters).fit(X, Y, clients=dict(zip(["zoo", "a b", "größe"], others, strict=False)))
    assert_array_equal(after.order_, before.order_)
    assert_array_equal(after.front_, before.front_)
    assert_allclose(after.scores_, before.scores_, atol=1e-9)


@given(sites_with_labels(), PARAMETERS)
def test_the_server_is_a_site_like_the_others(sites, parameters):
    first, last = fit(FMLFS(**parameters), sites), fit(FMLFS(**parameters), sites[::-1])
    assert_array_equal(first.order_, last.order_)
    assert_allclose(first.relevance_, last.relevance_, atol=1e-12)


@given(sites_with_labels(kinds=("noise", "of a label")), PARAMETERS, st.randoms(use_true_random=False))
def test_permuted_features_have_permuted_results(sites, parameters, random):
    moved = list(range(sites[0][0].shape[1]))
    random.shuffle(moved)
    before = fit(FMLFS(**parameters), sites)
    after = fit(FMLFS(**parameters), [(X[:, moved], Y) for X, Y in sites])
    assert_allclose(after.relevance_, before.relevance_[moved], atol=1e-12)
    assert_allclose(after.apart_, before.apart_[moved], atol=1e-12)
    assert_array_equal(after.front_, before.front_[moved])
    told = (before.relevance_, before.apart_, before.scores_)
    if all(len(np.unique(values.round(9))) == len(values) for values in told):  # ties go to the smaller index
        assert_array_equal(np.array(moved)[after.order_], before.order_)


@given(sites_with_labels(), PARAMETERS)
def test_the_order_follows_fronts_and_within_a_front_crowding(sites, parameters):
    found = fit(FMLFS(**parameters), sites)
    fronts, room = found.front_[found.order_], found.crowding_[found.order_]
    for before in range(len(fronts) - 1):
        if fronts[before] == fronts[before + 1]:
            assert room[before] >= room[before + 1] - 1e-9
        elif fronts[before] > fronts[before + 1]:  # only where no room at all is as bad as the next front's end
            assert (room[before], room[before + 1]) == (np.inf, 0)
    assert_array_equal(found.scores_[found.order_], np.sort(found.scores_)[::-1])


@given(sites_with_labels(), PARAMETERS)
def test_rows_at_one_place_are_one_site(sites, parameters):
    X, Y = pooled(sites)
    found = FMLFS(**parameters).fit(X, Y)
    slow = fmlfs_loops([(X, Y)], **parameters)
    assert found.order_.tolist() == slow["order"]
    assert found.transcript_ == ()


@pytest.mark.parametrize("seed", range(3))
def test_the_more_rows_sites_have_the_closer_they_come_to_all_rows_in_one_place(seed):
    rng = np.random.default_rng(seed)
    apart = []
    for n_rows in (200, 3200):  # the bias of a site's information falls with its rows, here to a 16th
        Y = rng.integers(0, 2, (n_rows, 3)).astype(float)
        X = rng.random((n_rows, 6))
        X[:, :3] += Y * [0.2, 0.5, 1.0]
        federated = fit(FMLFS(), split(X, Y, [n_rows // 4] * 4))
        apart.append(np.abs(federated.relevance_ - FMLFS().fit(X, Y).relevance_).max())
    assert 0 < apart[1] < apart[0] / 2


@settings(max_examples=20)
@given(sites_with_labels())
def test_sites_of_equal_size_are_weighted_alike_either_way(sites):
    n_rows = min(len(X) for X, _ in sites)
    equal = [(X[:n_rows], Y[:n_rows]) for X, Y in sites]
    rows, plain = fit(FMLFS(), equal), fit(FMLFS(weighting="plain"), equal)
    assert_allclose(rows.scores_, plain.scores_)
    assert_array_equal(rows.order_, plain.order_)


def test_a_small_site_counts_less_by_rows_and_as_much_as_any_otherwise(rng):
    Y = rng.integers(0, 2, (100, 2)).astype(float)
    X = rng.random((100, 2))
    X[90:, 1] = Y[90:, 0]  # only the small site finds the feature telling
    sites = split(X, Y, [45, 45, 10])
    rows, plain = fit(FMLFS(), sites), fit(FMLFS(weighting="plain"), sites)
    assert plain.relevance_[1] > rows.relevance_[1] + 0.05


@pytest.fixture
def noise(rng):
    return rng.random((300, 12)), rng.integers(0, 2, (300, 3)).astype(float)


def test_noisy_copies_of_the_labels_are_on_top_of_features_that_are_hardly_ever_1(rng):
    Y = rng.integers(0, 2, (300, 3)).astype(float)
    X = (rng.random((300, 12)) < 0.05).astype(float)  # tell little, and are close to each other
    X[:, [2, 5, 7]] = np.abs(Y - (rng.random(Y.shape) < 0.1))
    assert set(fit(FMLFS(), split(X, Y, [100] * 3)).order_[:3]) == {2, 5, 7}


@pytest.mark.parametrize("relevance", ["mean", "max"])
def test_a_feature_that_is_a_label_tells_most_and_is_in_the_first_front(noise, relevance):
    X, Y = noise
    X[:, 8] = Y[:, 1]
    found = fit(FMLFS(relevance=relevance), split(X, Y, [100] * 3))
    assert found.relevance_.argmax() == 8
    assert (found.front_[8], found.crowding_[8], found.scores_[8]) == (1, np.inf, -1)


def test_the_mean_or_the_most_that_a_feature_tells_of_a_label(noise):
    X, Y = noise
    X[:, 8] = Y[:, 1]
    sites = split(X, Y, [100] * 3)
    mean, most = fit(FMLFS(), sites).relevance_, fit(FMLFS(relevance="max"), sites).relevance_
    assert most[8] == pytest.approx(1, abs=0.05)  # a balanced label has one bit
    assert np.all(mean < most)


def test_a_constant_feature_tells_nothing_and_is_as_far_from_another_as_that_has_entropy(noise):
    X, Y = noise
    X[:, 4] = 0.1
    X = X[:, 3:5]
    found = fit(FMLFS(n_bins=4), split(X, Y, [100] * 3))
    assert found.relevance_[1] == 0
    assert found.apart_[1] == found.apart_[0] == pytest.approx(2, abs=0.1)  # four bins have two bits


def test_a_duplicate_has_the_front_of_its_original(noise):
    X, Y = noise
    X[:, 9] = X[:, 3]
    found = fit(FMLFS(), split(X, Y, [100] * 3))
    assert_allclose(found.relevance_[9], found.relevance_[3])
    assert_allclose(found.apart_[9], found.apart_[3])
    assert found.front_[9] == found.front_[3]


def test_constants_are_one_front_of_which_the_ends_come_first(noise):
    _, Y = noise
    found = fit(FMLFS(), split(np.ones((300, 4)), Y, [100] * 3))
    assert_array_equal(found.front_, 1)
    assert found.order_.tolist() == [0, 3, 1, 2]


def test_more_labels_than_features(rng):
    Y = rng.integers(0, 2, (90, 9)).astype(float)
    X = np.stack([rng.random(90), Y[:, 3]], axis=1)
    assert fit(FMLFS(), split(X, Y, [30] * 3)).relevance_.argmax() == 1


def test_bins_are_those_of_all_sites_together():
    """Of one's own range both sites would fill both bins."""
    X = np.array([[0.0], [1.0], [0.0], [1.0], [10.0], [11.0], [10.0], [11.0], [0.0], [11.0]])
    Y = np.tile([[0.0, 1.0], [1.0, 0.0]], (5, 1))
    found = FMLFS(n_bins=2).fit(X[8:], Y[8:], clients=[(X[:4], Y[:4]), (X[4:8], Y[4:8])])
    assert found.relevance_ == pytest.approx([0.2])  # of ten rows, the server's two tell one bit


def test_sparse_rows_give_the_dense_answer(rng):
    X = (rng.random((90, 10)) < 0.2).astype(float)
    Y = rng.integers(0, 2, (90, 3)).astype(float)
    sites = split(X, Y, [30] * 3)
    thin = [(sparse.csr_array(X), sparse.csr_array(Y)) for X, Y in sites]
    assert_array_equal(fit(FMLFS(), thin).scores_, fit(FMLFS(), sites).scores_)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"n_bins": 1}, "n_bins must be a whole number of at least 2; got 1."),
        ({"n_bins": 2.5}, "n_bins must be a whole number of at least 2; got 2.5."),
        ({"weighting": "labels"}, "weighting must be one of 'rows', 'plain'; got 'labels'."),
        ({"relevance": "sum"}, "relevance must be one of 'mean', 'max'; got 'sum'."),
    ],
    ids=str,
)
def test_bad_parameters_are_named(noise, parameters, said):
    with pytest.raises(ParameterError) as refused:
        FMLFS(**parameters).fit(*noise)
    assert str(refused.value) == f"FMLFS: {said}"
