"""Greedy alignment and mean ranks, against loops that start from scratch for every candidate, and their laws."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata

from fedsieve.sieve.first_views import greedy_alignment
from fedsieve.sieve.views import mean_ranks
from reference import sieve_loops as loops
from strategies import tables

# Few values, so that scores are equal, or many.
values = st.integers(0, 4).map(float) | st.floats(0, 1e6, allow_subnormal=False)
scores = st.lists(values, min_size=1, max_size=25).map(np.array)


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Squared covariances of features, some of them copies or constant, and a relevance of each, some of them equal."""
    X = draw(tables(min_rows=3, max_rows=20, max_features=6))
    copied = draw(st.lists(st.integers(0, X.shape[1] - 1), max_size=2))
    X = np.hstack([X, X[:, copied]])
    likeness = np.atleast_2d(np.cov(X, rowvar=False, ddof=0)) ** 2
    constant = np.ptp(X, axis=0) == 0
    likeness[constant], likeness[:, constant] = 0.0, 0.0
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    relevance = rng.integers(0, 5, X.shape[1]) / 4 if draw(st.booleans()) else rng.random(X.shape[1])
    return relevance, likeness


def is_clear(relevance: np.ndarray, likeness: np.ndarray) -> bool:
    """Whether no two features are close at any step."""
    order = [int(p) for p in greedy_alignment(relevance, likeness) if likeness[p, p] > 0]
    for place in range(len(order) - 1):
        values = sorted(loops.alignment(relevance, likeness, [*order[:place], p]) for p in order[place:])
        if values[-1] - values[-2] < 1e-7 * values[-1] or values[-1] == 0:
            return False
    return True


@given(problems())
def test_the_order_is_that_of_aligning_every_candidate_from_scratch(problem):
    assert greedy_alignment(*problem).tolist() == loops.greedy_alignment(*problem)


@given(problems())
def test_every_feature_comes_once_and_those_without_variance_last_by_index(problem):
    order, varies = greedy_alignment(*problem), np.diagonal(problem[1]) > 0
    assert sorted(order) == list(range(len(order)))
    assert_array_equal(order[varies.sum() :], np.flatnonzero(~varies))


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_the_features_plays_no_part(problem, random):
    relevance, likeness = problem
    assume(is_clear(relevance, likeness) and (np.diagonal(likeness) > 0).all())
    moved = list(range(len(relevance)))
    random.shuffle(moved)
    there = greedy_alignment(relevance[moved], likeness[np.ix_(moved, moved)])
    assert_array_equal(np.array(moved)[there], greedy_alignment(relevance, likeness))


@given(problems())
def test_the_first_is_the_one_that_aligns_best_alone(problem):
    relevance, likeness = problem
    own = np.diagonal(likeness)
    assume((own > 0).any())
    alone = np.divide(relevance, np.sqrt(own), out=np.full(len(own), -1.0), where=own > 0)
    first = greedy_alignment(relevance, likeness)[0]
    assert alone[first] >= alone.max() * (1 - 1e-9)
    assert not np.any(alone[:first] > alone[first] * (1 + 1e-9))


@given(problems(), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_units_of_relevance_and_of_likeness_play_no_part(problem, of_relevance, of_likeness):
    relevance, likeness = problem
    assume(is_clear(relevance, likeness))
    assert_array_equal(
        greedy_alignment(of_relevance * relevance, of_likeness * likeness), greedy_alignment(relevance, likeness)
    )


@given(st.floats(0.42, 0.999), st.floats(1e-3, 1e3), st.permutations([0, 1, 2]))
def test_a_copy_of_the_best_comes_after_an_unrelated_feature_of_less_relevance(less, own, moved):
    """Two copies align like one, with 1; two unrelated ones of relevance 1 and r with (1 + r) / √2."""
    relevance = np.array([1.0, 1.0, less])
    likeness = own * np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    order = np.array(moved)[greedy_alignment(relevance[moved], likeness[np.ix_(moved, moved)])]
    assert order[1] == 2


def test_a_copy_of_the_best_comes_before_an_unrelated_feature_of_much_less_relevance():
    likeness = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert greedy_alignment(np.array([1.0, 1.0, 0.41]), likeness).tolist() == [0, 1, 2]


def test_equal_features_come_by_index_however_their_sums_are_rounded():
    relevance = np.array([0.3, 0.1 + 0.2, 0.3, 0.6 / 2])
    assert greedy_alignment(relevance, np.eye(4)).tolist() == [0, 1, 2, 3]


def test_without_any_relevance_features_come_by_index():
    assert greedy_alignment(np.zeros(4), np.diag([1.0, 0.0, 2.0, 1.0])).tolist() == [0, 2, 3, 1]


@given(scores)
def test_ranks_are_those_of_counting_who_is_ahead(values):
    assert mean_ranks(values).tolist() == loops.mean_ranks(values)


@given(scores)
def test_ranks_are_average_ranks_of_rounded_scores(values):
    assert_array_equal(mean_ranks(values), rankdata([-v for v in loops.rounded(values)]) - 1)


@given(scores, st.randoms(use_true_random=False))
def test_ranks_move_with_the_scores_and_add_up(values, random):
    moved = list(range(len(values)))
    random.shuffle(moved)
    ranks = mean_ranks(values)
    assert_array_equal(mean_ranks(values[moved]), ranks[moved])
    assert_allclose(ranks.sum(), len(values) * (len(values) - 1) / 2, rtol=1e-12)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=25), st.integers(0, 2**32 - 1))
def test_the_last_digits_play_no_part(values, seed):
    noise = np.random.default_rng(seed).uniform(-1e-14, 1e-14, len(values))
    assert_array_equal(mean_ranks(np.array(values) * (1 + noise)), mean_ranks(np.array(values, dtype=float)))


@pytest.mark.parametrize("values", [[0.0], [0.0, 0.0, 0.0], [7.0, 7.0]])
def test_equal_scores_all_have_the_middle_rank(values):
    assert_array_equal(mean_ranks(np.array(values)), (len(values) - 1) / 2)
