"""Covariances add up: the sum of sites' messages is the message of all their rows, whoever holds which."""

from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.errors import ProtocolError
from fedsieve.messages import AskCovariances, Columns, Covariances, Known, Scaling, columns
from fedsieve.tables import ArrayTable
from sites_with_labels import dyadic

FEATURES, LABELS = ("a", "b", "c"), ("y", "z")


@dataclass(frozen=True, eq=False)
class Parted:
    """Rows of three features and two labels in parts of one row or more, and how much wider the ranges are."""

    parts: list[np.ndarray]
    wider: float = 0.0

    @property
    def rows(self) -> np.ndarray:
        return np.vstack(self.parts)

    @property
    def scaling(self) -> Scaling:
        X = self.rows[:, :3]
        return Scaling(X.min(axis=0) - self.wider, X.max(axis=0) + 2 * self.wider)

    @property
    def middle(self) -> np.ndarray:
        """From where columns are counted: the middle of a range; a range of one point is that point, a label is 0."""
        return np.append((self.scaling.low + self.scaling.high) / 2, [0, 0])

    @property
    def unit(self) -> np.ndarray:
        """What counts as 1."""
        width = self.scaling.high - self.scaling.low
        return np.append(np.where(width > 0, width, 1.0), [1, 1])

    def message(self, table: np.ndarray) -> Covariances:
        request = AskCovariances(Columns(FEATURES, (), "error"), self.scaling, LABELS)
        return request.answer(ArrayTable(FEATURES, table[:, :3], LABELS, table[:, 3:]))

    def total(self, parts: list[np.ndarray]) -> Covariances:
        return reduce(add, map(self.message, parts))


@st.composite
def parted_tables(draw: st.DrawFn) -> Parted:
    """A feature or a label may be constant."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=6))
    n_rows = sum(sizes)
    X = dyadic(rng.normal(size=(n_rows, 3))) + draw(st.integers(-1000, 1000))
    if draw(st.booleans()):
        X[:, 1] = 0.1
    Y = rng.integers(0, draw(st.integers(1, 2)), (n_rows, 2), endpoint=True) % 2
    parts = np.split(np.hstack([X, Y]), np.cumsum(sizes)[:-1])
    return Parted(parts, draw(st.sampled_from([0.0, 0.1, 100.0])))


def assert_same(first, second):
    """In units of the ranges."""
    assert (first.n_rows, first.features, first.labels) == (second.n_rows, second.features, second.labels)
    for one, other in (
        (first.sums, second.sums),
        (first.upper, second.upper),
        (first.deviations(), second.deviations()),
    ):
        assert_allclose(one, other, rtol=1e-12, atol=1e-12 * first.n_rows)


@given(parted_tables())
def test_they_are_means_and_sums_of_products_of_deviations(case):
    table, made = case.rows, case.message(case.rows)
    assert (made.n_rows, made.features, made.labels) == (len(table), FEATURES, LABELS)
    assert_allclose(case.middle + case.unit * made.sums / len(table), table.mean(axis=0), rtol=1e-12, atol=1e-12)
    products = made.deviations() * np.outer(case.unit, case.unit)
    assert_allclose(products, np.cov(table, rowvar=False, ddof=0) * len(table), rtol=1e-9, atol=1e-9)


@given(parted_tables())
def test_they_are_sums_of_products_in_the_order_of_the_columns(case):
    made = case.message(case.rows)
    centered = (case.rows - case.middle) / case.unit
    expected = [(centered[:, i] * centered[:, j]).sum() for i in range(5) for j in range(i, 5)]
    assert_allclose(made.upper, expected, rtol=0, atol=1e-9)
    matrix = made.deviations()
    assert_array_equal(matrix, matrix.T)


@given(parted_tables())
def test_the_sum_over_any_partition_is_that_of_all_rows(case):
    assert_same(case.total(case.parts), case.message(case.rows))


@given(parted_tables(), st.randoms(use_true_random=False))
def test_the_order_of_additions_does_not_matter(case, random):
    parts = list(case.parts)
    expected = case.total(parts)
    random.shuffle(parts)
    cut = random.randint(0, len(parts))
    halves = [case.total(half) for half in (parts[:cut], parts[cut:]) if half]
    assert_same(reduce(add, halves), expected)


@given(parted_tables())
def test_every_number_is_added_and_nothing_else(case):
    """So that sums of which nobody sees the parts are the same."""
    one, other = case.message(case.parts[0]), case.message(case.parts[-1])
    both = one + other
    assert both.n_rows == one.n_rows + other.n_rows
    assert_array_equal(both.sums, one.sums + other.sums)
    assert_array_equal(both.upper, one.upper + other.upper)


@given(parted_tables(), st.sampled_from([0.1, 1 / 3, -1e6 - 0.1, 7.0]))
def test_what_is_constant_everywhere_has_exactly_no_spread(case, value):
    """Its mean, added up and divided, may differ from it in the last digit, and by site."""
    for part in case.parts:
        part[:, 0] = value
    found = case.total(case.parts)
    if case.wider == 0:
        assert found.sums[0] == 0
    assert case.middle[0] + case.unit[0] * found.sums[0] / found.n_rows == pytest.approx(value, rel=1e-12)
    assert_array_equal(found.deviations()[0], 0)
    assert_array_equal(found.deviations()[:, 0], 0)


def test_what_is_constant_at_each_site_only_varies_between_them():
    case = Parted([np.full((n, 5), float(value)) for n, value in ((3, 0), (1, 1))])
    assert_array_equal(case.total(case.parts).deviations(), 0.75)


@pytest.mark.parametrize(("features", "labels"), [(("a", "b", "d"), LABELS), (FEATURES, ("z", "y"))])
def test_those_of_other_columns_do_not_add_up(features, labels):
    numbers = np.zeros(5), np.zeros(15)
    with pytest.raises(ProtocolError, match="replies about different columns do not add up"):
        Covariances(5, FEATURES, LABELS, *numbers) + Covariances(5, features, labels, *numbers)


@given(parted_tables(), st.integers(1, 12))
def test_matrices_may_be_worked_on_in_blocks_of_any_size(case, block):
    whole = case.message(case.rows)
    with pytest.MonkeyPatch.context() as small:
        small.setattr(columns, "BLOCK", block)
        parts = case.message(case.rows)
        assert_array_equal(parts.upper, whole.upper)
        assert_array_equal(parts.deviations(), whole.deviations())
        assert_array_equal(np.diagonal(parts.raw_deviations()[0]), parts.raw_spreads())


@pytest.mark.parametrize("block", [1, 7, 1 << 15])
@pytest.mark.parametrize("place", [(0, 1), (3, 4)])
def test_a_covariance_that_is_too_large_is_found_in_every_block(monkeypatch, block, place):
    rng = np.random.default_rng(0)
    table = np.hstack([rng.random((30, 3)), rng.integers(0, 2, (30, 2))])
    case = Parted([table])
    request = AskCovariances(Columns(FEATURES, (), "error"), case.scaling, LABELS)
    monkeypatch.setattr(columns, "BLOCK", block)
    reply = case.message(table)
    assert request.why_refused(reply, Known()) is None
    wrong = reply.raw_deviations()[0] + np.outer(reply.sums, reply.sums) / reply.n_rows
    wrong[place] += 16.0
    refused = request.why_refused(replace(reply, upper=columns.upper_of(wrong)), Known())
    assert refused == "sent covariances above the product of the deviations."
