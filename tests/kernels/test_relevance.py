"""Relevance without relations: fast twins of `dependency`, `least_similar` and `soft_decisions` of `fuzzy`."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import fuzzy, kernels
from fedsieve.errors import DataError, ParameterError
from kernels.twins import relations_of
from reference import fuzzy_loops
from strategies import KINDS, tables, with_gaps

RULES = ("least", "nonnegative")
kinds, rules = st.sampled_from(KINDS), st.sampled_from(RULES)


@st.composite
def labeled_tables(draw):
    """X with or without gaps, 0/1 labels with many equal rows, a radius per feature and a mask of nominal ones."""
    X = draw(tables(min_rows=4, max_rows=20, max_features=5))
    X = with_gaps(X, draw(st.integers(0, 99)), share=draw(st.sampled_from([0.0, 0.2])))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Y = rng.integers(0, 2, (len(X), draw(st.integers(1, 4)))).astype(float)
    radius = rng.integers(0, 21, X.shape[1]) / 16
    nominal = rng.random(X.shape[1]) < 0.3 if draw(st.booleans()) else None
    return X, Y, radius, nominal


@given(labeled_tables(), st.data(), kinds, rules)
def test_relevance_is_the_dependency(drawn, data, kind, rule):
    X, Y, radius, nominal = drawn
    k = data.draw(st.integers(1, len(X) - 1))
    found = kernels.relevance(X, kernels.different_rows(Y, k, rule), radius, kind, nominal)
    by_index = () if nominal is None else np.flatnonzero(nominal)
    assert_allclose(found, fuzzy.dependency(X, Y, radius, k, kind, rule, nominal=by_index), atol=1e-12)
    assert_allclose(found, fuzzy_loops.dependency(X, Y, radius, k, kind, rule, list(by_index)), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_neighbors_that_do_not_exist_count_in_k(kind):
    # Only rows 0 and 1 are alike; rows 2 and 3 find no similarity of at least 0.
    Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    different = kernels.different_rows(Y, 2, "nonnegative")
    assert different.tolist() == [[1, -1], [0, -1], [-1, -1], [-1, -1]]
    X = np.array([[0.0], [0.25], [0.5], [1.0]])
    expected = (0.25 + 0.25) / (4 * 2)
    assert_allclose(kernels.relevance(X, different, np.array([0.5]), kind), [expected], rtol=1e-15)


def test_relevance_reads_any_layout_and_changes_nothing(rng):
    X, Y, radius = rng.random((30, 6)), rng.integers(0, 2, (30, 5)), np.full(6, 0.3)
    different = kernels.different_rows(Y, 3)
    found = kernels.relevance(X, different, radius, "distance", np.arange(6) == 1)
    assert_array_equal(radius, 0.3)
    fortran = np.asfortranarray(X)
    fortran.flags.writeable = False
    assert_array_equal(kernels.relevance(fortran, different, radius, "distance", np.arange(6) == 1), found)


def test_the_threshold_is_taken_in_float64():
    X = np.array([[0.0, 0.0], [0.3, 0.3 + 1e-12]])
    different = np.array([[1], [0]])
    assert_allclose(kernels.relevance(X, different, np.full(2, 0.3)), [0.3, 1.0], rtol=1e-12)


@pytest.mark.parametrize("block", [1, 3, 4, 5, 16, 17, 1024])
@pytest.mark.parametrize("rule", RULES)
def test_different_rows_are_the_least_similar_whatever_the_block(rng, monkeypatch, block, rule):
    # By name: in the package the function hides the module.
    monkeypatch.setattr(import_module("fedsieve.kernels.dependency"), "BLOCK_VALUES", 17 * block)
    for Y in (rng.integers(0, 2, (16, 3)), rng.random((16, 4)), rng.integers(0, 2, (17, 6))):
        expected = fuzzy.least_similar(fuzzy.label_similarity(Y), 5, rule)
        assert_array_equal(kernels.different_rows(Y, 5, rule), expected)


@given(st.integers(2, 20), st.integers(1, 4), st.integers(0, 2**32 - 1), st.data(), rules)
def test_different_rows_equal_the_loop_twin(n_rows, n_labels, seed, data, rule):
    Y = np.random.default_rng(seed).integers(0, 2, (n_rows, n_labels))
    k = data.draw(st.integers(1, n_rows - 1))
    found = [[j for j in row if j >= 0] for row in kernels.different_rows(Y, k, rule).tolist()]
    assert found == fuzzy_loops.least_similar(fuzzy_loops.label_similarity(Y), k, rule)


@given(labeled_tables(), kinds)
def test_soft_decisions_are_those_under_the_relation_of_all_features(drawn, kind):
    X, Y, radius, nominal = drawn
    found = kernels.soft_decisions(X, Y, radius, kind, nominal)
    relations = relations_of(X, radius, kind, nominal)
    assert_allclose(found, fuzzy.soft_decisions(relations.min(axis=0), Y), atol=1e-13)
    assert_allclose(found, fuzzy_loops.soft_decisions(list(relations), Y), atol=1e-13)


def test_soft_decisions_leave_the_labels_alone_and_take_whole_numbers(rng):
    X, Y = rng.random((12, 2)), rng.integers(0, 2, (12, 3))
    as_float = Y.astype(float)
    found = kernels.soft_decisions(X, as_float, np.full(2, 0.5))
    assert_array_equal(as_float, Y)
    assert_array_equal(kernels.soft_decisions(X, Y, np.full(2, 0.5)), found)
    assert not np.array_equal(found, Y)


def test_errors_name_the_rule_and_the_value():
    Y = np.eye(3)
    with pytest.raises(ParameterError, match=r"n_neighbors must be at least 1 .*labeled rows, 3; got 3"):
        kernels.different_rows(Y, 3)
    with pytest.raises(ParameterError, match="irrelevant must be one of 'least', 'nonnegative'; got 'some'"):
        kernels.different_rows(Y, 1, "some")
    with pytest.raises(DataError, match=r"Y must be \(n_samples, n_labels\); got shape \(3,\)"):
        kernels.different_rows(np.ones(3), 1)
