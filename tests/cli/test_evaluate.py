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
    assert "SSFMLFS: 3 of 6 features, judged in 1 times 2 folds of 18 labeled rows." in told
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


BAD = [
    (("--method", "sive"), "evaluate: --method must be one of 'Sieve', .*; got 'sive'"),
    (("--against", "nobody"), "evaluate: --against must be one of .*; got 'nobody'"),
    (("--set", "lambda=2"), "--set: Sieve has no parameter 'lambda'; it has .*'n_trees'"),
    (("--set", "n_trees"), "--set takes NAME=VALUE; got 'n_trees'"),
    (("--sizes", "2,many"), "--sizes takes whole numbers: 5,10,20; got 'many'"),
    (("--sizes", "7"), r"each of sizes must be a whole number in \[1, n_features=6\]; got 7"),
    (("--classifier", "svm"), "fedsieve: --classifier must be one of 'ML-kNN', 'logistic'; got 'svm'"),
    (("--folds", "1"), r"n_folds must be a whole number in \[2, labeled rows=18\]; got 1"),
    (("--selection", "x", "-k", "2"), "--selection is judged as it is: leave out -k and --set"),
    (("--against", "sieve"), "evaluate: against has a second 'Sieve'"),
]


@pytest.mark.parametrize(("more", "words"), BAD, ids=[words[:40] for _, words in BAD])
def test_what_cannot_be_is_one_line(call, tables, more, words):
    result = call(*more)
    assert result.code == 2
    assert re.search(words, result.message), result.message
    assert not tables["evaluation"].exists()


def test_an_existing_result_stays_unless_forced(call, tables):
    tables["evaluation"].mkdir()
    (tables["evaluation"] / "evaluation.json").write_text("{}")
    assert "exists already. Choose another --out, or give --force" in call("--method", "GRMFS").message
    assert call("--method", "GRMFS", "--force", clients=()).code == 0  # the labeled rows are all there is
    assert record(tables)["method"] == "GRMFS"
