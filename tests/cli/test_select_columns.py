"""Columns that `select` is told about: codes that are words at one site and numbers at another."""

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
