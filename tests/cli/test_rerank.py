"""`fedsieve rerank`: another number of features from the totals of a result."""

import json
import shutil

import pytest


def read(folder):
    return json.loads((folder / "selection.json").read_text(encoding="utf-8"))


def run_of(record):
    """What of a record is the same however it came about."""
    own = ("reranked_from", "versions", "command", "timing")
    return {name: value for name, value in record.items() if name not in own}


@pytest.mark.parametrize("method", ["sieve", "ssfmlfs"])
def test_it_is_the_result_that_select_would_have_written(fedsieve, tables, method):
    assert fedsieve(*tables.select("-k", 4, method=method)).code == 0
    result = fedsieve("rerank", tables["result"], "-k", 2, "--labeled", tables["server.csv"])
    assert result.code == 0, result.err
    assert f"Selected 2 features instead of 4, asking nobody; the result is in {tables['result'] / 'k2'}." in result.out
    assert fedsieve(*tables.select("-k", 2, method=method, out="fresh")).code == 0
    again = read(tables["result"] / "k2")
    assert again["reranked_from"] == 4
    assert run_of(again) == run_of(read(tables["fresh"]))
    assert (tables["result"] / "k2" / "ranking.csv").read_bytes() == (tables["fresh"] / "ranking.csv").read_bytes()


@pytest.fixture(scope="module")
def shared(fedsieve, untouched, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reranked") / "result"
    assert fedsieve(*untouched.select("-k", 4, method="sieve", out=folder)).code == 0
    return folder


@pytest.fixture
def result(shared, tables):
    return shutil.copytree(shared, tables["result"])


def test_it_replaces_nothing_unless_told(fedsieve, tables, result):
    arguments = ["rerank", result, "-k", 2, "--labeled", tables["server.csv"]]
    assert fedsieve(*arguments).code == 0
    assert "exists already" in fedsieve(*arguments).message
    assert fedsieve(*arguments, "--force").code == 0
    assert fedsieve(*arguments, "--out", tables["other"]).code == 0
    assert read(tables["other"])["selected"] == read(result)["order"][:2]


def test_the_number_can_be_left_to_the_labels_and_the_server_s_parameters_can_change(fedsieve, tables, result):
    auto = fedsieve("rerank", result, "-k", "auto", "--labeled", tables["server.csv"], "--set", "n_trees=20")
    assert auto.code == 0, auto.err
    (made,) = (path for path in result.iterdir() if path.is_dir())
    record = read(made)
    assert record["parameters"]["n_trees"] == 20
    assert made.name == f"k{len(record['selected'])}"
    assert record["sizes_tried"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-k", 2], "rerank needs --labeled FILE, the labeled rows of the run: they are not kept with a result."),
        ([], "rerank needs -k, or --set NAME=VALUE, to know what to change."),
        (["-k", 7, "LABELED"], "Sieve: n_features_to_select must be a whole number in [1, n_features=6], a share"),
        (["--set", "ranges=robust", "LABELED"], "Sieve: 'ranges' decides what the sites are asked, or what they"),
        (["--set", "colour=3", "LABELED"], "Sieve: has no parameter 'colour'."),
        (["--set", "colour", "LABELED"], "--set takes NAME=VALUE; got 'colour'."),
        (["-k", 2, "--labeled", "siteC.csv"], "siteC.csv: lacks 'label_a', 'label_b', 'label_c'; it must be the file"),
        (
            ["-k", 2, "--labeled", "fewer.csv"],
            "Sieve: the labeled rows (17 rows, 6 features) are not those of the run.",
        ),
    ],
)
def test_what_is_wrong_is_named(fedsieve, tables, result, arguments, said):
    tables.save("fewer.csv", tables.server[1:])
    typed = ["--labeled", tables["server.csv"]] if "LABELED" in arguments else []
    typed += [tables[word] if str(word).endswith(".csv") else word for word in arguments if word != "LABELED"]
    found = fedsieve("rerank", result, *typed)
    assert found.code == 2
    assert said in found.message


def test_without_totals_it_says_why_and_what_is_left(fedsieve, tables, result):
    (result / "totals.bin").unlink()
    found = fedsieve("rerank", result, "-k", 2, "--labeled", tables["server.csv"])
    assert "has no totals.bin, the totals of the run" in found.message
    assert "'fedsieve apply -k K' takes the best K" in found.message


def test_totals_of_another_result_are_refused(fedsieve, tables, result):
    assert fedsieve(*tables.select("-k", 4, "--seed", 3, method="sieve", out="other")).code == 0
    (tables["other"] / "totals.bin").replace(result / "totals.bin")
    found = fedsieve("rerank", result, "-k", 2, "--labeled", tables["server.csv"])
    assert "holds the totals of another result than" in found.message


def test_a_result_that_is_replaced_leaves_no_old_totals(fedsieve, tables, result):
    matrices = tables.select("-k", 2, "--wire", "matrices", "--force")
    assert fedsieve(*matrices).code == 0
    assert not (result / "totals.bin").exists()
