"""Covariances that are too large for a message are refused before anybody computes them, with numbers that fit."""

import re
import warnings

import numpy as np
import pytest

from fedsieve import Sieve
from fedsieve.errors import FedSieveWarning, ParameterError
from fedsieve.methods import SieveMethod, compared_columns
from fedsieve.methods.compared_columns import message_bytes, most_compared
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process

LIMIT = 100_000  # bytes: 157 columns and no more
FAST = {"n_trees": 2, "n_bootstraps": 0, "max_message_bytes": LIMIT}
D = 200
NAMES = tuple(f"x{place}" for place in range(D))


class Unread(ArrayTable):
    """Rows that nobody may ask for."""

    def read(self, *_):
        raise AssertionError("a site was asked")


def rows(n):
    return np.random.default_rng(n).normal(size=(n, D))


def run(kind=ArrayTable, coded=False, **parameters):
    tables = {"a": rows(30), "b": rows(31)}
    X = rows(40)
    if coded:
        for table in (X, *tables.values()):
            table[:, 0] = np.arange(len(table)) % 25
        parameters["nominal"] = ("x0",)
    sites = {name: kind(NAMES, table) for name, table in tables.items()}
    Y = (X[:, 1:3] > 0).astype(float)
    return in_process.select(SieveMethod(NAMES, **{**FAST, **parameters}), Labeled(X, Y), sites)


CAUSES = {
    "number": {"n_features_to_select": 90, "screen": 100},
    "share": {"n_features_to_select": 0.45, "screen": 100},
    "screen": {"n_features_to_select": 10},
    "both": {"n_features_to_select": 90},
    "noise": {"n_features_to_select": 90, "epsilon": 1.0, "n_labels": 2},
    "at once": {"n_features_to_select": 90, "ranges": dict.fromkeys(NAMES, (-9.0, 9.0))},
}


def test_with_noise_and_codes_sites_tell_squares_and_nothing_is_too_large():
    """Columns were counted without their codes, as if all of them would be compared."""
    found = run(coded=True, n_features_to_select=10, screen=210, epsilon=1.0, n_labels=2)
    assert max(entry.n_bytes for entry in found.transcript) < LIMIT


@pytest.mark.parametrize("parameters", CAUSES.values(), ids=CAUSES)
def test_no_site_is_asked_and_the_way_out_that_is_named_is_one(parameters):
    with pytest.raises(ParameterError, match=f"above max_message_bytes={LIMIT}") as refused:
        run(Unread, **parameters)
    said = str(refused.value)
    less = {}
    if "elect at most" in said:
        less["n_features_to_select"] = int(re.search(r"elect at most (\d+)", said)[1])
    if "(screen=" in said:
        less["screen"] = int(re.search(r"\(screen=(\d+)\)", said)[1])
    assert less
    assert ("screen" in less) == (parameters.get("screen") != 100)
    outcome = run(**{**parameters, **less})
    largest = max(entry.n_bytes for entry in outcome.transcript)
    assert largest <= LIMIT
    assert largest > 0.75 * LIMIT or "epsilon" in parameters  # little more would not fit; screened, noisy sums are few


def test_columns_of_codes_are_counted_as_soon_as_they_are_known():
    fits = {"n_features_to_select": 10, "screen": 500, "max_message_bytes": 200_000}
    with pytest.raises(ParameterError, match=r"covariances of 224 columns take 0\.2 MB"):
        run(coded=True, **fits)


def test_without_a_number_to_select_the_words_do_not_speak_of_it():
    with pytest.raises(ParameterError, match=r"Compare fewer columns with each other \(screen=1\d\d\), or raise"):
        run(Unread)


def test_an_error_rate_compares_all_columns():
    with pytest.raises(ParameterError, match="Use fewer features, or raise max_message_bytes"):
        run(Unread, fdr=0.2)


@pytest.mark.parametrize("limit", [1000, 10**5, 512_000_000])
def test_the_most_that_fit_do_and_hardly_more_would(limit):
    method = SieveMethod(NAMES, max_message_bytes=limit)
    most = most_compared(method)
    assert message_bytes(most) <= limit
    assert message_bytes(int(1.5 * most) + 20) > limit
    assert most_compared(SieveMethod(NAMES, max_message_bytes=1)) == 0


def test_many_columns_to_compare_are_warned_of_with_their_costs(monkeypatch):
    monkeypatch.setattr(compared_columns, "MANY", 100)
    X = rows(40)
    fast = {"screen": 60, "n_trees": 2, "n_bootstraps": 0}
    with pytest.warns(FedSieveWarning, match=r"n_features_to_select=70 has 140 columns compared .* about 0\.8 MB"):
        Sieve(70, **fast).fit(X, X[:, 1:3] > 0, clients=[rows(30), rows(31)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Sieve(30, **fast).fit(X, X[:, 1:3] > 0, clients=[rows(30), rows(31)])
        Sieve(70, **{**fast, "screen": 150}).fit(X, X[:, 1:3] > 0, clients=[rows(30), rows(31)])
