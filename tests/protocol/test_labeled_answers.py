"""What a site answers from its rows and labels, and which requests it will not answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.protocol import Client, Site
from fedsieve.protocol import messages as m
from labeled_sites import labeled_sites, pooled
from reference.rivals.basics import entropy
from reference.rivals.fedcmfs_loops import partial_correlation
from reference.rivals.fmlfs_loops import common_bins

FEATURES, LABELS = ("a", "b"), ("y", "z")
COLUMNS = m.Columns(FEATURES, (), "error")
X = np.array([[0.0, 5.0], [1.0, 5.5], [2.0, 6.0], [3.0, 9.0], [1.5, 7.0], [0.5, 8.0]])
Y = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [1, 1], [1, 0]], dtype=float)
LOW, HIGH = X.min(axis=0), X.max(axis=0)
CLIENT = Client(Site(FEATURES, X, LABELS, Y))


def information(low, high, n_bins=3):
    return m.AskInformation(COLUMNS, LABELS, m.Scaling(low, high), n_bins)


def correlation(first, second, given):
    return m.AskPartialCorrelations(
        COLUMNS, LABELS, *(np.array(part, dtype=np.int64) for part in (first, second, given))
    )


@given(labeled_sites(), st.integers(2, 6))
def test_information_and_distances_are_those_of_counting(tables, n_bins):
    X, Y = pooled(tables)
    features, labels = (tuple(f"{kind}{i}" for i in range(T.shape[1])) for kind, T in (("f", X), ("y", Y)))
    low, high = X.min(axis=0) - 1, X.max(axis=0) + 2
    request = m.AskInformation(m.Columns(features, (), "error"), labels, m.Scaling(low, high), n_bins)
    reply = Client(Site(features, X, labels, Y)).answer(request)
    bins = [common_bins(x.tolist(), a, b, n_bins) for x, a, b in zip(X.T, low, high, strict=True)]
    told = [[entropy(f) + entropy(y) - entropy(f, y) for y in Y.T.tolist()] for f in bins]
    apart = [2 * entropy(f, g) - entropy(f) - entropy(g) for i, f in enumerate(bins) for g in bins[i + 1 :]]
    assert (reply.n_rows, reply.features, reply.labels) == (len(X), features, labels)
    assert_allclose(reply.relevance, told, atol=1e-9)
    assert_allclose(reply.apart, apart, atol=1e-9)


@given(labeled_sites(), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_correlations_are_those_of_residuals_and_not_defined_for_constants(tables, n_given, seed):
    X, Y = tables[0]
    features, labels = (tuple(f"{kind}{i}" for i in range(T.shape[1])) for kind, T in (("f", X), ("y", Y)))
    n_variables = X.shape[1] + Y.shape[1]
    n_given = min(n_given, n_variables - 2, max(0, len(X) - 3))
    rng = np.random.default_rng(seed)
    asked = np.array([rng.permutation(n_variables)[: n_given + 2] for _ in range(5)])
    request = m.AskPartialCorrelations(m.Columns(features, (), "error"), labels, asked[:, 0], asked[:, 1], asked[:, 2:])
    reply = Client(Site(features, X, labels, Y)).answer(request)
    table = np.hstack([X, Y])
    for value, (x, y, *known) in zip(reply.values, asked, strict=True):
        if np.ptp(table[:, x]) == 0 or np.ptp(table[:, y]) == 0:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(partial_correlation(table, x, y, known), abs=1e-6)


def test_features_and_labels_are_taken_by_name_in_the_order_asked():
    mixed = Client(Site(FEATURES[::-1], X[:, ::-1], LABELS[::-1], Y[:, ::-1]))
    for request in (information(LOW, HIGH), m.AskCovariances(COLUMNS, LABELS), correlation([0, 1], [2, 3], [[3], [0]])):
        straight, other = CLIENT.answer(request), mixed.answer(request)
        for name, value in vars(straight).items():
            assert_array_equal(getattr(other, name), value)


def test_labels_that_are_not_asked_for_stay_out():
    reply = CLIENT.answer(m.AskCovariances(COLUMNS, ("z",)))
    assert reply.labels == ("z",)
    assert_array_equal(reply.mean, [*X.mean(axis=0), Y[:, 1].mean()])


OUTSIDE = {
    "above the smallest": (LOW + np.array([0.25, 0]), HIGH),
    "below the largest": (LOW, HIGH - np.array([0, 0.25])),
    "one point": (LOW, LOW),
    "upside down": (HIGH, LOW),
    "not a number": (np.full(2, np.nan), HIGH),
    "infinite": (LOW, np.full(2, np.inf)),
}


@pytest.mark.parametrize(("low", "high"), OUTSIDE.values(), ids=OUTSIDE)
def test_ranges_that_do_not_hold_the_sites_values_are_the_servers_invention(low, high):
    """With bins of its choice a server could count the values beyond an edge."""
    assert isinstance(CLIENT.answer(information(LOW, HIGH)), m.Information)
    assert CLIENT.answer(information(low, high)).reason == (
        "was sent ranges that do not hold its own values; federated ranges hold those of all."
    )


@pytest.mark.parametrize("n_columns", [1, 3])
def test_ranges_of_another_number_of_columns_are_counted(n_columns):
    reply = CLIENT.answer(information(np.zeros(n_columns), np.full(n_columns, 9.0)))
    assert reply.reason == f"was sent {n_columns} and {n_columns} ends of ranges for 2 columns."


@pytest.mark.parametrize(("low", "high"), [(None, None), (LOW, None), (None, HIGH)])
def test_bins_of_ones_own_range_are_not_counted_in(low, high):
    assert CLIENT.answer(information(low, high)).reason == "was sent no ranges; bins must be the same at all sites."


@pytest.mark.parametrize(
    "request_", [correlation([4], [0], [[]]), correlation([0], [-1], [[]]), correlation([0], [1], [[2, 4]])]
)
def test_variables_beyond_the_sites_own_are_refused(request_):
    assert CLIENT.answer(request_).reason == "was asked about variables beyond its 4."


@pytest.mark.parametrize(
    "request_",
    [
        correlation([0, 1], [2], [[3], [3]]),
        correlation([0, 1], [2, 3], [[3]]),
        correlation([0, 1], [2, 3], [3, 3]),
        correlation([[0, 1]], [[2, 3]], [[3]]),
        correlation(0, 1, [[3]]),
    ],
    ids=["one second", "one row given", "given no table", "pairs of pairs", "no list"],
)
def test_pairs_that_do_not_fit_each_other_are_refused(request_):
    assert CLIENT.answer(request_).reason == "was asked about pairs that do not fit each other."


def test_no_test_is_a_test_too():
    assert CLIENT.answer(correlation([], [], np.empty((0, 2)))).values.shape == (0,)
