"""Areas, shares found at few false alarms, and their intervals, against loops and against known distributions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve.audit.curves import area_under_curve, share_with_interval, true_positives_at, with_interval
from reference.roc_loops import area_by_pairs, most_found

scores = st.lists(st.integers(0, 8).map(float), min_size=1, max_size=12)


@given(scores, scores)
def test_the_area_is_the_share_of_pairs_won(members, others):
    assert area_under_curve(np.array(members), np.array(others)) == pytest.approx(area_by_pairs(members, others))


@given(scores, scores, st.sampled_from([0.01, 0.05, 0.25, 0.5]))
def test_the_share_found_is_that_of_the_best_threshold_with_so_few_false_alarms(members, others, rate):
    found = true_positives_at(rate, np.array(members), np.array(others))
    assert found == pytest.approx(most_found(rate, members, others))


def test_an_interval_holds_the_truth_about_as_often_as_it_says(rng):
    """Normal scores one apart have the area Φ(1/√2)."""
    truth, n_held, n_tries = 0.7602, 0, 40
    for _ in range(n_tries):
        found = with_interval(area_under_curve, rng.normal(1, 1, 40), rng.normal(0, 1, 60), rng)
        assert found.low <= found.value <= found.high
        n_held += found.low <= truth <= found.high
    assert 0.8 * n_tries <= n_held < n_tries


def test_an_interval_narrows_with_more_rows(rng):
    few, many = (with_interval(area_under_curve, rng.normal(1, 1, n), rng.normal(0, 1, n), rng) for n in (20, 500))
    assert many.high - many.low < (few.high - few.low) / 2


def test_a_share_of_nothing_or_all_is_not_certain():
    """Wilson's interval, by its closed form at the ends: n / (n + z²)."""
    z2 = 1.959964**2
    assert share_with_interval(1.0, 20).low == pytest.approx(20 / (20 + z2))
    assert share_with_interval(0.0, 20).high == pytest.approx(z2 / (20 + z2))
    assert share_with_interval(0.0, 20).low == 0.0
