"""How unlike the others a site's rows are: `federation log --shift` by its last run, `select` by all files."""

import json

import pandas as pd
import pytest

from fedsieve.deployment.site_shift import write_shift

FOUND = [
    {"column": "age", "distance": 0.41, "by_chance": 0.05, "unlike": True},
    {"column": "weight", "distance": 0.06, "by_chance": 0.05, "unlike": False},
]


@pytest.fixture
def site(tmp_path):
    (tmp_path / "site.json").write_text('{"name": "north"}', encoding="utf-8")
    return tmp_path


def test_the_most_unlike_columns_come_first_in_words_and_as_json(fedsieve, site):
    write_shift(site / "results" / "run-1", FOUND[1:])
    write_shift(site / "results" / "run-2", FOUND)
    said = fedsieve("federation", "log", site, "--shift")
    assert said.code == 0
    assert "in 1 of 2 columns this site's rows are unlike those of the others: 'age'" in " ".join(said.out.split())
    assert "run-2" in said.out
    assert json.loads(fedsieve("federation", "log", site, "--shift", "--json").out) == FOUND


def test_before_a_run_there_is_nothing_to_show(fedsieve, site):
    told = fedsieve("federation", "log", site, "--shift").message
    assert "no run has told this site how the rows of all are spread yet" in told


@pytest.mark.parametrize("content", ["{}", '{"columns": [3]}', "[", '{"columns": [{"column": "age"}]}'])
def test_a_damaged_comparison_is_named(fedsieve, site, content):
    write_shift(site / "results" / "run-1", FOUND)
    (site / "results" / "run-1" / "shift.json").write_text(content, encoding="utf-8")
    assert "It is written anew in the next run." in fedsieve("federation", "log", site, "--shift").message


def test_what_looks_like_another_unit_is_said(fedsieve, site):
    looks = {"looks": "look like 1/18 of the others' (mg/dl and mmol/l of glucose?)"}
    write_shift(site / "results" / "run-1", [FOUND[0] | looks, FOUND[1]])
    said = fedsieve("federation", "log", site, "--shift")
    assert "Warning: column 'age': its values look like 1/18 of the others'" in said.err
    write_shift(site / "results" / "run-1", [FOUND[0] | {"looks": 3}])
    assert "It is written anew" in fedsieve("federation", "log", site, "--shift").message


@pytest.mark.parametrize("method", ["sieve", "ssfmlfs"])
def test_select_names_the_client_whose_column_is_in_another_unit(fedsieve, tables, method):
    heavy = tables.clients["siteA"].assign(**{"weight [kg]": lambda rows: rows["weight [kg]"] * 1000})
    tables.save("server.csv", pd.concat([tables.server] * 2))  # of few rows nothing is said
    tables.save("siteA.csv", pd.concat([heavy] * 2))
    tables.save("siteB.parquet", pd.concat([tables.clients["siteB"], tables.clients["siteC"]] * 2))
    said = fedsieve(*tables.select(method=method))
    told = "siteA, column 'weight [kg]': its values look like 1000 times the others' (g and mg?)"
    assert said.code == 0
    assert [line for line in said.err.splitlines() if "look like" in line] == [f"Warning: {told}"]
    record = json.loads((tables["result"] / "selection.json").read_text(encoding="utf-8"))
    assert [one["words"] for one in record["shift"]["siteA"]["findings"]] == [told]
