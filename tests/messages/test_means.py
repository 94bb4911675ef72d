"""Means: counts and sums of what is present, the rules of a reply, and the totals that a site lets stand in."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.messages.encoding import Encoding
from fedsieve.methods import SieveMethod
from fedsieve.privacy import SITE
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.site_state import TransientState
from strategies import with_gaps

NAMES = ("a", "b", "c")
COLUMNS = m.Columns(NAMES, ("c",), "indicator")
SCALING = m.Scaling(np.array([0.0, -1.0, 1.0]), np.array([4.0, 1.0, 3.0]), "declared")
ASK = m.AskMeans(COLUMNS, SCALING)


def rows(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(-1, 5, n_rows), rng.uniform(-1, 1, n_rows), rng.integers(1, 4, n_rows)])
    return with_gaps(X, seed, share=0.25)


def told(X, request=ASK):
    return request.answer(ArrayTable(NAMES, X))


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 60))
def test_counts_and_means_are_numpy_s_on_the_pooled_clipped_rows(seed, cut):
    X = rows(seed=seed)
    total = told(X[:cut]) + told(X[cut:])
    assert_array_equal(total.present, (~np.isnan(X)).sum(axis=0))
    clipped = np.clip(X[:, :2], SCALING.low[:2], SCALING.high[:2])
    shares = [np.mean(X[~np.isnan(X[:, 2]), 2] == code) for code in (1, 2, 3)]
    mean = total.fill.means(np.array([0, 1, 2, 2, 2]))
    assert_allclose(mean[:2] * [4, 2] + [2, 0], np.nanmean(clipped, axis=0), rtol=1e-12, atol=1e-12)
    assert_allclose(mean[2:], shares, rtol=1e-12)
    assert_allclose(total.fill.share, np.isnan(X).mean(axis=0))
    assert ASK.why_refused(total, m.Known()) is None


def test_what_is_encoded_has_means_where_a_value_is_missing_and_a_column_that_tells():
    X = np.array([[2.0, 0.5, 2.0], [np.nan, 0.0, np.nan], [4.0, 1.0, 3.0]])
    encoding = Encoding.of(COLUMNS, SCALING, told(X).fill)
    assert encoding.names == ("a", "a is missing", "b", "c=1", "c=2", "c=3", "c is missing")
    assert_allclose(encoding.table(X)[1], [0.75, 1, 0.5, 0, 0.5, 0.5, 1])
    assert_array_equal(encoding.table(X)[0], [0.5, 0, 0.75, 0, 1, 0, 0])
    plain = Encoding.of(replace(COLUMNS, missing="mean"), SCALING, told(X).fill)
    assert_array_equal(plain.table(X), encoding.table(X)[:, ~encoding.tells])
    products = encoding.centered(X).products()
    z = encoding.table(X) - encoding.midpoint
    assert_allclose(products, z.T @ z, rtol=0, atol=1e-12)


HONEST = told(rows())
LIES = {
    "more values than rows": ({"present": HONEST.present + 60}, "outside [0, 60], its number of rows"),
    "half a value": ({"present": HONEST.present * 0.5}, "outside [0, 60], its number of rows"),
    "a sum beyond the range": ({"sums": HONEST.sums + np.eye(5)[0] * 30}, "do not have"),
    "half a code": ({"sums": HONEST.sums + np.eye(5)[3] * 0.5}, "no counts of rows"),
    "codes of more rows": ({"sums": HONEST.sums + np.eye(5)[3]}, "do not add up to its present values"),
    "no number": ({"sums": HONEST.sums * np.nan}, "not finite numbers"),
    "a column less": ({"present": HONEST.present[1:]}, "present of shape (2,)"),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_no_rows_have_is_refused(lie):
    changes, says = LIES[lie]
    assert says in ASK.why_refused(replace(HONEST, **changes), m.Known(n_rows=60))


def test_a_site_that_named_no_range_has_no_values():
    ranges = m.Ranges(60, NAMES, np.array([np.inf, -1, 1]), np.array([-np.inf, 1, 3]), 70)
    known = m.Known(60, {m.AskRanges: (m.AskRanges(COLUMNS), ranges)})
    assert "contradict its ranges" in ASK.why_refused(HONEST, known)


def test_exact_ranges_must_hold_a_site_s_values_here_too():
    with pytest.raises(ProtocolError, match="ranges that do not hold its own values"):
        told(rows(), m.AskMeans(COLUMNS, replace(SCALING, kind="federated")))


@pytest.mark.parametrize("n_missing", [-1, 59, 181])
def test_how_much_is_missing_must_fit_the_ranges(n_missing):
    low, high = np.array([np.inf, -1, 1]), np.array([-np.inf, 1, 3])
    ask = m.AskRanges(COLUMNS)
    assert ask.why_refused(m.Ranges(60, NAMES, low, high, 60), m.Known()) is None
    wrong = m.Ranges(60, NAMES, low, high, n_missing)
    assert f"misses {n_missing} values, of at least 60 and at most 180" in ask.why_refused(wrong, m.Known())
    whole = m.AskRanges(replace(COLUMNS, missing="error"))
    assert "misses 1 values" in whole.why_refused(m.Ranges(60, NAMES, np.zeros(3), np.ones(3), 1), m.Known())


METHOD = SieveMethod(
    NAMES, nominal=("c",), missing="indicator", ranges={"a": (0.0, 4.0), "b": (-1.0, 1.0), "c": (1.0, 3.0)}
)


class Site:
    """A site under all rules, and what it says."""

    def __init__(self, n_rows=300, method=METHOD):
        table, run = ArrayTable(NAMES, rows(n_rows)), Bare("run", ("x", "y", "z"))
        self.state = TransientState()
        self.endpoint = Endpoint.of_table(table, method, SITE, run, self.state)

    def ask(self, request):
        return decode(self.endpoint.answer(encode(request)))

    def covariances(self, fill, **changes):
        return self.ask(replace(m.AskCovariances(METHOD.columns, SCALING, fill=fill), **changes))


def test_under_site_means_follow_from_a_total_that_holds_the_site_s_own():
    site = Site()
    own = site.ask(ASK).fill
    assert "before it told its own" in Site().covariances(own).reason
    others = told(rows(500, seed=1)).fill
    total = m.Fill(own.n_rows + others.n_rows, own.present + others.present, own.sums + others.sums)
    assert type(site.covariances(total)) is m.Covariances


FALSE = {
    "fewer values": (lambda own: replace(own, present=own.present - [40, 40, 0]), "does not hold its own"),
    "no other rows, another sum": (lambda own: replace(own, sums=own.sums + np.eye(5)[1]), "does not hold its own"),
    "fewer rows": (lambda own: replace(own, n_rows=own.n_rows - 1), "does not hold its own"),
    "a mean beyond the range": (lambda own: replace(own, sums=own.sums + np.eye(5)[1] * 900), "no 3 sites have"),
    "as many rows as no sites have": (lambda own: replace(own, n_rows=10**15), "no 3 sites have"),
    "one number less": (lambda own: replace(own, sums=own.sums[1:]), "means that do not fit its columns"),
}


@pytest.mark.parametrize("name", FALSE)
def test_under_site_a_false_total_is_refused(name):
    lie, says = FALSE[name]
    site = Site()
    assert says in site.covariances(lie(site.ask(ASK).fill)).reason


def test_under_site_means_stay_the_same_in_a_run():
    method = replace(METHOD, n_features_to_select=1, screen=2, n_labels=2)
    site = Site(method=method)
    own = site.ask(ASK).fill
    weights = np.ones((8, 1))
    assert type(site.ask(m.AskProjections(COLUMNS, SCALING, weights, own))) is m.Projections
    more = np.array([0.0, 0, 25, 25, 0])
    other = replace(own, n_rows=own.n_rows + 50, present=own.present + 50, sums=own.sums + more)
    some = METHOD.columns.only(("a", "b"))
    kept = np.array([0, 1])
    asked = m.AskCovariances(some, SCALING.only(kept), fill=other.only(kept, np.array([0, 1, 2, 2, 2])))
    assert site.ask(asked).reason == "was told another story than before: the mean of 'a' changed."
    asked = replace(asked, fill=own.only(kept, np.array([0, 1, 2, 2, 2])))
    assert type(site.ask(asked)) is m.Covariances


def test_a_column_that_misses_values_counts_twice_whatever_stands_in():
    site = Site()
    own = site.ask(ASK).fill
    site.covariances(own)
    names = {"a is missing", "b is missing", "c is missing"}
    assert names < set(site.state.told())
    assert len(site.state.told()) == 5 + 3


def test_means_from_another_center_or_of_some_columns_are_refused():
    site = Site()
    assert "agreed: 'federation' (center)" in site.ask(replace(ASK, center="sites")).reason
    assert "agreed: 'federation' (center)" in site.covariances(None, center="sites").reason
    some = m.AskMeans(COLUMNS.only(("a",)), SCALING.only(np.array([0])))
    assert "means of other columns than all" in site.ask(some).reason
    without = Site(method=replace(METHOD, missing="mean"))
    assert "another way than agreed" in without.ask(ASK).reason


def test_what_only_one_site_misses_is_never_asked_for_where_nothing_may_be_missing():
    assert m.AskMeans not in [terms.request for terms in SieveMethod(NAMES, missing="error").terms()]
    whole = m.AskCovariances(m.Columns(NAMES, (), "error"), SCALING, fill=HONEST.fill)
    with pytest.raises(ProtocolError, match="none were agreed on"):
        whole.encoding()
