"""The order of a table in memory is nobody's business."""

import numpy as np
from numpy.testing import assert_array_equal

from fedsieve.protocol.summaries import moments_of


def test_moments_do_not_depend_on_the_layout_in_memory():
    X = np.random.default_rng(0).random((1200, 7))
    one, other = (moments_of(order(X), tuple("abcdefg")) for order in (np.ascontiguousarray, np.asfortranarray))
    assert_array_equal(one.mean, other.mean)
    assert_array_equal(one.m2, other.m2)
