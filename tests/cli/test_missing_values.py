"""Tables with gaps on the command line: filled by default, told of, and refused where that is asked for."""

import json

import numpy as np
import pytest

from fedsieve.deployment.agreement import read_agreement


@pytest.fixture
def gapped(tables):
    """The same tables with some ages missing, at one client all of them."""
    server, client = tables.server.copy(), tables.clients["siteA"].copy()
    server.loc[:1, "age"] = np.nan
    client["age"] = np.nan
    server.to_csv(tables["server.csv"], index=False)
    client.to_csv(tables["siteA.csv"], index=False)
    return tables


def record(tables):
    return json.loads((tables["result"] / "selection.json").read_text(encoding="utf-8"))


def test_select_fills_them_in_and_says_how_many_there_are(fedsieve, gapped):
    result = fedsieve(*gapped.select(method="sieve"))
    assert result.code == 0, result.err
    found = record(gapped)
    assert "of all values are missing; most of 'age'" in result.out
    assert found["missing_by_site"]["siteA"] == {"age": 1.0}
    assert found["missing_by_site"]["siteB"] == {}
    assert found["missing"]["age"] > 0 == found["missing"]["dose"]
    assert found["parameters"]["missing"] == "mean"
    assert "missing" in (gapped["result"] / "ranking.csv").read_text(encoding="utf-8").splitlines()[0]


def test_select_takes_indicators_and_runs_the_paper_s_method_beside_in_its_own_way(fedsieve, gapped):
    arguments = gapped.select("--missing", "indicator", "--center", "sites", method="sieve")
    arguments.remove("--alone")
    result = fedsieve(*arguments)
    assert result.code == 0, result.err
    found = record(gapped)
    assert (found["parameters"]["missing"], found["parameters"]["center"]) == ("indicator", "sites")
    assert "rank_SSFMLFS" in found["columns"]


def test_select_refuses_them_where_asked_and_names_an_option_that_it_has(fedsieve, gapped):
    result = fedsieve(*gapped.select("--missing", "error", method="sieve"))
    assert result.code == 2
    assert "missing (NaN) values in column 'age'" in result.message
    assert "Sieve with missing='mean'" in result.message
    assert "--missing" in fedsieve("select", "--help").out
    assert fedsieve(*gapped.select("--missing", "median", method="sieve")).message == (
        "Sieve: missing must be one of 'error', 'mean', 'indicator'; got 'median'."
    )


def test_a_federation_agrees_on_it(fedsieve, tables, tmp_path):
    arguments = ("--schema", tables["server.csv"], "--labels", "prefix:label_", "--sites", "a,b,c")
    for choice, center in ((None, None), ("indicator", "sites")):
        folder = tmp_path / f"fed-{choice}"
        more = () if choice is None else ("--missing", choice, "--center", center)
        result = fedsieve("federation", "init", "--out", folder, *arguments, *more)
        assert result.code == 0, result.err
        method = read_agreement(folder / "federation.toml").method
        assert (method.missing, method.center) == (choice or "mean", center or "federation")
