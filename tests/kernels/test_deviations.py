"""Deviations in one pass over a reply are those of the whole matrix, and a product of lengths bounds each."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedsieve import kernels
from fedsieve.messages.covariances import Covariances


@given(n_rows=st.integers(2, 30), n_columns=st.integers(1, 12), seed=st.integers(0, 10**6))
def test_deviations_are_those_of_the_whole_matrix(n_rows, n_columns, seed):
    X = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    names, products = tuple(map(str, range(n_columns))), X.T @ X
    reply = Covariances(n_rows, names, (), X.sum(axis=0), products[np.triu_indices(n_columns)])
    slow = np.triu(reply.raw_deviations()[0])
    lengths = np.sqrt(np.diagonal(slow))
    found, below = kernels.upper_deviations(reply.upper, reply.sums, n_rows, lengths, 1e-9 * n_rows)
    np.testing.assert_allclose(found, slow, rtol=0, atol=1e-12 * n_rows)
    assert below


def test_one_entry_above_the_lengths_of_its_columns_is_enough():
    upper, lengths = np.array([4.0, 0.5, -2.0, 9.0, 6.0, 4.0]), np.array([2.0, 3.0, 2.0])
    assert kernels.upper_deviations(upper, np.zeros(3), 5, lengths, 0.0)[1]
    for place, value in ((1, 6.1), (1, -6.1), (2, 4.1), (4, 6.1), (4, np.nan)):
        lie = upper.copy()
        lie[place] = value
        assert not kernels.upper_deviations(lie, np.zeros(3), 5, lengths, 0.0)[1]
    assert kernels.upper_deviations(lie, np.zeros(3), 5, lengths, 0.2)[1] is False
    above = np.array([4.0, 6.1, -2.0, 9.0, 6.0, 4.0])
    assert kernels.upper_deviations(above, np.zeros(3), 5, lengths, 0.2)[1]


def test_what_lies_anywhere_in_a_message_is_compiled_for_once():
    message = memoryview(bytes(3) + np.arange(6.0).tobytes())[3:]
    anywhere = np.frombuffer(message, dtype="<f8")
    assert not anywhere.flags.aligned
    lengths = np.full(3, 10.0)
    kernels.upper_deviations(anywhere.copy(), np.zeros(3), 5, lengths, 0.0)
    from fedsieve.kernels.deviations import _upper_deviations

    before = len(_upper_deviations.signatures)
    kernels.upper_deviations(anywhere, np.zeros(3), 5, lengths, 0.0)
    assert len(_upper_deviations.signatures) == before
