"""Tables with gaps on the command line: filled by default, told of, and refused where that is asked for."""

import json

import numpy as np
import pytest

from fedsieve.cli.agreed_tables import read_labeled, read_rows
from fedsieve.deployment.agreement import parse_agreement, read_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.errors import DataError


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


@pytest.mark.parametrize(("method", "way"), [("sieve", "mean"), ("ssfmlfs", "unrelated")])
def test_select_names_its_own_option_for_gaps_and_the_option_works(fedsieve, gapped, method, way):
    assert fedsieve(*gapped.select("--missing", "error", method=method)).message.endswith(f" Here: --missing {way}.")
    assert fedsieve(*gapped.select("--missing", way, method=method)).code == 0


def test_select_goes_on_without_a_client_with_gaps_where_asked(fedsieve, gapped):
    gapped.save("server.csv", gapped.server)
    clients = tuple(str(gapped[file]) for file in ("siteA.csv", "siteB.parquet", "siteC.csv"))
    more = ("--missing", "error", "--on-bad-client", "drop")
    result = fedsieve(*gapped.select(*more, clients=clients))
    assert result.code == 0, result.err
    assert list(record(gapped)["dropped"]) == ["siteA"]


@pytest.mark.parametrize(("method", "way"), [("Sieve", "mean"), ("SSFMLFS", "unrelated"), ("FMLFS", None)])
def test_parties_of_a_federation_are_told_who_decides_about_gaps(tables, method, way):
    chosen = {"parameters": {"missing": "error"}} if way else {}
    text = agreement_text("f", "h:1", ["a", "b"], list(tables.features), list(tables.labels), method=method, **chosen)
    server = tables.server.copy()
    server.loc[server.index[1], "age"] = np.nan
    file = tables.save("gaps.csv", server)
    said = f"'federation init' and 'simulate', --missing {way}." if way else "Fill them in, or leave these rows out."
    for read in (read_rows, read_labeled):
        with pytest.raises(DataError, match="1 missing") as refused:
            read(file, parse_agreement(text))
        assert str(refused.value).startswith(f"{file}: ")
        assert str(refused.value).endswith(said)


def test_a_federation_agrees_on_it(fedsieve, tables, tmp_path):
    arguments = ("--schema", tables["server.csv"], "--labels", "prefix:label_", "--sites", "a,b,c")
    for choice, center in ((None, None), ("indicator", "sites")):
        folder = tmp_path / f"fed-{choice}"
        more = () if choice is None else ("--missing", choice, "--center", center)
        result = fedsieve("federation", "init", "--out", folder, *arguments, *more)
        assert result.code == 0, result.err
        method = read_agreement(folder / "federation.toml").method
        assert (method.missing, method.center) == (choice or "mean", center or "federation")
