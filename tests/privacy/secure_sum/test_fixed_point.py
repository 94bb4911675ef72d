"""Totals in integers are those of the numbers, to the documented bound; what does not fit is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedsieve.errors import ProtocolError
from fedsieve.messages.base import Addend
from fedsieve.privacy.secure_sum.fixed_point import BITS, error, fraction_bits, from_ring, to_ring


@given(st.integers(2, 12), st.floats(1e-200, 1e200), st.data())
def test_a_total_is_the_sum_to_the_bound(n_sites, most, data):
    shares = hnp.arrays(np.float64, (n_sites, 4), elements=st.floats(-1, 1))
    parts = data.draw(shares) * (most / n_sites)
    total = Addend((4,), most)
    ring = sum(to_ring(part, Addend((4,), most / n_sites), total) for part in parts)
    exact = np.array([float(sum(map(_fraction, column))) for column in parts.T])
    room = error(total, n_sites) + np.spacing(np.abs(exact))  # the last: of the total as a float
    assert np.all(np.abs(from_ring(ring, total) - exact) <= room)
    assert error(total, n_sites) <= n_sites * most * 2.0 ** (1 - BITS)


def _fraction(x):
    from fractions import Fraction

    return Fraction(float(x))


@given(hnp.arrays(np.int64, (5, 3), elements=st.integers(-(2**40), 2**40)))
def test_whole_numbers_are_exact(parts):
    addend = Addend((3,), 2.0**43, whole=True)
    ring = sum(to_ring(part, addend, addend) for part in parts)
    assert from_ring(ring, addend).tolist() == parts.sum(axis=0).tolist()
    assert error(addend, 5) == 0


def test_each_number_may_have_a_bound_of_its_own():
    total = Addend((2, 3), np.array([1.0, 1000.0, 0.0]))
    assert fraction_bits(total).tolist() == [BITS - 1, BITS - 10, BITS]
    values = np.array([[0.1, 999.9, 0.0], [-0.7, -3.3, 0.0]])
    assert np.all(np.abs(from_ring(to_ring(values, total, total), total) - values) <= error(total, 1))


@pytest.mark.parametrize("value", [1.1, -1.1, np.nan, np.inf, -np.inf, 1e300])
def test_what_does_not_fit_is_refused_and_never_clipped(value):
    here = Addend((2,), 1.0)
    with pytest.raises(ProtocolError, match="beyond the bounds of the sum, which are never clipped"):
        to_ring(np.array([0.5, value]), here, Addend((2,), 10.0))
    assert from_ring(to_ring(np.array([0.5, 1.0]), here, here), here).tolist() == [0.5, 1.0]


def test_one_site_s_bound_is_not_above_that_of_all():
    with pytest.raises(ProtocolError, match="beyond the bounds"):
        to_ring(np.zeros(1), Addend((1,), 11.0), Addend((1,), 10.0))


def test_other_shapes_and_counts_beyond_all_bits_are_refused():
    with pytest.raises(ProtocolError, match=r"of shape \(3,\) to a sum of shape \(2,\)"):
        to_ring(np.zeros(3), Addend((3,), 1.0), Addend((2,), 1.0))
    with pytest.raises(ProtocolError, match="a sum has 61 bits"):
        fraction_bits(Addend((1,), 2.0**61, whole=True))
    assert fraction_bits(Addend((1,), 2.0**60, whole=True)) == 0
