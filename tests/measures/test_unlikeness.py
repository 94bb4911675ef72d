"""How unlike two groups are: bounds, and what chance makes of groups that are alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve.measures.unlikeness import by_chance, distance, is_unlike
from reference.dealt_at_random import dealt_distances

counts = st.lists(st.integers(0, 50), min_size=2, max_size=8).map(np.array)


@given(counts, st.data())
def test_a_distance_is_a_symmetric_share_that_the_order_of_bins_does_not_change(own, data):
    others = np.array(data.draw(st.lists(st.integers(0, 50), min_size=len(own), max_size=len(own))))
    apart = distance(own, others)
    assert 0 <= apart <= 1 + 1e-12
    assert apart == pytest.approx(distance(others, own))
    order = data.draw(st.permutations(range(len(own))))
    assert apart == pytest.approx(distance(own[order], others[order]))
    assert distance(own, 3 * own) == pytest.approx(0, abs=1e-12)


def test_groups_without_a_bin_in_common_are_apart():
    assert distance(np.array([5, 0, 0]), np.array([0, 1, 9])) == 1


@pytest.mark.parametrize(
    ("own", "others"),
    [([30, 30, 40], [300, 310, 390]), ([5] * 30, [60] * 30), ([95, 5], [480, 20]), ([400, 100, 7], [20, 20, 20])],
)
def test_what_chance_makes_of_it_is_as_dealing_rows_shows(own, others):
    own, others = np.array(own), np.array(others)
    drawn = dealt_distances(own, others, n_draws=2000)
    mean, deviation = by_chance(own, others)
    assert mean == pytest.approx(drawn.mean(), rel=0.15)
    assert deviation > 0.6 * drawn.std()
    assert np.mean([is_unlike(one, mean, deviation) for one in drawn]) <= 0.001


@pytest.mark.parametrize(("own", "others"), [([0, 0], [3, 4]), ([3, 4], [0, 0]), ([1, 0], [0, 1])])
def test_few_or_no_rows_are_never_unlike(own, others):
    own, others = np.array(own), np.array(others)
    mean, deviation = by_chance(own, others)
    assert not is_unlike(distance(own, others), mean, deviation)


def test_a_shift_of_half_the_rows_is_seen():
    own, others = np.array([50, 10, 40]), np.array([100, 300, 100])
    assert is_unlike(distance(own, others), *by_chance(own, others))
