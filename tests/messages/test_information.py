"""What features tell of labels, in bins: as by counting, and in no bins of the server's invention."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fedsieve import messages as m
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from reference.rivals.basics import entropy
from reference.rivals.fmlfs_loops import common_bins
from sites_with_labels import pooled, sites_with_labels

FEATURES, LABELS = ("a", "b"), ("y", "z")
COLUMNS = m.Columns(FEATURES, (), "error")
X = np.array([[0.0, 5.0], [1.0, 5.5], [2.0, 6.0], [3.0, 9.0], [1.5, 7.0], [0.5, 8.0]])
Y = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [1, 1], [1, 0]], dtype=float)
LOW, HIGH = X.min(axis=0), X.max(axis=0)
CLIENT = Client(ArrayTable(FEATURES, X, LABELS, Y))


def information(low, high, n_bins=3):
    return m.AskInformation(COLUMNS, LABELS, m.Scaling(low, high), n_bins)


@given(sites_with_labels(), st.integers(2, 6))
def test_information_and_distances_are_those_of_counting(tables, n_bins):
    X, Y = pooled(tables)
    features, labels = (tuple(f"{kind}{i}" for i in range(T.shape[1])) for kind, T in (("f", X), ("y", Y)))
    low, high = X.min(axis=0) - 1, X.max(axis=0) + 2
    request = m.AskInformation(m.Columns(features, (), "error"), labels, m.Scaling(low, high), n_bins)
    reply = Client(ArrayTable(features, X, labels, Y)).answer(request)
    bins = [common_bins(x.tolist(), a, b, n_bins) for x, a, b in zip(X.T, low, high, strict=True)]
    told = [[entropy(f) + entropy(y) - entropy(f, y) for y in Y.T.tolist()] for f in bins]
    apart = [2 * entropy(f, g) - entropy(f) - entropy(g) for i, f in enumerate(bins) for g in bins[i + 1 :]]
    assert (reply.n_rows, reply.features, reply.labels) == (len(X), features, labels)
    assert_allclose(reply.relevance, told, atol=1e-9)
    assert_allclose(reply.apart, apart, atol=1e-9)
    assert (reply.apart >= 0).all()  # of copies too, whatever rounding makes of them


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


@pytest.mark.parametrize("change", ["relevance", "apart"])
def test_values_in_one_bin_tell_nothing(change):
    named = m.Ranges(9, FEATURES, np.array([0.1, 2.0]), np.array([0.2, 3.0]))  # both in the first third of [0, 10]
    request = information(np.zeros(2), np.full(2, 10.0))
    honest = m.Information(9, FEATURES, LABELS, np.zeros((2, 2)), np.zeros(1))
    known = m.Known(9, {m.AskRanges: (m.AskRanges(COLUMNS), named)})
    assert request.why_refused(honest, known) is None
    relevance, apart = (0.3, 0.0) if change == "relevance" else (0.0, 0.5)
    lie = m.Information(9, FEATURES, LABELS, np.full((2, 2), relevance), np.full(1, apart))
    assert request.why_refused(lie, m.Known(9)) is None
    assert request.why_refused(lie, known) == (
        "sent information that contradicts its ranges: values in one bin tell nothing."
    )
