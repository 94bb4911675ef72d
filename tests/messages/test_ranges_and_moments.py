"""Ranges and moments in one message: those of two messages, whoever holds which rows and however large values are."""

from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.messages.moments import own_moments
from fedsieve.messages.ranges_and_moments import RangesAndMomentsTerms
from fedsieve.messages.site_view import SiteView
from fedsieve.tables import ArrayTable
from strategies import dealt_out


def columns_of(X, nominal=()):
    return m.Columns(tuple(f"f{p}" for p in range(X.shape[1])), nominal, "unrelated")


def told(X, nominal=()):
    columns = columns_of(X, nominal)
    return m.AskRangesAndMoments(columns).answer(ArrayTable(columns.features, X))


def by_fractions(values):
    """Ends, mean and spread in the range of the values, exactly."""
    exact = [Fraction(float(value)) for value in values]
    low, high = min(exact), max(exact)
    scaled = [(value - low) / (high - low) for value in exact] if high > low else [Fraction(0)] * len(exact)
    mean = sum(scaled) / len(scaled)
    return low, high, mean, sum((value - mean) ** 2 for value in scaled)


@given(dealt_out())
def test_parts_add_up_to_exact_moments_of_the_pooled_rows(case):
    X, parts = case
    total = reduce(add, [told(part) for part in parts])
    assert total.n_rows == len(X)
    for p, column in enumerate(X.T):
        values = column[~np.isnan(column)]
        assert total.count[p] == len(values)
        if not len(values):
            assert (total.low[p], total.high[p], total.mean[p], total.m2[p]) == (np.inf, -np.inf, 0, 0)
            continue
        low, high, mean, m2 = by_fractions(values)
        assert (total.low[p], total.high[p]) == (low, high)
        assert_allclose(total.mean[p], float(mean), rtol=0, atol=1e-12)
        assert_allclose(total.m2[p], float(m2), rtol=1e-10, atol=1e-14)


@given(dealt_out(n_parts=3))
def test_in_the_ranges_of_all_they_are_what_two_messages_tell(case):
    X, parts = case
    columns = columns_of(X, ("f0",))
    ranges = m.AskRanges(columns).answer(ArrayTable(columns.features, X))
    apart = [m.AskMoments(columns, ranges.scaling).answer(ArrayTable(columns.features, part)) for part in parts]
    for part, expected in zip(parts, apart, strict=True):
        reply = told(part, ("f0",))
        assert reply.ranges.n_missing == int(np.isnan(part).sum())
        found = reply.moments(ranges.scaling, columns.nominal_mask)
        assert_array_equal(found.count, expected.count)
        scale = np.maximum(1.0, np.abs(expected.mean))
        assert_allclose(found.mean / scale, expected.mean / scale, rtol=0, atol=1e-12)
        assert_allclose(found.m2, expected.m2, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(("size", "offset"), [(1e-3, 1e9), (1e299, 0.0), (1e-290, 0.0), (1.0, -1e6)])
def test_no_digits_are_lost_of_large_tiny_or_far_values(size, offset):
    rng = np.random.default_rng(1)
    parts = [offset + size * rng.random((n, 1)) for n in (5, 9, 30)]
    total = reduce(add, map(told, parts))
    _, _, mean, m2 = by_fractions(np.concatenate(parts)[:, 0])
    assert_allclose([total.mean[0], total.m2[0]], [float(mean), float(m2)], rtol=1e-12)


def test_a_constant_column_has_no_spread_at_all_however_it_is_split():
    X = np.full((30, 1), 0.1)
    total = reduce(add, map(told, (X[:7], X[7:9], X[9:])))
    assert (total.mean[0], total.m2[0]) == (0, 0)
    wider = total.moments(m.Scaling(np.array([-3.0]), np.array([7.0])))
    assert wider.m2[0] == 0


def test_sites_that_are_constant_each_vary_together():
    total = told(np.full((2, 1), 4.0)) + told(np.full((6, 1), 8.0))
    assert (total.low[0], total.high[0], total.mean[0], total.m2[0]) == (4, 8, 0.75, 1.5)
    assert_allclose(total.deviation_by_column(), np.std([4.0] * 2 + [8.0] * 6, ddof=1))


def test_facts_are_in_the_columns_own_units():
    X = np.array([[1.0, 7.0, np.nan], [4.0, 7.0, np.nan], [10.0, np.nan, np.nan]])
    facts = m.AskRangesAndMoments(columns_of(X)).facts(told(X))
    assert_allclose(facts.mean, [5.0, 7.0, np.nan])
    assert_allclose(facts.deviation, [np.std([1.0, 4, 10]), 0.0, np.nan], atol=1e-15)
    assert_array_equal(facts.count, [3, 2, 0])
    assert_array_equal(facts.low, [1, 7, np.nan])
    assert_array_equal(facts.high, [10, 7, np.nan])


class Kept:
    """A site's memory."""

    seed = b""

    def __init__(self):
        self.values = {}

    def keep(self, name, values):
        self.values[name] = values

    def recall(self, name):
        return self.values.get(name)


def test_a_site_remembers_its_moments_and_knows_them_again_in_the_ranges_of_all():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[:, 2] = np.arange(20) % 4
    columns, memory = columns_of(X, ("f2",)), Kept()
    m.AskRangesAndMoments(columns).answer_in_run(ArrayTable(columns.features, X), memory)
    some = columns.only(("f2", "f0"))
    wide = m.Scaling(np.array([0.0, -9.0]), np.array([1.0, 9.0]))
    found = own_moments(columns, some, wide, memory)
    expected = m.AskMoments(some, wide).answer(ArrayTable(columns.features, X))
    assert found.features == ("f2", "f0")
    assert_allclose([found.mean, found.m2], [expected.mean, expected.m2], rtol=1e-12)
    narrow = m.Scaling(np.array([0.0, -0.1]), np.array([1.0, 0.1]))
    with pytest.raises(ProtocolError, match="ranges that do not hold its own values"):
        own_moments(columns, some, narrow, memory)


def test_a_site_tells_of_all_columns_or_of_none():
    X = np.zeros((4, 3))
    terms, view = RangesAndMomentsTerms(columns_of(X)), SiteView(None, None, Kept(), 0)
    terms.check_site(m.AskRangesAndMoments(columns_of(X)), view)
    with pytest.raises(ProtocolError, match="moments of other columns than all"):
        terms.check_site(m.AskRangesAndMoments(columns_of(X[:, :2])), view)
