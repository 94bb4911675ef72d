"""`fedsieve select` from files to files, against the library on the same tables."""

import csv
import json
import platform
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fedsieve as package
from fedsieve import SSFMLFS


def read(folder: Path) -> dict:
    return json.loads((folder / "selection.json").read_text(encoding="utf-8"))


def library(tables, names=("siteA", "siteB"), **parameters) -> SSFMLFS:
    return SSFMLFS(**parameters).fit(tables.X, tables.Y, clients={name: tables.clients[name] for name in names})


def assert_same(record: dict, model: SSFMLFS) -> None:
    names = list(model.feature_names_in_)
    assert record["order"] == [names[i] for i in model.order_]
    assert record["selected"] == record["order"][: model.support_.sum()]
    for key in ("scores", "relevance", "radius"):
        assert_allclose([record[key][name] for name in names], getattr(model, f"{key}_"), rtol=1e-12, err_msg=key)


def test_the_result_is_that_of_the_library_on_the_same_tables(fedsieve, tables):
    result = fedsieve(*tables.select("-k", 4))
    assert result.code == 0, result.err
    assert_same(read(tables["result"]), library(tables, n_features_to_select=4))
    assert "Selected 4 features" in result.out


def test_selection_json_holds_all_about_the_run(fedsieve, tables):
    assert fedsieve(*tables.select("--lam", 0.9, "--wire", "vectors")).code == 0
    record = read(tables["result"])
    model = library(tables, lam=0.9, wire="vectors")
    assert record["transcript"] == [entry._asdict() for entry in model.transcript_]
    assert set(record["transcript"][0]) == {"round", "sender", "receiver", "kind", "n_bytes"}
    assert {entry["sender"] for entry in record["transcript"]} == {"server", "siteA", "siteB"}
    assert record["parameters"]["lam"] == 0.9
    assert record["parameters"]["wire"] == "vectors"
    assert record["parameters"]["n_features_to_select"] == len(record["selected"]) == 2  # 40 % of six
    assert record["versions"]["fedsieve"] == package.__version__
    assert record["versions"]["numpy"] == np.__version__
    assert record["versions"]["python"] == platform.python_version()
    assert "seed" not in record  # nothing was drawn
    assert sorted(record["labels"]) == list(tables.labels)
    assert record["n_rows"] == {"siteA": 12, "siteB": 9}


def test_ranking_csv_says_the_same(fedsieve, tables):
    fedsieve(*tables.select("-k", 3))
    record = read(tables["result"])
    with tables["result"].joinpath("ranking.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["feature"] for row in rows] == record["order"]
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(1, 7)]
    assert [row["selected"] for row in rows] == ["1", "1", "1", "0", "0", "0"]
    for row in rows:
        assert float(row["score"]) == record["scores"][row["feature"]]
        assert float(row["relevance"]) == record["relevance"][row["feature"]]
        assert float(row["radius"]) == record["radius"][row["feature"]]


def test_names_with_brackets_are_shown_whole(fedsieve, tables):
    assert "weight [kg]" in fedsieve(*tables.select("-k", 6)).out


def test_long_lines_are_not_broken_in_a_pipe(fedsieve, tables):
    out = "result" + "-long" * 30
    assert f"the result is in {tables[out]}." in fedsieve(*tables.select(out=out)).out


@pytest.mark.parametrize("labels", ["label_c, label_a ,label_b", "prefix:label_", "labels.xml"])
def test_labels_by_list_prefix_or_xml_give_the_same(fedsieve, tables, labels):
    tables["labels.xml"].write_text(
        '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels"><label name="label_c">'
        '<label name="label_a"></label></label><label name="label_b"></label></labels>'
    )
    spec = str(tables[labels]) if labels.endswith(".xml") else labels
    result = fedsieve(*tables.select("--labels", spec))
    assert result.code == 0, result.err
    assert_same(read(tables["result"]), library(tables))


def test_one_label_is_read_as_two_classes_as_in_the_library(fedsieve, tables):
    tables.save("server.csv", tables.server.drop(columns=["label_b", "label_c"]))
    result = fedsieve(*tables.select("--labels", "label_a"))
    assert result.code == 0, result.err
    clients = {name: tables.clients[name] for name in ("siteA", "siteB")}
    assert_same(read(tables["result"]), SSFMLFS().fit(tables.X, tables.server["label_a"], clients=clients))


def test_clients_can_be_named(fedsieve, tables):
    clients = (f"north={tables['siteA.csv']}", f"south={tables['siteB.parquet']}")
    assert fedsieve(*tables.select(clients=clients)).code == 0
    assert set(read(tables["result"])["n_rows"]) == {"north", "south"}


def test_a_file_with_an_equals_sign_in_its_path_is_a_file(fedsieve, tables):
    (tables.folder / "year=2020").mkdir()
    file = tables.save("year=2020/siteA.csv", tables.clients["siteA"])
    assert fedsieve(*tables.select(clients=(str(file), str(tables["siteB.parquet"])))).code == 0
    assert set(read(tables["result"])["n_rows"]) == {"siteA", "siteB"}


def test_shared_works_with_the_features_that_all_have(fedsieve, tables):
    tables.save("server.csv", tables.server.assign(only_here=1.5))
    tables.save("siteA.csv", tables.clients["siteA"].assign(patient="x"))
    tables.save("siteB.parquet", tables.clients["siteB"].drop(columns="dose"))
    result = fedsieve(*tables.select("--shared"))
    assert result.code == 0, result.err
    clients = {name: tables.clients[name].drop(columns="dose") for name in ("siteA", "siteB")}
    assert_same(read(tables["result"]), SSFMLFS().fit(tables.X.drop(columns="dose"), tables.Y, clients=clients))


def test_all_wire_forms_give_the_same_order(fedsieve, tables):
    records = {}
    for wire in ("matrices", "statistics", "vectors"):
        assert fedsieve(*tables.select("--wire", wire, out=wire)).code == 0
        records[wire] = read(tables[wire])
        assert records[wire]["parameters"]["wire"] == wire
    orders = [record["order"] for record in records.values()]
    assert orders[0] == orders[1] == orders[2]
    kinds = [frozenset(entry["kind"] for entry in record["transcript"]) for record in records.values()]
    assert len(set(kinds)) == 3


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--nominal", "code"], {"nominal": ["code"]}),
        (["--ranges", "local"], {"ranges": "local"}),
        (["--relation", "similarity"], {"relation": "similarity"}),
        (["--irrelevant", "nonnegative"], {"irrelevant": "nonnegative"}),
        (["--decisions", "soft"], {"decisions": "soft"}),
        (["--spread", "mean"], {"spread": "mean"}),
        (["--neighbors", "6"], {"n_neighbors": 6}),
        (["--damping", "0.5"], {"damping": 0.5}),
        (["--lam", "2"], {"lam": 2.0}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_every_option_reaches_the_method(fedsieve, tables, options, parameters):
    result = fedsieve(
        *tables.select("--lam", 0.4, *options)
    )  # wide radii, else no two rows are related in all features
    assert result.code == 0, result.err
    model, plain = library(tables, **{"lam": 0.4, **parameters}), library(tables, lam=0.4)
    assert_same(read(tables["result"]), model)
    assert np.abs(model.scores_ - plain.scores_).max() > 1e-6  # so that ignoring the option would show
