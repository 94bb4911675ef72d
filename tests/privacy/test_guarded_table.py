"""What a site holds back: columns, codes and differences that tell of a few rows cannot be told from constants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

from fedsieve import messages as m
from fedsieve.messages.columns import Bins
from fedsieve.methods import FedCMFSMethod, SieveMethod
from fedsieve.privacy import SITE, GuardedTable, held_back
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.site_state import TransientState
from fedsieve.values import dense

N = 60
RNG = np.random.default_rng(0)


def column(n_others, usual=0.0, other=1.0, n_rows=N):
    """So many rows that differ from the usual value."""
    values = np.full(n_rows, usual)
    values[3 : 3 + n_others] = other
    return values


def table(**columns):
    return ArrayTable(tuple(columns), np.column_stack(list(columns.values())))


def shown(original, nominal=(), min_cell=5):
    held = held_back(original, nominal, min_cell)
    return held, dense(GuardedTable(original, held).whole(original.names))


@pytest.mark.parametrize("n_others", range(8))
def test_a_column_is_shown_as_constant_where_few_rows_differ_from_its_usual_value(n_others):
    original = table(noise=RNG.normal(size=N), rare=column(n_others, 2.0, 7.0))
    held, seen = shown(original)
    few = 0 < n_others < 5
    assert list(held.constant) == ["rare"] * few
    assert_array_equal(seen[:, 1], np.full(N, 2.0) if few else original.whole(("rare",))[:, 0])
    assert_array_equal(seen[:, 0], original.whole(("noise",))[:, 0])
    if few:
        said = f"its values differ from the most frequent one in {n_others} row{'s' * (n_others > 1)} only"
        assert held.reasons == {"rare": said}


def test_the_rare_rows_may_all_differ():
    """A count that is 0 but for four rows, each another."""
    counts = column(0)
    counts[:4] = [1, 2, 3, 4]
    assert list(shown(table(counts=counts))[0].constant) == ["counts"]


@given(st.integers(0, 2**32 - 1), st.integers(2, 8))
def test_of_what_is_shown_no_column_differs_from_its_usual_value_in_few_rows(seed, min_cell):
    rng = np.random.default_rng(seed)
    X = (rng.random((30, 6)) < rng.choice([0.03, 0.1, 0.3], 6)) * rng.choice([1.0, -2.5], 6)
    _, seen = shown(ArrayTable(tuple("abcdef"), X), min_cell=min_cell)
    for values in seen.T:
        n_usual = np.unique(values, return_counts=True)[1].max()
        assert not 0 < 30 - n_usual < min_cell


def test_without_a_least_number_nothing_is_held_back():
    for min_cell in (0, 1):
        held, _ = shown(table(rare=column(1)), min_cell=min_cell)
        assert (held.constant, held.replaced, held.reasons) == ({}, {}, {})


def test_rare_codes_are_answered_as_the_most_frequent_one():
    codes = np.repeat([0.0, 1.0, 2.0, 3.0], [10, 40, 6, 4])
    held, seen = shown(table(color=codes), nominal=("color",))
    assert held.constant == {}
    assert_array_equal(seen[:, 0], np.repeat([0.0, 1.0, 2.0, 1.0], [10, 40, 6, 4]))
    assert held.reasons == {"color": "code that fewer than 5 rows have: answered as the most frequent code"}
    assert shown(table(color=codes))[0].reasons == {}  # as numbers the same values are no codes


def test_several_rare_codes_are_replaced_together():
    codes = np.repeat([0.0, 1.0, 2.0, 3.0], [2, 52, 3, 3])
    held, seen = shown(table(color=codes), nominal=("color",))
    assert_array_equal(seen[:, 0], np.ones(N))
    assert held.reasons["color"].startswith("codes that fewer than 5 rows have")


def test_exact_copies_stay_and_near_ones_do_not():
    x = RNG.normal(size=N)
    near = np.where(np.arange(N) < 4, x + 1, x)
    far = np.where(np.arange(N) < 5, x + 1, x)
    original = table(x=x, copy=3 - 2 * x, far=far)
    assert shown(original)[0].constant == {}
    held, seen = shown(table(x=x, near=near))
    assert list(held.constant) == ["near"]
    assert held.reasons == {"near": "it differs from 'x' in a few rows only"}
    assert np.ptp(seen[:, 1]) == 0
    assert_array_equal(seen[:, 0], x)


def test_of_a_chain_of_near_copies_no_two_that_are_near_are_shown():
    x = RNG.normal(size=N)
    chain = {f"x{k}": np.where(np.arange(N) < 2 * k, x + 1, x) for k in range(4)}  # 2 rows from one to the next
    held, seen = shown(table(**chain))
    left = [values for name, values in zip(chain, seen.T, strict=True) if name not in held.constant]
    assert len(left) >= 2
    for place, one in enumerate(left):
        for other in left[:place]:
            assert not 0 < int((one != other).sum()) < 5


def test_0_1_columns_that_disagree_in_one_row_are_near_copies_also_when_turned_around():
    bits = column(20)
    other = bits.copy()
    other[50] = 1
    for second in (other, 1 - other):
        assert list(shown(table(first=bits, second=second))[0].constant) == ["second"]


def test_a_code_is_compared_with_other_columns_too():
    """Each code is a 0/1 column to the server: its difference from another one can be a row as well."""
    codes = np.repeat([0.0, 1.0, 2.0], 20)
    is_one = (codes == 1).astype(float)
    is_one[0] = 1
    other = codes.copy()
    other[0] = 1
    for columns, nominal in (
        ({"color": codes, "is_one": is_one}, ("color",)),
        ({"color": codes, "other": other}, ("color", "other")),
    ):
        held, seen = shown(table(**columns), nominal)
        assert held.reasons, columns
        differ = int(((seen[:, 0] == 1) != (seen[:, 1] == 1)).sum())
        assert not 0 < differ < 5


def test_labels_are_held_back_like_columns():
    Y = np.column_stack([column(2), column(25)])
    original = ArrayTable(("a",), RNG.normal(size=(N, 1)), ("y", "z"), Y)
    held = held_back(original, (), 5)
    assert list(held.constant) == ["y"]
    assert_array_equal(dense(GuardedTable(original, held).whole(("y", "z"))), np.column_stack([column(0), column(25)]))


def test_missing_values_stay_missing_and_count_as_no_value():
    rare = column(2)
    rare[-10:] = np.nan
    held, seen = shown(table(rare=rare, empty=np.full(N, np.nan)))
    assert list(held.constant) == ["rare"]
    assert_array_equal(np.isnan(seen[:, 0]), np.isnan(rare))
    assert not seen[: N - 10, 0].any()


def gaps(values, *rows):
    return np.where(np.isin(np.arange(N), rows), np.nan, values)


@pytest.mark.parametrize("n_missing", range(8))
def test_what_a_few_rows_miss_is_filled_in_and_what_more_miss_stays_missing(n_missing):
    x = RNG.permutation(N).astype(float)
    codes = np.repeat([0.0, 1.0, 2.0], [10, 20, 30])
    rows = range(0, 2 * n_missing, 2)
    held, seen = shown(table(x=gaps(x, *rows), color=gaps(codes, *(59 - row for row in rows))), nominal=("color",))
    few = 0 < n_missing < 5
    assert np.isnan(seen).sum() == (0 if few else 2 * n_missing)
    assert held.constant == {}
    if few:
        assert held.filled["color"] == 2.0
        assert abs(held.filled["x"] - N / 2) < 5
        said = f"missing in {n_missing} row{'s' * (n_missing > 1)} only: answered as a usual value"
        assert set(held.reasons.values()) == {said}
    else:
        assert (held.filled, held.reasons) == ({}, {})


@pytest.mark.parametrize("n_present", range(1, 8))
def test_a_column_that_a_few_rows_have_is_shown_as_a_constant_without_gaps(n_present):
    held, seen = shown(table(x=gaps(column(20), *range(n_present, N)), noise=RNG.normal(size=N)))
    assert np.isnan(seen[:, 0]).any() == (n_present >= 5)
    if n_present < 5:
        assert np.ptp(seen[:, 0]) == 0
        assert held.reasons["x"] == f"not missing in {n_present} row{'s' * (n_present > 1)} only"


@pytest.mark.parametrize("n_more", range(7))
def test_no_two_columns_miss_nearly_the_same_rows(n_more):
    for values in (RNG.normal(size=(2, N)), np.zeros((2, N))):
        first, second = gaps(values[0], *range(10)), gaps(values[1], *range(10 + n_more))
        held, seen = shown(table(first=first, second=second))
        near = 0 < n_more < 5
        assert list(held.filled) == ["second"] * near
        assert np.isnan(seen).sum() == (10 if near else 20 + n_more)


def test_a_column_that_tells_what_another_misses_is_held_back():
    bits, x = column(20), RNG.normal(size=N)
    x[bits == 1] = np.nan
    bits[50] = 1
    held, seen = shown(table(x=x, bits=bits))
    assert list(held.constant) == ["bits"]
    assert np.ptp(seen[:, 1]) == 0


def test_near_copies_are_found_though_values_are_missing():
    x = RNG.normal(size=N)
    near = np.where(np.arange(N) < 2, x + 1, x)
    held, seen = shown(table(x=gaps(x, *range(40, 50)), near=gaps(near, *range(40, 50))))
    assert list(held.constant) == ["near"]
    assert not np.isnan(seen[:, 1]).any()


def test_a_guarded_table_is_read_in_batches_and_in_any_order_of_columns():
    original = ArrayTable(("a", "b", "c"), np.column_stack([column(1), RNG.normal(size=N), column(9)]), batch_rows=7)
    guarded = GuardedTable(original, held_back(original, (), 5))
    assert (guarded.names, guarded.n_rows) == (original.names, N)
    batches = list(guarded.batches(("c", "a")))
    assert len(batches) > 1
    assert_array_equal(np.vstack(batches), np.column_stack([column(9), column(0)]))
    assert_array_equal(original.whole(("a",))[:, 0], column(1))  # the site's own rows stay as they are


def answers(method, site_table, requests, policy=SITE):
    endpoint = Endpoint.of_table(site_table, method, policy, Bare("run", ("a", "b", "c")), TransientState())
    return [decode(endpoint.answer(encode(request))) for request in requests]


def robust(method, site_table, bins):
    """The first two requests of a run in which this site is alone: histograms, and the scaling that follows."""
    ask = m.AskHistograms(method.columns, bins)
    return ask, m.Scaling.robust(bins, ask.answer(site_table).counts)


def test_under_the_rules_of_sites_the_line_of_a_rare_value_is_empty():
    """The attack: the line of the covariances that belongs to it was the row itself."""
    X = RNG.normal(size=(N, 4))
    X[:, 3] = column(1)
    names, bins = tuple("abcd"), Bins.of([np.linspace(-4, 4, 9)] * 3 + [np.array([0.0, 0.5, 1.0])])
    method, site_table = SieveMethod(names, ranges="robust"), ArrayTable(names, X)
    guarded = GuardedTable(site_table, held_back(site_table, (), 5))
    ask, scaling = robust(method, guarded, bins)
    _, reply = answers(method, site_table, [ask, m.AskCovariances(method.columns, scaling)])
    assert_array_equal(reply.deviations()[3], np.zeros(4))
    assert np.all(np.diagonal(reply.deviations())[:3] > 0)


def test_a_column_that_clipping_makes_nearly_constant_is_held_back_too():
    """All but one row lie beyond the ranges of the others, as in another unit: clipped, one row is left to read."""
    X = RNG.normal(size=(N, 3))
    X[:, 2] = RNG.normal(size=N) + 1000
    X[5, 2] = 0.3
    names = tuple("abc")
    method = SieveMethod(names, ranges=dict.fromkeys(names, (-5.0, 5.0)))
    scaling = m.Scaling(np.full(3, -5.0), np.full(3, 5.0), "declared")
    (reply,) = answers(method, ArrayTable(names, X), [m.AskCovariances(method.columns, scaling)])
    assert_array_equal(reply.deviations()[2], np.zeros(3))
    assert np.all(np.diagonal(reply.deviations())[:2] > 0)


def test_fedcmfs_labels_are_guarded_at_the_endpoint():
    X, Y = RNG.normal(size=(N, 2)), np.column_stack([column(1), column(30)])
    method = FedCMFSMethod(("a", "b"), labels=("y", "z"))
    request = m.AskCovariances(method.columns, m.Scaling(None, None, "local"), ("y", "z"))
    (reply,) = answers(method, ArrayTable(("a", "b"), X, ("y", "z"), Y), [request])
    assert_array_equal(reply.deviations()[2], np.zeros(4))
    assert reply.deviations()[3, 3] == 15


def test_sparse_rows_stay_sparse_where_nothing_is_held_back():
    X = csr_array(np.column_stack([column(20), column(1), column(30, 0.0, 2.0)]))
    original = ArrayTable(("a", "b", "c"), X)
    guarded = GuardedTable(original, held_back(original, (), 5))
    assert issparse(guarded.whole(("a", "c")))
    assert_array_equal(dense(guarded.whole(("a", "b"))), np.column_stack([column(20), column(0)]))


def test_a_column_that_tells_of_a_few_new_rows_is_held_back_though_many_old_ones_differ(rng):
    X = (rng.random((200, 3)) < 0.5).astype(float)
    new = np.arange(200) >= 150
    X[new, 0] = np.arange(50) == 7
    X[new, 1] = 0.0  # the same in all new rows: their difference tells nothing of it
    held = held_back(ArrayTable(("a", "b", "c"), X), (), 5, new=[new])
    assert held.reasons == {"a": "it would tell of a few of the rows that are new since an earlier answer"}
    assert held_back(ArrayTable(("a", "b", "c"), X), (), 5).constant == {}
