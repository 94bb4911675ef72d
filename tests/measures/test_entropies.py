"""Bins by exact fractions, entropies by counting, and what blocks and rounding must not change."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.measures import entropies
from fedsieve.measures.entropies import JointCounts, in_bits, joint_entropies, shared_information
from fedsieve.measures.scaling import equal_width_bins


def counted(*variables) -> float:
    n = len(variables[0])
    return math.fsum(-c / n * math.log2(c / n) for c in Counter(zip(*variables, strict=True)).values())


@st.composite
def whole_tables(draw, n_tables: int = 2):
    """Tables with the same rows, of up to five values."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, 30))
    return [
        rng.integers(0, draw(st.integers(1, 5)), (n_rows, draw(st.integers(1, 5)))).astype(draw(st.sampled_from("if")))
        for _ in range(n_tables)
    ]


@given(whole_tables())
def test_entropies_are_those_of_the_counts(tables):
    A, B = tables
    assert_allclose(entropies.entropies(A), [counted(a) for a in A.T], atol=1e-12)
    assert_allclose(joint_entropies(A, B), [[counted(a, b) for b in B.T] for a in A.T], atol=1e-12)
    information = [[counted(a) + counted(b) - counted(a, b) for b in B.T] for a in A.T]
    assert_allclose(shared_information(A, B), information, atol=1e-12)
    assert (shared_information(A, B) >= 0).all()


@pytest.mark.parametrize("cells", [1, 40, 1 << 22])
@given(tables=whole_tables(3))
def test_three_way_entropies_in_blocks_of_any_size(cells, tables):
    A, B, C = tables
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entropies, "CELLS", cells)
        some = np.arange(A.shape[1])[::2]
        found = JointCounts(A, B).entropies_with(C[:, 0], some, slice(1, None))
    expected = [[counted(A[:, i], C[:, 0], b) for b in B.T[1:]] for i in some]
    assert_allclose(found, np.reshape(expected, found.shape), atol=1e-12)


@given(whole_tables())
def test_a_table_of_one_value_tells_nothing(tables):
    A, _ = tables
    assert_array_equal(in_bits(shared_information(A, np.full((len(A), 2), 3))), np.zeros((A.shape[1], 2)))


def test_information_of_labels_with_themselves_is_their_entropy(rng):
    Y = (rng.random((50, 4)) < 0.3).astype(float)
    information = shared_information(Y, Y)
    assert_allclose(np.diag(information), [counted(y) for y in Y.T], atol=1e-12)
    assert_allclose(information, information.T, atol=1e-12)


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=20), st.sampled_from([1, 3, 7, 10, 1000]), st.integers(2, 7))
def test_bins_are_those_of_exact_arithmetic(numerators, denominator, n_bins):
    x = [Fraction(number, denominator) for number in numerators]
    low, width = min(x), max(x) - min(x)
    if set(x) <= {0, 1}:
        expected = [int(value) for value in x]
    else:
        expected = [min(math.floor((value - low) / width * n_bins), n_bins - 1) if width else 0 for value in x]
    found = equal_width_bins(np.array([[float(value)] for value in x]), n_bins)
    assert_array_equal(found[:, 0], expected)
    if width:
        assert_array_equal(equal_width_bins(found.astype(float), n_bins), found)


@pytest.mark.parametrize(("column", "n_bins", "middle"), [([-0.3, -0.2, -0.1], 2, 1), ([-0.3, -0.1, 0.2], 5, 2)])
def test_a_value_on_an_edge_lies_above_it_whatever_floating_point_says(column, n_bins, middle):
    assert equal_width_bins(np.array([column]).T, n_bins)[:, 0].tolist() == [0, middle, n_bins - 1]


def test_rounding_noise_is_no_information():
    assert_array_equal(in_bits(np.array([1e-15, -1e-15, 0.25])), [0.0, 0.0, 0.25])
    assert not np.signbit(in_bits(np.array([-1e-15]))).any()
