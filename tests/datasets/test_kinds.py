"""What a column holds: the same, whichever library holds it."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from fedsieve.datasets.kinds import (
    DATES,
    EMPTY,
    NEITHER,
    NUMBERS,
    TEXT,
    arrow_column,
    as_words,
    of_text,
    series_column,
    to_numbers,
)

MAKERS = {
    "pandas": lambda values: series_column(pd.Series(values)),
    "pandas objects": lambda values: series_column(pd.Series(values, dtype=object)),
    "polars": lambda values: series_column(pl.Series(values)),
    "pyarrow": lambda values: arrow_column(pa.chunked_array([values])),
}


@pytest.fixture(params=MAKERS)
def column(request):
    return MAKERS[request.param]


def test_numbers_and_booleans(column):
    assert_array_equal(to_numbers(column([1, 2, 3]).values), [1, 2, 3])
    assert column([1, 2]).whole
    assert_array_equal(to_numbers(column([1.5, None]).values), [1.5, np.nan])
    found = column([True, False, None])
    assert (found.kind, found.whole) == (NUMBERS, False)
    assert_array_equal(to_numbers(found.values), [1, 0, np.nan])


def test_text_is_stripped_and_gaps_are_gaps(column):
    found = column(["f ", None, "m", ""])
    assert (found.kind, found.words) == (TEXT, None)
    assert list(found.values) == ["f", None, "m", None]


def test_dates_are_days(column):
    assert_array_equal(column([date(1970, 1, 3), None]).values, [2, np.nan])
    found = column([datetime(1970, 1, 2, 12), None])
    assert found.kind == DATES
    assert_array_equal(found.values, [1.5, np.nan])


def test_nothing_at_all(column):
    assert column([None, None]).kind == EMPTY


def test_what_is_neither(column):
    assert column([timedelta(1), None]).kind == NEITHER


def test_words_that_a_column_declares_keep_their_order():
    categories = pd.Series(pd.Categorical(["b", None], categories=["c", "b", "a"]))
    levels = pl.Series(["b", None], dtype=pl.Enum(["c", "b", "a"]))
    for series in (categories, levels):
        found = series_column(series)
        assert (found.kind, found.words, list(found.values)) == (TEXT, ("c", "b", "a"), ["b", None])


def test_categories_of_numbers_are_codes():
    found = series_column(pd.Series([3, 1, 3], dtype="category"))
    assert (found.kind, found.coded) == (NUMBERS, True)
    assert_array_equal(found.values, [3, 1, 3])
    assert arrow_column(pa.chunked_array([pa.array([3, 1, 3]).dictionary_encode()])).coded


def test_categories_whose_words_look_like_numbers_are_words():
    assert series_column(pd.Series(["01", "02"], dtype="category")).kind == TEXT
    assert series_column(pl.Series(["01", "02"], dtype=pl.Categorical)).kind == TEXT


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64"])
def test_nullable_columns_of_pandas(dtype):
    assert_array_equal(to_numbers(series_column(pd.Series([1, None], dtype=dtype)).values), [1, np.nan])


def test_times_with_a_zone():
    assert_array_equal(series_column(pd.Series(pd.to_datetime(["1970-01-02"], utc=True))).values, [1])


@pytest.mark.parametrize(
    ("words", "kind", "why"),
    [
        (["1", "2.5", None], NUMBERS, ""),
        (["2020-01-31", "2020-02-01"], DATES, ""),
        (["2020-01-31", "2020-02-31"], NEITHER, "holds dates, and some that no calendar has"),
        (["31.01.2020", None], NEITHER, "holds dates, first in row 1, that are not written as YYYY-MM-DD"),
        (["1/31/20", "2/1/20"], NEITHER, "holds dates, first in row 1, that are not written as YYYY-MM-DD"),
        (["1", "2", "n.d."], NEITHER, "holds text among numbers, first in row 3"),
        (["1,5", "2,5"], NEITHER, "holds numbers with commas, first in row 1 (--decimal; pandas: decimal=',')"),
        (["1.234,5", "2"], NEITHER, "holds numbers with commas, first in row 1 (--decimal; pandas: decimal=',')"),
        (["1", "2a", "2b"], TEXT, ""),
        (["1_000", "x"], TEXT, ""),
    ],
)
def test_what_words_spell_out(words, kind, why):
    found = of_text(words)
    assert (found.kind, found.why) == (kind, why)


def test_numbers_as_words_are_written_as_people_do():
    assert as_words(of_text(["1.0", None, "2.50"]), 3) == ["1", None, "2.5"]
