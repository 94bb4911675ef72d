"""A client answers from its rows by column name, or refuses with a reason."""

import numpy as np
import pytest
from scipy import sparse

from fedsieve import messages as m
from fedsieve.errors import DataError
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from fedsieve.values import check_values


def columns(*features, missing="error"):
    return m.Columns(features, (), missing)


def test_columns_are_taken_by_name():
    site = ArrayTable(("a", "b", "c"), np.array([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]]))
    reply = Client(site).answer(m.AskRanges(columns("c", "a")))
    np.testing.assert_array_equal(reply.high, [200, 2])


def test_an_absent_column_is_refused_by_name():
    reply = Client(ArrayTable(("a",), np.zeros((2, 1)))).answer(m.AskRanges(columns("a", "age")))
    assert isinstance(reply, m.Refusal)
    assert "'age'" in reply.reason


def test_a_product_before_the_relation_is_refused():
    reply = Client(ArrayTable(("a",), np.zeros((2, 1)))).answer(m.AskProducts(None, np.ones(1)))
    assert isinstance(reply, m.Refusal)
    assert "before the relation" in reply.reason


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
def test_missing_and_infinite_values_are_refused_with_column_and_count(wrap):
    X = np.array([[1.0, np.nan, 2.0], [3.0, np.nan, np.nan], [0.0, 5.0, 1.0]])
    with pytest.raises(DataError, match=r"2 missing \(NaN\) values in column 'b' and 1 more column. .*unrelated"):
        check_values(wrap(X), ("a", "b", "c"), "error")
    check_values(wrap(X), ("a", "b", "c"), "unrelated")
    X[0, 0] = -np.inf
    with pytest.raises(DataError, match=r"1 infinite \(inf\) value in column 'a'"):
        check_values(wrap(X), ("a", "b", "c"), "unrelated")
