"""Groups of few that follow from totals: by looking at every set of names with a rank of real numbers instead."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.measures.told_together import TooManyError, newly_told

NAMES = "abcdefg"
GROUPS = st.sets(st.sampled_from(NAMES), min_size=1).map(lambda group: "".join(sorted(group)))


def dimension(groups, some):
    """Of the weighted totals that are of these names alone: vectors of the span that are 0 elsewhere."""
    if not groups:
        return 0
    whole = np.array([[name in group for name in NAMES] for group in groups], dtype=float)
    elsewhere = whole[:, [name not in some for name in NAMES]]
    return np.linalg.matrix_rank(whole) - (np.linalg.matrix_rank(elsewhere) if elsewhere.size else 0)


def slow(known, added, most):
    """Whether one more group tells of at most so many names what was not told before."""
    sets = (some for n in range(1, most + 1) for some in combinations(NAMES, n))
    return any(dimension([*known, added], some) > dimension(known, some) for some in sets)


@settings(max_examples=40)
@given(st.lists(GROUPS, max_size=5), GROUPS, st.integers(1, 3))
def test_it_is_what_every_set_of_names_says(known, added, most):
    told = newly_told(known, added, most)
    assert bool(told) == slow(known, added, most)
    assert len(told) <= most
    if told:
        assert dimension([*known, added], told) > dimension(known, told)


def test_one_more_or_less_is_told_and_two_are_not():
    assert newly_told(["abcd"], "abc", 1) == ("d",)
    assert newly_told(["abcd"], "ab", 1) == ()
    assert newly_told(["abcd"], "ab", 2) == ("a", "b")
    assert newly_told([], "ab", 1) == ()


def test_one_that_is_always_there_follows_when_all_others_can_be_taken_away():
    assert newly_told(["abcdefg", "adefg", "abcfg"], "abcde", 1) == ("a",)


def test_what_was_told_already_is_no_news():
    assert newly_told(["abcd", "abc"], "abcd", 1) == ()
    assert newly_told(["abcd", "abc"], "ab", 1) == ("c",)


def test_too_many_sets_are_not_tried():
    names = [f"site-{i}" for i in range(80)]
    known = [names, *(names[:i] + names[i + 2 :] for i in range(0, 78, 3))]
    with pytest.raises(TooManyError):
        newly_told(known, names[3:], 4)
