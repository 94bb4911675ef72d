"""`fedsieve select` by Sieve, its default, with SSFMLFS beside it."""

import csv
import json
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from fedsieve import SSFMLFS, Sieve


def read(folder: Path) -> dict:
    return json.loads((folder / "selection.json").read_text(encoding="utf-8"))


def plain(tables, *more):
    """Without --method and --alone: what a user types."""
    arguments = tables.select(*more)
    place = arguments.index("--method")
    return [*arguments[:place], *arguments[place + 3 :]]


def fitted(kind, tables, **parameters):
    return kind(**parameters).fit(tables.X, tables.Y, clients={n: tables.clients[n] for n in ("siteA", "siteB")})


def test_by_default_it_is_sieve_with_ssfmlfs_beside_it(fedsieve, tables):
    result = fedsieve(*plain(tables, "-k", 3))
    assert result.code == 0, result.err
    record, model = read(tables["result"]), fitted(Sieve, tables, n_features_to_select=3)
    names = list(model.feature_names_in_)
    assert record["method"] == "Sieve"
    assert record["order"] == [names[i] for i in model.order_]
    for column in ("scores", "relevance", "redundancy", "stability"):
        assert_allclose([record[column][name] for name in names], getattr(model, f"{column}_"), rtol=1e-12)
    assert record["redundant_with"] == {n: names[i] for n, i in zip(names, model.redundant_with_, strict=True)}
    other = fitted(SSFMLFS, tables, n_features_to_select=3)
    assert [record["rank_SSFMLFS"][name] for name in names] == other.ranking_.tolist()
    both = len(set(record["selected"]) & set(model.feature_names_in_[other.support_]))
    assert f"SSFMLFS selects {both} of the same 3 features." in result.out
    assert "Selected 3 features by Sieve" in result.out
    assert "by SSFMLFS" in result.out


def test_k_can_be_a_share(fedsieve, tables):
    assert fedsieve(*plain(tables, "-k", "0.5", "--alone")).code == 0
    record = read(tables["result"])
    assert len(record["selected"]) == len(record["order"]) // 2


def test_ranking_csv_has_the_reasons(fedsieve, tables):
    fedsieve(*plain(tables))
    record = read(tables["result"])
    with tables["result"].joinpath("ranking.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["feature"] for row in rows] == record["order"]
    for row in rows:
        assert row["redundant_with"] == record["redundant_with"][row["feature"]]
        assert float(row["stability"]) == record["stability"][row["feature"]]
        assert int(row["rank_SSFMLFS"]) == record["rank_SSFMLFS"][row["feature"]]


def test_the_paper_s_method_has_sieve_beside_it(fedsieve, tables):
    assert fedsieve(*plain(tables, "--method", "SSFMLFS", "--lam", 0.9)).code == 0
    record = read(tables["result"])
    assert record["method"] == "SSFMLFS"
    assert record["parameters"]["lam"] == 0.9
    assert sorted(record["rank_Sieve"].values()) == [1, 2, 3, 4, 5, 6]


def test_alone_runs_one_method(fedsieve, tables):
    result = fedsieve(*tables.select(method="sieve"))
    assert "rank_SSFMLFS" not in read(tables["result"])
    assert "pair sums" not in result.err


def test_the_number_can_be_left_to_sieve(fedsieve, tables):
    assert fedsieve(*plain(tables, "-k", "auto")).code == 0
    record = read(tables["result"])
    model = fitted(Sieve, tables, n_features_to_select="auto")
    assert len(record["selected"]) == model.choice_.k == record["parameters"]["n_features_to_select"]


def test_groups_and_codes(fedsieve, tables):
    assert fedsieve(*plain(tables, "--group", "age,dose", "--nominal", "code", "-k", 2)).code == 0
    record = read(tables["result"])
    model = fitted(Sieve, tables, n_features_to_select=2, groups=[["age", "dose"]], nominal=["code"])
    names = list(model.feature_names_in_)
    assert record["order"] == [names[i] for i in model.order_]
    assert {"age", "dose"} < set(record["selected"])  # a group is selected as a whole


def test_what_stops_the_other_method_stops_nothing(fedsieve, tables):
    result = fedsieve(*plain(tables, "--method", "ssfmlfs", "--ranges", "local"))
    assert result.code == 0, result.err
    assert "Warning: not compared with Sieve: Sieve: ranges must be 'federated', 'robust' or" in result.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--method", "pca"], "--method must be one of 'sieve', 'ssfmlfs'; got 'pca'."),
        (["-k", "many"], "-k must be a whole number, a share between 0 and 1, or \"auto\"; got 'many'."),
        (["-k", "auto", "--method", "ssfmlfs"], "SSFMLFS: n_features_to_select must be a whole number"),
        (["--group", "age,height"], "Sieve: groups name no such feature: 'height'."),
        (["--group", "age,dose", "--group", "dose"], "Sieve: groups must not overlap; 'dose' occurs twice."),
        (["--missing", "unrelated"], "Sieve: missing must be one of 'error', 'mean', 'indicator'; got"),
    ],
)
def test_bad_options_are_named(fedsieve, tables, options, says):
    result = fedsieve(*plain(tables, *options))
    assert result.code == 2
    assert says in result.message
    assert not tables["result"].exists()
