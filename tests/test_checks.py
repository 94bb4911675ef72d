"""Checks of numbers, choices and names: what passes, what does not, and the sentence it gets."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve import checks
from fedsieve.errors import ParameterError


def refusal(check, *given):
    with pytest.raises(ParameterError) as refused:
        check(*given)
    return str(refused.value)


@given(st.integers(-5, 5), st.integers(-3, 3), st.integers(0, 4))
def test_a_count_passes_exactly_within_its_bounds(value, low, width):
    high = low + width
    if low <= value <= high:
        checks.check_count("A", "n", value, low, high)
        checks.check_count("A", "n", np.int32(value), low)
    else:
        assert refusal(checks.check_count, "A", "n", value, low, high) == (
            f"A: n must be a whole number in [{low}, {high}]; got {value}."
        )


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "2", None, math.nan, np.bool_(True)])
def test_what_is_no_count(value):
    assert refusal(checks.check_count, "A", "n", value) == f"A: n must be a whole number of at least 1; got {value!r}."


def test_a_bound_may_say_where_it_comes_from_and_an_owner_may_be_left_out():
    assert refusal(checks.check_count, "A", "k", 9, 1, 8, "n_features=").endswith("in [1, n_features=8]; got 9.")
    assert refusal(checks.check_count, "", "[rounds] min_clients", 1, 2) == (
        "[rounds] min_clients must be a whole number of at least 2; got 1."
    )


@pytest.mark.parametrize("value", [0.5, 1, np.float32(2.0), np.int64(3), Fraction(1, 3)])
def test_what_is_a_number(value):
    checks.check_number("A", "x", value, *checks.ABOVE_ZERO)
    assert checks.is_number(value)


@pytest.mark.parametrize("value", [0, -0.5, math.inf, math.nan, True, "1", None, 1j])
def test_what_is_no_number_above_zero(value):
    assert refusal(checks.check_number, "A", "x", value, *checks.ABOVE_ZERO) == (
        f"A: x must be a number above 0; got {value!r}."
    )


def test_at_least_zero_includes_zero_and_nothing_below():
    checks.check_number("A", "x", 0, *checks.AT_LEAST_ZERO)
    for value in (-1e-300, math.inf, math.nan):
        assert "a number of at least 0" in refusal(checks.check_number, "A", "x", value, *checks.AT_LEAST_ZERO)


def test_whole_numbers_and_numbers_are_no_truth_values():
    values = (3, np.uint8(3), 3.0, True, "3")
    assert [checks.is_whole(value) for value in values] == [True, True, False, False, False]
    assert [checks.is_number(value) for value in values] == [True, True, True, False, False]


def test_a_choice():
    checks.check_choice("A", "mode", "fast", ("fast", "slow"))
    assert refusal(checks.check_choice, "A", "mode", ["fast"], ("fast", "slow")) == (
        "A: mode must be one of 'fast', 'slow'; got ['fast']."
    )


@given(st.lists(st.sampled_from("abc"), max_size=6))
def test_names_that_occur_twice(names):
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    assert checks.repeated(names) == twice
    if twice:
        listed = ", ".join(repr(name) for name in sorted(twice))
        assert refusal(checks.check_unique, "A", "names must differ", names, "Rename them.") == (
            f"A: names must differ; {listed} occur{'s' * (len(twice) == 1)} twice. Rename them."
        )
        assert refusal(checks.check_unique, "A", "names must differ", names).endswith(" twice.")
    else:
        checks.check_unique("A", "names must differ", names)


def test_names_that_nobody_knows():
    checks.check_known("A", "nominal names", ["a"], ("a", "b"))
    assert refusal(checks.check_known, "A", "groups name", ["a", 7, "c"], ("a", "b")) == (
        "A: groups name no such feature: '7', 'c'."
    )
