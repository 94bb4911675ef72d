"""Views of a column in several runs: none of their combinations may tell of a few rows, and bins neither."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.messages.base import View
from fedsieve.privacy import held_back, with_views
from fedsieve.privacy.views import Groups
from fedsieve.tables import ArrayTable

LEAST = 5


def isolated(columns, n_few):
    """Whether some combination of the columns and a constant is 0 in all rows but 1 to `n_few` of them."""
    M = np.column_stack([np.ones(len(columns[0])), *columns])
    distinct, counts = np.unique(M, axis=0, return_counts=True)
    rank = np.linalg.matrix_rank(distinct)
    for size in range(1, min(n_few, len(distinct)) + 1):
        for some in combinations(range(len(distinct)), size):
            few = counts[list(some)].sum() <= n_few
            if few and np.linalg.matrix_rank(np.delete(distinct, some, axis=0)) < rank:
                return True
    return False


def tells_few_apart(column, views):
    groups = Groups(views, LEAST)
    groups.add(column)
    return groups.has_few(lambda: [column], len(column))


def accepted(column, ranges):
    """The views that a site answers, one run after the other; what is held back, nobody has seen."""
    table, known = ArrayTable(("x",), column[:, None]), {}
    for low, high in ranges:
        views = with_views(known, {"x": View(low, high, 0)})
        if "x" not in held_back(table, (), LEAST, {"x": (low, high)}, views).constant:
            known = views
    return known.get("x", [])


RANGES = st.tuples(st.integers(-1, 16), st.integers(0, 6)).map(lambda ends: (ends[0] / 2, (ends[0] + ends[1]) / 2))


@settings(max_examples=200)
@given(
    st.lists(st.integers(0, 12), min_size=2, max_size=8), st.integers(0, 7), st.lists(RANGES, min_size=1, max_size=4)
)
def test_no_combination_of_answered_views_tells_of_a_few_rows(counts, usual, ranges):
    column = np.append(np.repeat(np.arange(float(len(counts))), counts), np.full(50, float(usual)))
    seen = [np.clip(column, low, high) for low, high, *_ in accepted(column, ranges)]
    assert not seen or not isolated(seen, LEAST - 1)


def test_without_the_rule_they_do():
    """The search for combinations finds what it looks for."""
    x = np.arange(100.0)
    assert isolated([np.clip(x[90:], 0, 95), np.clip(x[90:], 0, 98)], 4)
    assert not isolated([np.clip(x[80:], 0, 95)], 4)


@pytest.mark.parametrize(
    ("views", "few"),
    [
        ([View(0.0, 89.0, 0), View(0.0, 95.0, 0)], False),  # five rows between (89 is as good as an end), five beyond
        ([View(0.0, 90.0, 0), View(0.0, 96.0, 0)], True),
        ([View(3.0, 90.0, 0), View(3.0, 80.0, 0)], False),  # below 3 lie few, in both alike
        ([View(3.0, 90.0, 0), View(4.0, 90.0, 0)], True),
        ([View(0.0, 90.0, 0), View(0.0, 95.0, 0), View(0.0, 93.0, 0)], True),
        ([View(0.0, 99.0, 2)], False),
        ([View(0.0, 190.0, 2)], False),  # the last five have a bin
        ([View(0.0, 192.0, 2)], True),
        ([View(0.0, 99.0, 2), View(0.0, 105.0, 2)], True),  # three rows go from one bin to the other
        ([View(0.0, 99.0, 2), View(0.0, 109.0, 2)], False),
    ],
)
def test_ranges_that_move_and_bins_leave_enough_rows_in_every_group(views, few):
    assert tells_few_apart(np.arange(100.0), views) is few
    assert tells_few_apart(np.append(np.arange(100.0), np.nan), views) is few


def test_a_row_whose_value_lies_apart_within_a_group_counts_as_one():
    """A shift makes the value 0 that all others of the group have."""
    x = np.repeat([0.0, 1.0, 2.0, 3.0], [50, 50, 4, 50])
    assert tells_few_apart(x, [View(0.0, 0.5, 0), View(0.0, 2.5, 0)])
    assert not tells_few_apart(np.append(x, 2.0), [View(0.0, 0.5, 0), View(0.0, 2.5, 0)])


def test_two_columns_that_differ_in_a_few_rows_once_they_are_in_bins_are_near_copies():
    x = np.random.default_rng(0).random((200, 1))
    table = ArrayTable(("x", "y"), np.hstack([x, np.where(x > 0.99, 0.1, x**1.001)]))
    views = {"x": [View(0.0, 1.0, 2)], "y": [View(0.0, 1.0, 2)]}
    assert held_back(table, (), LEAST).constant == {}
    assert list(held_back(table, (), LEAST, {}, views).constant) == ["y"]


def test_a_view_that_is_known_adds_nothing_and_the_newest_comes_last():
    known = with_views({}, {"x": View(0.0, 1.0, 0)})
    known = with_views(known, {"x": View(0.0, 2.0, 0), "empty": View(np.inf, -np.inf, 0)})
    assert known == {"x": [View(0.0, 1.0, 0), View(0.0, 2.0, 0)]}
    assert with_views(known, {"x": View(0.0, 1.0, 0)}) == {"x": [View(0.0, 2.0, 0), View(0.0, 1.0, 0)]}


def test_a_near_copy_by_clipping_stays_one_when_a_later_request_leaves_the_other_column_out():
    """Products with all columns first, then covariances of some: the two together would tell the copies apart."""
    first = np.linspace(0.0, 1.0, 60)
    second = first + 9.0 * (first > 0.9) * np.arange(60)  # far beyond the range, where nobody sees it
    second[0] += 0.01
    table = ArrayTable(("a", "b"), np.column_stack([first, second]))
    narrow = {"b": (0.0, 0.9)}
    wide = {"a": (0.0, 0.9), **narrow}
    views = {name: [View(*ends)] for name, ends in wide.items()}
    assert list(held_back(table, (), 5, wide, views).constant) == ["b"]
    assert list(held_back(table, (), 5, narrow, views).constant) == ["b"]
