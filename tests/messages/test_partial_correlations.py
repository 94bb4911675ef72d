"""Partial correlations of one site: those of residuals, and only for pairs that are pairs of its own columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve import messages as m
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from reference.rivals.fedcmfs_loops import partial_correlation
from sites_with_labels import sites_with_labels

FEATURES, LABELS = ("a", "b"), ("y", "z")
COLUMNS = m.Columns(FEATURES, (), "error")
X = np.array([[0.0, 5.0], [1.0, 5.5], [2.0, 6.0], [3.0, 9.0], [1.5, 7.0], [0.5, 8.0]])
Y = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [1, 1], [1, 0]], dtype=float)
CLIENT = Client(ArrayTable(FEATURES, X, LABELS, Y))


def correlation(first, second, given):
    return m.AskPartialCorrelations(
        COLUMNS, LABELS, *(np.array(part, dtype=np.int64) for part in (first, second, given))
    )


@given(sites_with_labels(), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_correlations_are_those_of_residuals_and_not_defined_for_constants(tables, n_given, seed):
    X, Y = tables[0]
    features, labels = (tuple(f"{kind}{i}" for i in range(T.shape[1])) for kind, T in (("f", X), ("y", Y)))
    n_variables = X.shape[1] + Y.shape[1]
    n_given = min(n_given, n_variables - 2, max(0, len(X) - 3))
    rng = np.random.default_rng(seed)
    asked = np.array([rng.permutation(n_variables)[: n_given + 2] for _ in range(5)])
    request = m.AskPartialCorrelations(m.Columns(features, (), "error"), labels, asked[:, 0], asked[:, 1], asked[:, 2:])
    reply = Client(ArrayTable(features, X, labels, Y)).answer(request)
    table = np.hstack([X, Y])
    for value, (x, y, *known) in zip(reply.values, asked, strict=True):
        if np.ptp(table[:, x]) == 0 or np.ptp(table[:, y]) == 0:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(partial_correlation(table, x, y, known), abs=1e-6)


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
