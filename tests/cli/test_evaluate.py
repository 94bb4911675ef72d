"""`fedsieve evaluate` on files, against the library on the same tables."""

import json
import re

import numpy as np
import pytest

import fedsieve as package
from fedsieve import SSFMLFS, Sieve


@pytest.fixture
def call(fedsieve, tables):
    """The command on the small federation, by one classifier in few folds."""

    def evaluate(*more, clients=("siteA.csv", "siteB.parquet"), out="evaluation"):
        named = [part for file in clients for part in ("--client", tables[file])]
        plain = ("--folds", 2, "--repeats", 1, "--sizes", "2,4", "--classifier", "logistic")
        server = ("--labeled", tables["server.csv"], "--labels", "prefix:label_")
        return fedsieve("evaluate", *server, *named, *plain, "--out", tables[out], *more)

    return evaluate


def record(tables, out="evaluation"):
    return json.loads((tables[out] / "evaluation.json").read_text(encoding="utf-8"))


def test_it_finds_what_the_library_finds(call, tables):
    result = call("--method", "ssfmlfs", "-k", 3, "--set", "lam=1.6", "--against", "sieve")
    assert result.code == 0, result.err
    order = [name for name in tables.server.columns if name.startswith("label_")]
    expected = package.evaluate(
        SSFMLFS(3, lam=1.6),
        tables.X,
        tables.server[order],
        {name: tables.clients[name] for name in ("siteA", "siteB")},
        against={"Sieve": Sieve()},
        n_folds=2,
        n_repeats=1,
        sizes=[2, 4],
        classifiers=["logistic"],
    )
    found = record(tables)
    assert found["method"] == "SSFMLFS"
    assert found["others"] == ["random", "all features", "Sieve"]
    values = {(row["fold"], row["method"], row["n_features"]): row["average_precision"] for row in found["folds"]}
    names = list(tables.server.drop(columns=order).columns)
    assert sorted(found["chosen"]) == sorted(names)
    for row in expected.rows:
        if row["method"] != "random":  # whose draws are of columns in another order
            key = row["fold"], row["method"], row["n_features"]
            assert values[key] == pytest.approx(row["average_precision"], abs=1e-9)
    for file in ("evaluation.csv", "folds.csv", "evaluation.png"):
        assert (tables["evaluation"] / file).exists()
    told = " ".join(result.out.split())
    assert "SSFMLFS: 3 of 6 features, judged in 2 folds of 18 labeled rows." in told
    assert "selected: 3" in told


def test_a_selection_is_judged_as_it_is_and_that_is_said(call, fedsieve, tables):
    assert fedsieve(*tables.select("-k", 2)).code == 0
    result = call("--selection", tables["result"], clients=())
    assert result.code == 0, result.err
    assert "may be the same as these" in result.out
    found = record(tables)
    assert found["method"] == "SSFMLFS (as loaded)"
    selected = json.loads((tables["result"] / "selection.json").read_text())["selected"]
    assert {name for name, share in found["chosen"].items() if share} == set(selected)


def test_text_and_gaps_are_read_as_select_reads_them(call, tables):
    copied = tables.server["label_a"]
    server = tables.server.assign(ward=np.where(tables.server["age"] > 50, "east", "west"), copy=copied)
    server.loc[2, "dose"] = np.nan
    tables.save("server.csv", server)
    result = call("--method", "sieve", "--against", "ssfmlfs", "--set", "n_trees=10", clients=())
    assert result.code == 0, result.err
    assert "Text is read as categories: 'ward' (2)" in result.out
    assert "ward" in record(tables)["chosen"]
    assert "feature 'copy' is identical to label 'label_a'" in result.err


def test_it_leaves_a_page_of_its_own(call, fedsieve, tables):
    result = call("--method", "ssfmlfs", "-k", 3)
    assert result.code == 0, result.err
    folder = tables["evaluation"]
    assert f"To look at it: {folder / 'report.html'}" in "".join(result.out.split("\n"))
    summary, found = json.loads((folder / "summary.json").read_text(encoding="utf-8")), record(tables)
    assert summary["answer"] in (folder / "report.html").read_text(encoding="utf-8")
    assert summary["answer"] in found["verdict"]
    assert found["command"].startswith("fedsieve evaluate --labeled server.csv --labels prefix:label_ ")
    points = {(p["method"], p["k"]): p["mean"] for p in summary["quality"]["panels"][0]["points"]}
    assert set(points) == {(name, k) for name in ("SSFMLFS", *found["others"]) for k in (2, 3, 4)}
    own = [row for row in found["summary"] if row["own"] and row["metric"] == "average_precision"]
    assert all(points[row["method"], 3] == pytest.approx(row["mean"], abs=1e-4) for row in own)
    again = fedsieve("report", folder / "evaluation.json", "-o", folder / "again.html")
    assert again.code == 0, again.err
    text = (folder / "again.html").read_text(encoding="utf-8").replace("again.summary.json", "summary.json")
    assert text == (folder / "report.html").read_text(encoding="utf-8")


def test_in_the_folder_of_a_selection_it_becomes_part_of_that_page(call, fedsieve, tables):
    assert fedsieve(*tables.select("-k", 2)).code == 0
    assert call("--method", "ssfmlfs", "-k", 2, out="result").code == 0
    summary = json.loads((tables["result"] / "summary.json").read_text(encoding="utf-8"))
    assert summary["answer"].startswith("SSFMLFS chose 2 of 6 features")
    assert summary["quality"]["words"] == record(tables, "result")["verdict"]


BAD = [
    (("--method", "sive"), "evaluate: --method must be one of 'Sieve', .*; got 'sive'. Did you mean 'Sieve'?"),
    (("--against", "nobody"), "evaluate: --against must be one of .*; got 'nobody'"),
    (("--set", "lambda=2"), "--set: Sieve has no parameter 'lambda'; it has .*'n_trees'"),
    (("--set", "n_trees"), "--set takes NAME=VALUE; got 'n_trees'"),
    (("--sizes", "2,many"), "--sizes takes whole numbers: 5,10,20; got '2,many'"),
    (("--sizes", "7"), r"^each of --sizes must be a whole number in \[1, n_features=6\]; got 7"),
    (("--classifier", "svm"), "fedsieve: --classifier must be one of 'ML-kNN', 'logistic', .*; got 'svm'"),
    (("--folds", "19"), r"^--folds must be a whole number in \[2, labeled rows=18\]; got 19"),
    (("--selection", "x", "-k", "2"), "--selection is judged as it is: leave it out, or leave out --method, -k and"),
    (("--selection", "x", "--method", "grmfs"), "--selection is judged as it is: leave it out, or leave out --method"),
    (("--method", "random"), "^--method: 'random' is what a selection is compared with anyway; name another"),
    (("--method", "all features"), "^--method: 'all features' is what a selection is compared with anyway"),
    (("-k", "7"), r"^-k must be a whole number in \[1, n_features=6\], a share between 0 and 1, or \"auto\"; got 7"),
    (("--against", "sieve"), "^--against: 'Sieve' is what is judged; leave it out, or judge another --method"),
]


@pytest.mark.parametrize(("more", "words"), BAD, ids=[words[:40] for _, words in BAD])
def test_what_cannot_be_is_one_line(call, tables, more, words):
    result = call(*more)
    assert result.code == 2
    assert re.search(words, result.message), result.message
    assert not tables["evaluation"].exists()


BEFORE = [
    (("--folds", "1"), "^--folds must be a whole number of at least 2; got 1"),
    (("--repeats", "0"), "^--repeats must be a whole number of at least 1; got 0"),
    (("--seed", "-1"), "^--seed must be a whole number of at least 0; got -1"),
    (("--sizes", "2,0"), "^each of --sizes must be a whole number of at least 1; got 0"),
    (("--classifier", "svm"), "--classifier must be one of"),
    (("--method", "sive"), "--method must be one of"),
    (("--against", "nobody"), "--against must be one of"),
    (("--set", "lambda=2"), "--set: Sieve has no parameter"),
    (("-k", "some"), "^-k must be a whole number"),
]


@pytest.mark.parametrize(("more", "words"), BEFORE, ids=[more[0] for more, _ in BEFORE])
def test_options_are_checked_before_any_table_is_read(call, tables, more, words):
    tables["server.csv"].write_text("")  # which no reader takes
    result = call(*more)
    assert result.code == 2
    assert re.search(words, result.message), result.message
    assert "folds" not in result.err.replace("--folds", "")  # no bar


@pytest.mark.parametrize("clients", [(), ("siteA.csv", "siteB.parquet")])
def test_labels_that_are_not_all_known_are_one_line(call, tables, clients):
    """Without clients a note, a warning of numpy and a row counted from 0 were said."""
    table = tables.server
    name = next(column for column in table if column.startswith("label_"))
    table.assign(**{name: table[name].where(table.index != 3)}).to_csv(tables["server.csv"], index=False)
    result = call(clients=clients)
    assert result.code == 2
    assert f"label {name!r} must be 0 or 1; got a missing value in data row 4. Fill it in" in result.message
    assert "Each label is learned" not in result.out + result.err


def test_gaps_that_a_method_does_not_take_are_named_before_the_first_fold(call, tables):
    table = tables.server
    name = next(column for column in table if not column.startswith("label_"))
    table.assign(**{name: table[name].where(table.index != 3)}).to_csv(tables["server.csv"], index=False)
    result = call("--method", "ssfmlfs")
    assert result.code == 2
    assert f"the labeled rows: 1 missing (NaN) value in column {name!r}" in result.message
    assert "--set missing=unrelated" in result.message
    assert "folds" not in result.err
    assert call("--method", "ssfmlfs", "--set", "missing=unrelated").code == 0


def test_an_existing_result_stays_unless_forced(call, tables):
    tables["evaluation"].mkdir()
    (tables["evaluation"] / "evaluation.json").write_text("{}")
    assert "exists already. Choose another --out, or give --force" in call("--method", "GRMFS").message
    assert call("--method", "GRMFS", "--force", clients=()).code == 0  # the labeled rows are all there is
    assert record(tables)["method"] == "GRMFS"
