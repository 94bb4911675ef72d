"""Rows with unlike labels by distinct label sets: those of the matrix of similarities, which is never made."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import fuzzy, kernels
from fedsieve.errors import ParameterError
from fedsieve.fuzzy.neighbors import known_label_similarity
from fedsieve.kernels import dependency

RULES = st.sampled_from(["least", "nonnegative"])


@given(st.integers(0, 2**32 - 1), st.integers(3, 60), st.integers(1, 140), st.sampled_from([0.03, 0.3, 0.9]), RULES)
def test_they_are_those_of_all_similarities(seed, n_samples, n_labels, share, rule):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_samples, n_labels)) < share).astype(float)[rng.integers(0, n_samples, n_samples)]
    n_neighbors = int(rng.integers(1, n_samples))
    expected = fuzzy.least_similar(fuzzy.label_similarity(Y), n_neighbors, rule)
    assert_array_equal(kernels.different_rows(Y, n_neighbors, rule), expected)


@given(st.integers(0, 2**32 - 1), RULES)
def test_unknown_labels_are_compared_in_blocks(seed, rule):
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, (12, 6)).astype(float)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    whole = known_label_similarity(Y)
    some = rng.permutation(12)[:5]
    assert_allclose(known_label_similarity(Y, some), whole[some], atol=1e-15)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dependency, "BLOCK_VALUES", 40)  # three rows at a time
        assert_array_equal(kernels.different_rows(Y, 3, rule), fuzzy.least_similar(whole, 3, rule))


def test_no_matrix_of_similarities_is_made():
    Y = np.eye(50)[np.random.default_rng(0).integers(0, 50, 20_000)]
    kernels.different_rows(Y[:10], 2)
    tracemalloc.start()
    kernels.different_rows(Y, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000**2 / 20  # one byte for each two rows would be twenty times that


def test_too_many_neighbors_are_refused():
    with pytest.raises(ParameterError, match="below the number of labeled rows, 4; got 4"):
        kernels.different_rows(np.eye(4), 4)
