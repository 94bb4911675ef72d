"""Columns that `select` is told about: codes that are words at one site, dates that are none, ids to be kept."""

import json

import numpy as np
import pytest

FILES = {"server": "server.csv", "siteA": "siteA.csv", "siteB": "siteB.parquet"}


@pytest.fixture
def with_columns(tables):
    """Save the tables with more columns: each a function of the file's name and its number of rows."""

    def save(**columns):
        for name, file in FILES.items():
            frame = tables.server if name == "server" else tables.clients[name]
            tables.save(file, frame.assign(**{column: make(name, len(frame)) for column, make in columns.items()}))

    return save


def selected(tables):
    return json.loads((tables["result"] / "selection.json").read_text())


@pytest.mark.parametrize("common", [["1", "2", "3a"], ["1", "3a", "3b", "3c"]], ids=["most numbers", "most words"])
def test_codes_that_are_numbers_at_one_site_are_words(fedsieve, tables, with_columns, common):
    with_columns(stage=lambda name, n: np.resize([1] if name == "siteB" else common, n))
    result = fedsieve(*tables.select("--nominal", "stage"))
    assert result.code == 0, result.err
    assert f"'stage' ({len(common)})" in result.out
    assert "stage" in selected(tables)["parameters"]["nominal"]


@pytest.mark.parametrize(
    ("option", "name", "says"),
    [
        ("--dates", "admittd", "dates (--dates) names no such feature: 'admittd'."),
        ("--dates", "ward", "column 'ward' is named in dates (--dates), but holds text, first in row 1. Write dates"),
        ("--keep", "patient_id", "column 'patient_id' is to be kept, but no word in it occurs in 5 rows or more"),
    ],
)
def test_what_is_named_but_cannot_be_is_refused(fedsieve, tables, with_columns, option, name, says):
    with_columns(
        ward=lambda _, n: np.resize(["north", "south"], n),
        patient_id=lambda site, n: [f"{site}{row}" for row in range(n)],
    )
    result = fedsieve(*tables.select(option, name))
    assert result.code != 0
    assert result.message.startswith(f"{tables['server.csv']}: {says}")


def test_a_column_of_0_and_1_is_no_id_whatever_its_name(fedsieve, tables, with_columns):
    with_columns(pid=lambda _, n: np.resize([0, 1, 1], n))
    result = fedsieve(*tables.select())
    assert result.code == 0, result.err
    assert "pid" in selected(tables)["order"]
