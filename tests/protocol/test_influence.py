"""How far the order moves without a site, and who is named: against runs without it, where nothing else changes."""

import numpy as np
import pytest

from fedsieve import SSFMLFS, Sieve
from fedsieve.errors import FedSieveWarning, SiteShiftWarning
from fedsieve.protocol.influence import odd_sites

RNG = np.random.default_rng(0)  # with which leaving a site out matters, to the order and to PageRank
X = RNG.random((40, 6))
Y = (X[:, :3] + X[:, 3:] + RNG.normal(0, 0.5, (40, 3)) > 1).astype(int)
RANGES = {f"x{p}": (0.0, 1.0) for p in range(6)}  # declared, so that leaving a site out changes no range
SITES = {f"site-{number}": RNG.random((12, 6)) ** RNG.integers(1, 6) for number in range(4)}
SITES["site-3"] = np.repeat(RNG.random((60, 3)), 2, axis=1)


@pytest.mark.filterwarnings("ignore::fedsieve.errors.FedSieveWarning")
def test_it_is_the_share_of_features_that_a_run_without_the_site_does_not_select():
    selector = Sieve(2, n_trees=5, n_bootstraps=0, ranges=RANGES)
    fitted = selector.fit(X, Y, clients=SITES)
    chosen, expected = set(fitted.order_[:2]), {}
    moved = fitted.influence_
    for name in SITES:
        others = {other: rows for other, rows in SITES.items() if other != name}
        expected[name] = 1 - len(chosen & set(selector.fit(X, Y, clients=others).order_[:2])) / 2
    assert moved == expected
    assert any(moved.values())


@pytest.mark.filterwarnings("ignore::fedsieve.errors.FedSieveWarning")
def test_under_an_error_rate_orders_by_score_are_compared_and_units_counted():
    """The set selected by e-values was compared with the best by score, and features were counted as units."""
    rng = np.random.default_rng(4)  # with which the two sets differ
    sites = {f"site-{number}": rng.standard_normal((60, 14)) for number in range(4)}
    table, how = rng.standard_normal((90, 14)), {"n_trees": 5, "n_bootstraps": 0, "groups": [[0, 1], [2, 3, 4]]}
    labels = (table[:, :11] @ rng.choice([-1, 1], (11, 5)) + 3 * rng.standard_normal((90, 5)) > 0).astype(int)
    how["ranges"] = {f"x{p}": (-4.0, 4.0) for p in range(14)}
    fitted = Sieve(fdr=0.4, **how).fit(table, labels, clients=sites)
    n_units = len(set(fitted.support_.nonzero()[0]) - {1, 3, 4})
    assert n_units < fitted.support_.sum()
    by_number = Sieve(n_units, **how)
    chosen, expected = set(np.flatnonzero(by_number.fit(table, labels, clients=sites).support_)), {}
    for name in sites:
        others = {other: rows for other, rows in sites.items() if other != name}
        without = set(np.flatnonzero(by_number.fit(table, labels, clients=others).support_))
        expected[name] = 1 - len(chosen & without) / len(chosen)
    assert chosen != set(np.flatnonzero(fitted.support_))
    assert fitted.influence_ == expected


@pytest.mark.filterwarnings("ignore::fedsieve.errors.FedSieveWarning")
def test_a_site_without_which_pagerank_does_not_converge_is_left_out():
    """It was an error after the run had its result."""
    enough = SSFMLFS(wire="statistics").fit(X, Y, clients=SITES).n_iter_
    fitted = SSFMLFS(wire="statistics", max_iter=enough).fit(X, Y, clients=SITES)
    moved = fitted.influence_
    assert set(moved) < set(SITES)
    assert SSFMLFS(wire="statistics", max_iter=enough + 50).fit(X, Y, clients=SITES).influence_.keys() == SITES.keys()


def test_it_is_not_told_of_two_sites_or_of_vectors():
    two = {name: SITES[name] for name in ("site-0", "site-1")}
    assert SSFMLFS(wire="statistics").fit(X, Y, clients=two).influence_ is None
    assert SSFMLFS(wire="vectors").fit(X, Y, clients=SITES).influence_ is None


def test_a_site_that_stretches_a_column_is_named_once_it_is_read():
    alike = {f"site-{number}": np.random.default_rng(number).random((30, 6)) for number in range(4)}
    alike["site-0"][:, 2] *= 1e4
    with pytest.warns(SiteShiftWarning, match="site-0, column 'x2': its values lie apart"):
        fitted = SSFMLFS(wire="statistics").fit(X, Y, clients=alike)
    with pytest.warns(FedSieveWarning, match="'site-0' alone"):
        fitted.influence_  # noqa: B018


@pytest.mark.parametrize(
    ("moved", "factors", "named"),
    [
        (None, None, []),
        ({"a": 0.14, "b": 0.0, "c": 0.0}, {}, []),
        ({"a": 0.15, "b": 0.0, "c": 0.0}, {}, ["a"]),
        ({"a": 0.6, "b": 0.2, "c": 0.2}, {}, []),  # no more than three times as much as usual
        ({"a": 0.61, "b": 0.2, "c": 0.2}, {"a": 5.0, "b": 2.0, "c": 2.1}, ["a", "c"]),
    ],
)
def test_sites_are_named_above_the_thresholds_and_not_at_them(moved, factors, named):
    assert list(odd_sites(moved, factors)) == named
