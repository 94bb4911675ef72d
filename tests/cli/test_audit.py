"""`fedsieve audit`: words, files, a site's own table, an agreement; and what is wrong with what was typed."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

from fedsieve.audit import curves
from fedsieve.cli import audit as command

SECRET = "123456.789"


@pytest.fixture(autouse=True)
def few_bootstraps(monkeypatch):
    monkeypatch.setattr(curves, "N_BOOTSTRAPS", 100)


@pytest.fixture
def own_table(tmp_path, rng):
    """Somebody's rows, of which no cell may be printed."""
    X = np.round(rng.normal(size=(120, 5)), 3)
    X[7, 2] = float(SECRET)
    frame = pd.DataFrame(X, columns=["age", "weight [kg]", "dose", "pulse", "noise"])
    frame["label_a"], frame["label_b"] = rng.integers(0, 2, (2, 120))
    file = tmp_path / "own.csv"
    frame.to_csv(file, index=False)
    return file


def test_the_bundled_digits_are_audited_in_words_and_written_as_json_and_markdown(fedsieve, tmp_path):
    files = tmp_path / "audit.json", tmp_path / "audit.md"
    only = ("--only", "lone columns", "--only", "chosen requests", "--only", "relations")
    result = fedsieve("audit", *only, "-o", files[0], "-o", files[1])
    assert result.code == 0, result.err
    words = " ".join(result.out.split())
    assert "Sieve, with all rules of a site that joined. Rows: digits, 64 columns" in words
    assert "refused: rows_per_column" in words
    assert "Refused by the site: lone columns, chosen requests." in words
    record = json.loads(files[0].read_text())
    assert [finding["attack"] for finding in record["findings"]] == ["relations", "lone columns", "chosen requests"]
    assert record["findings"][1]["rule"] == "rows_per_column"
    assert record["parameters"]["ranges"] == "robust"
    assert (record["method"], len(record["features"])) == ("Sieve", 64)
    assert record["section"]["rows"][1][0] == "lone columns"
    assert files[1].read_text().startswith("## What a curious server could learn\n")


def test_a_table_of_one_s_own_is_audited_and_no_cell_is_printed(fedsieve, own_table, tmp_path):
    file = tmp_path / "own.json"
    chosen = ("--labels", "prefix:label_", "--guard", "none", "--sites", 3, "-o", file)
    result = fedsieve("audit", "--table", own_table, *chosen, "--only", "differencing", "--only", "membership")
    assert result.code == 0, result.err
    record = json.loads(file.read_text())
    assert record["findings"][0]["read"]["value"] > 0.8
    assert "5 columns; the site under attack has 84 of them" in record["about"]
    for text in (result.out, result.err, file.read_text()):
        assert SECRET not in text


def test_methods_whose_sites_hold_labels_are_audited_too(fedsieve, own_table):
    chosen = ("--method", "FedCMFS", "--combine", "pooled", "--secure", "--sites", 3, "--labels", "prefix:label_")
    result = fedsieve("audit", "--table", own_table, *chosen, "--only", "chosen requests")
    assert result.code == 0, result.err
    assert "refused: totals only" in result.out


@pytest.fixture
def federation(fedsieve, tables, own_table):
    """An operator's folder of two sites, and that of siteA, for the columns of the table."""
    named = ("--out", tables["fed"], "--sites", "siteA,siteB,siteC", "--schema", own_table, "--with-keys")
    assert fedsieve("federation", "init", *named, "--labels", "prefix:label_", "--secure").code == 0
    return tables["fed"]


def test_an_agreement_decides_method_and_sums_and_a_site_s_own_rules_hold(fedsieve, federation, own_table):
    site = federation / "sites" / "siteA"
    only = ("--only", "differencing")
    result = fedsieve("audit", site, "--table", own_table, *only)
    assert result.code == 0, result.err
    assert "Sieve, secure sums, with all rules of a site that joined" in " ".join(result.out.split())
    assert "2 other sites" in " ".join(result.out.split())
    assert "refused: min_difference_rows" in result.out
    (site / "policy.toml").write_text("min_difference_rows = 0\n")
    (site / "policy.toml").chmod(0o600)
    result = fedsieve("audit", site, "--table", own_table, *only)
    assert "min_difference_rows" not in result.out
    assert "refused: rows_per_column" in result.out  # one row more, for five columns
    assert fedsieve("audit", federation / "federation.toml", "--table", own_table, *only).code == 0


def test_an_operator_without_rows_is_told_to_give_some(fedsieve, federation):
    result = fedsieve("audit", federation)
    assert result.code == 2
    assert (
        result.message
        == f"fedsieve audit: {federation} holds no rows. Give some in the agreement's columns: --table FILE."
    )


def test_what_the_agreement_decides_cannot_be_said_beside_it(fedsieve, federation, own_table):
    result = fedsieve("audit", federation, "--table", own_table, "--method", "ssfmlfs")
    assert result.code == 2
    assert "the agreement decides what --method says; got 'ssfmlfs'. Leave it out" in result.message


BAD = {
    "method": (("--method", "sift"), "--method must be one of 'sieve', 'ssfmlfs', 'fmlfs', 'fedcmfs'; got 'sift'."),
    "wire": (
        ("--wire", "vectors"),
        "Sieve has no parameter 'wire'; got --wire vectors. Take --method ssfmlfs or fedcmfs",
    ),
    "epsilon": (("--method", "fmlfs", "--epsilon", 1), "FMLFS has no parameter 'epsilon'; got --epsilon 1.0."),
    "guard": (("--guard", "dog"), "--guard must be one of 'site', 'none'; got 'dog'."),
    "attack": (("--only", "magic"), "--only must be one of 'relations', 'lone columns'"),
    "sites": (("--sites", 1), "--sites must be at least 2; got 1."),
    "dataset": (("--dataset", "moon"), "--dataset must be one of 'digits', 'ink'"),
    "output": (("-o", "audit.txt"), "--out must end in .json or .md; got 'audit.txt'."),
    "secure": (("--method", "fmlfs", "--secure"), "FMLFS: secure=True needs replies that add up"),
    "two sources": (("--dataset", "ink", "--table", "own.csv"), "takes --table or --dataset, not both"),
    "no table": (("--table", "nowhere.csv"), "nowhere.csv: no such file."),
    "no agreement": (("nowhere/",), "is no agreement, and no folder of an operator or a site"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_that_names_the_way_out(fedsieve, what):
    arguments, message = BAD[what]
    result = fedsieve("audit", *arguments)
    assert result.code == 2
    assert message in result.message


def test_rows_that_cannot_be_audited_are_named_without_a_cell(fedsieve, own_table):
    frame = pd.read_csv(own_table)
    frame.loc[3, "dose"] = np.nan
    frame.to_csv(own_table, index=False)
    result = fedsieve("audit", "--table", own_table)
    assert result.code == 2
    assert "own.csv: " in result.message
    assert "'dose'" in result.message
    assert "Fill them in, or leave these rows out" in result.message  # the command has no other way out
    assert "missing=" not in result.message
    assert SECRET not in result.err
    frame.dropna().head(10).to_csv(own_table, index=False)
    assert "has 10 rows; an audit needs at least 20" in fedsieve("audit", "--table", own_table).message


@pytest.mark.parametrize("arguments", [("--secure",), ("--only", "differencing")])
def test_without_the_extra_the_package_is_named(fedsieve, monkeypatch, arguments):
    for name in list(sys.modules):
        if name.startswith(("fedsieve.privacy.secure_sum", "fedsieve.deployment.keys", "fedsieve.deployment.ledger")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    result = fedsieve("audit", *arguments)
    assert result.code == 2
    assert "needs the package 'cryptography'. Install it with: pip install \"fedsieve[secure]\"" in result.message


def test_help_shows_examples(fedsieve):
    result = fedsieve("audit", "--help")
    assert result.code == 0
    assert "fedsieve audit --method ssfmlfs --wire statistics" in " ".join(result.out.split())
    assert command.audit.__doc__ is not None
