"""Units and shift in a fit: who is named, by which message, and where nobody can be."""

import json
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse

from fedsieve import FMLFS, SSFMLFS, Sieve
from fedsieve.errors import FedSieveWarning, SiteShiftWarning
from fedsieve.protocol.shift import shift_record, shift_words

QUICK = {"n_trees": 3, "n_bootstraps": 0}
METHODS = [Sieve(2, **QUICK), Sieve(2, screen=2, **QUICK), SSFMLFS(2), SSFMLFS(2, wire="vectors")]
IDS = ["Sieve", "wide", "SSFMLFS", "vectors"]


def rows(n, seed):
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.normal(110, 25, n), rng.normal(37, 0.7, n), rng.lognormal(5, 0.5, n), *rng.random((3, n))]
    )


@pytest.fixture
def case():
    X = rows(50, 99)
    return X, np.column_stack([X[:, 0] > 110, X[:, 3] > 0.5]).astype(int), {f"site-{i}": rows(60, i) for i in range(4)}


@pytest.mark.parametrize("selector", METHODS, ids=IDS)
def test_a_column_in_another_unit_is_named_with_its_factor_once(case, selector):
    X, Y, sites = case
    sites["site-2"][:, 0] /= 18
    with pytest.warns(SiteShiftWarning) as caught:
        fitted = selector.fit(X, Y, clients=sites)
    words = [str(one.message) for one in caught]
    assert words == [
        "site-2, column 'x0': its values look like 1/18 of the others' (mg/dl and mmol/l of glucose?)",
    ]
    assert caught[0].filename == __file__
    shift = fitted.site_shift_
    assert shift.parties == ("server", "site-0", "site-1", "site-2", "site-3")
    assert shift.mean[3, 0] < -3
    assert np.abs(np.delete(shift.mean[:, 0], 3)).max() < 1
    assert [(one.party, one.column) for one in pickle.loads(pickle.dumps(fitted)).site_shift_.findings] == [
        ("site-2", "x0")
    ]


@pytest.mark.parametrize("selector", METHODS, ids=IDS)
def test_honest_sites_are_not_warned_of(case, selector):
    X, Y, sites = case  # and a warning is an error here
    assert selector.fit(X, Y, clients=sites).site_shift_.findings == ()


def test_numbers_are_those_of_the_rows(case):
    X, Y, sites = case
    shift = Sieve(2, **QUICK).fit(X, Y, clients=sites).site_shift_
    others = [X, *(Z for name, Z in sites.items() if name != "site-1")]
    usual, unit = (
        np.median([Z.mean(axis=0) for Z in others], axis=0),
        np.median([Z.std(axis=0) for Z in others], axis=0),
    )
    np.testing.assert_allclose(shift.mean[2], (sites["site-1"].mean(axis=0) - usual) / unit, atol=1e-9)
    np.testing.assert_allclose(shift.spread[2], sites["site-1"].std(axis=0) / unit, atol=1e-9)


def test_labeled_rows_in_another_unit_are_named_as_the_servers(case):
    X, Y, sites = case
    X[:, 1] = 1.8 * X[:, 1] + 32
    with pytest.warns(
        SiteShiftWarning, match="server, column 'x1': its values look like 1.8 times the others' plus 32"
    ):
        Sieve(2, **QUICK).fit(X, Y, clients=sites)


@pytest.mark.parametrize("selector", [Sieve(2, **QUICK), SSFMLFS(2, ranges="robust", wire="statistics")])
def test_what_sites_tell_for_robust_ranges_shows_a_column_that_lies_apart_if_not_by_which_factor(case, selector):
    X, Y, sites = case
    sites["site-0"][:, 0] /= 18
    with pytest.warns(SiteShiftWarning, match="site-0, column 'x0': its values lie apart"):
        selector.fit(X, Y, clients=sites, policy="site")
    with pytest.warns(SiteShiftWarning, match="site-0, column 'x0': its values look like 1/18 of the others'"):
        selector.fit(X, Y, clients=sites)  # the rows are here


def test_tables_are_compared_block_by_block_alike(case, monkeypatch):
    X, Y, sites = case
    whole = Sieve(2, **QUICK).fit(X, Y, clients=sites).site_shift_
    monkeypatch.setattr("fedsieve.protocol.shift.BLOCK", 1)
    blocks = Sieve(2, **QUICK).fit(sparse.csr_array(X), Y, clients=sites).site_shift_
    for name in ("mean", "spread", "overlap"):
        np.testing.assert_allclose(getattr(whole, name), getattr(blocks, name), rtol=0, atol=1e-12)


def test_a_client_that_was_dropped_is_not_compared(case):
    X, Y, sites = case
    sites["site-1"][3, 0] = np.inf
    fitted = Sieve(2, on_bad_client="drop", **QUICK).fit(X, Y, clients=sites)
    assert list(fitted.dropped_) == ["site-1"]
    assert fitted.site_shift_.parties == ("server", "site-0", "site-2", "site-3")


def test_it_can_be_switched_off(case):
    X, Y, sites = case
    sites["site-0"][:, 0] /= 18
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SiteShiftWarning)
        assert Sieve(2, **QUICK).fit(X, Y, clients=sites).site_shift_.findings
    assert issubclass(SiteShiftWarning, FedSieveWarning)


def test_where_nobody_sees_single_replies_there_is_nothing_to_tell(case):
    X, Y, sites = case
    sites["site-0"][:, 0] /= 18
    assert Sieve(2, secure=True, **QUICK).fit(X, Y, clients=sites).site_shift_ is None
    assert Sieve(2, **QUICK).fit(X, Y).site_shift_ is None


def test_a_method_whose_sites_hold_labels_tells_of_ranges(case):
    X, Y, sites = case
    sites["site-0"][:, 1] = 1.8 * sites["site-0"][:, 1] + 32
    pairs = {name: (Z, np.resize(Y, (len(Z), 2))) for name, Z in sites.items()}
    with pytest.warns(SiteShiftWarning, match="site-0, column 'x1'"):
        FMLFS(2).fit(X, Y, clients=pairs)


def test_a_record_is_plain_and_holds_no_value_and_many_findings_are_told_in_few_words(case):
    X, Y, sites = case
    sites["site-1"] = sites["site-1"] * 1000
    with pytest.warns(SiteShiftWarning):
        shift = Sieve(2, **QUICK).fit(X, Y, clients=sites).site_shift_
    record = shift_record(shift)
    text = json.dumps(record, allow_nan=False)
    assert [one["factor"] for one in record["site-1"]["findings"]] == [1000.0] * 6
    assert record["site-1"]["columns"][0].keys() == {"column", "mean", "spread", "overlap"}
    assert not any(f"{value!r}" in text for value in sites["site-1"].ravel())
    assert len(shift_words(record)) == 6
    assert shift_words(record, most=2)[2:] == ["4 more columns of sites look wrong as well."]
    assert shift_words(None) == []
