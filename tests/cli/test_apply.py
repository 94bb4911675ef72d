"""`fedsieve apply`: tables reduced to the selected features."""

import json

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

ORDER = ["pulse", "age", "noise", "weight [kg]", "dose", "code"]


@pytest.fixture
def selection(tables):
    path = tables["selection.json"]
    path.write_text(json.dumps({"format": "fedsieve-selection/1", "order": ORDER, "selected": ORDER[:3]}))
    return path


def test_the_columns_come_in_the_order_of_the_selection(fedsieve, tables, selection):
    result = fedsieve("apply", "--selection", selection, tables["siteA.csv"], "--out", tables["reduced.csv"])
    assert result.code == 0, result.err
    expected = tables.clients["siteA"][["pulse", "age", "noise"]].reset_index(drop=True)
    assert_frame_equal(pd.read_csv(tables["reduced.csv"]), expected, check_dtype=False)
    assert result.out == f"{tables['reduced.csv']}: 12 rows, 3 of 6 columns.\n"


def test_a_folder_stands_for_the_selection_in_it(fedsieve, tables, selection):
    for given in (selection, selection.parent):
        result = fedsieve("apply", "--selection", given, tables["siteA.csv"], "--out", tables["reduced.csv"], "--force")
        assert result.code == 0, result.err
        assert list(pd.read_csv(tables["reduced.csv"])) == ORDER[:3]
    tables["empty"].mkdir()
    missing = fedsieve("apply", "--selection", tables["empty"], tables["siteA.csv"])
    assert missing.code == 2
    assert "selection.json" in missing.message


def test_parquet_and_csv_can_be_turned_into_each_other(fedsieve, tables, selection):
    fedsieve("apply", "--selection", selection, tables["siteB.parquet"], "--out", tables["b.csv"])
    fedsieve("apply", "--selection", selection, tables["siteB.parquet"], "--out", tables["b.parquet"])
    expected = tables.clients["siteB"][["pulse", "age", "noise"]].reset_index(drop=True)
    assert_frame_equal(pd.read_csv(tables["b.csv"]), expected, check_dtype=False)
    assert_frame_equal(pd.read_parquet(tables["b.parquet"]), expected)


@pytest.mark.parametrize(
    ("source", "target"), [("siteA.csv", "siteA-selected.csv"), ("siteB.parquet", "siteB-selected.parquet")]
)
def test_without_out_the_result_lies_beside_the_table(fedsieve, tables, selection, source, target):
    before = tables[source].read_bytes()
    assert fedsieve("apply", "--selection", selection, tables[source]).code == 0
    assert tables[target].is_file()
    assert tables[source].read_bytes() == before


def test_k_takes_the_best_of_the_order(fedsieve, tables, selection):
    for k, n_taken in ((1, 1), (5, 5), (0.5, 3), (0.1, 1)):
        out = tables[f"k{k}.csv"]
        assert fedsieve("apply", "--selection", selection, tables["siteA.csv"], "-k", k, "--out", out).code == 0
        assert list(pd.read_csv(out)) == ORDER[:n_taken]


@pytest.mark.parametrize("k", [0, 7])
def test_k_must_be_within_the_order(fedsieve, tables, selection, k):
    result = fedsieve("apply", "--selection", selection, tables["siteA.csv"], "-k", k)
    assert result.code == 2
    assert (
        result.message == f"-k must be a whole number in [1, ranked features=6], or a share between 0 and 1; got {k}."
    )
    assert not tables["siteA-selected.csv"].exists()


def test_further_columns_can_be_kept(fedsieve, tables, selection):
    out = tables["kept.csv"]
    result = fedsieve(
        "apply", "--selection", selection, tables["server.csv"], "--keep", "label_b, label_a,age", "--out", out
    )
    assert result.code == 0, result.err
    assert list(pd.read_csv(out)) == ["label_b", "label_a", "age", "pulse", "noise"]  # each once


def test_columns_that_are_no_numbers_can_be_kept(fedsieve, tables, selection):
    tables.save("named.csv", tables.clients["siteA"].assign(patient=[f"p, {i}" for i in range(12)]))
    fedsieve("apply", "--selection", selection, tables["named.csv"], "--keep", "patient", "--out", tables["kept.csv"])
    assert pd.read_csv(tables["kept.csv"])["patient"].tolist() == [f"p, {i}" for i in range(12)]


def test_an_existing_file_is_replaced_on_demand_only(fedsieve, tables, selection):
    out = tables["mine.csv"]
    out.write_text("mine")
    arguments = ("apply", "--selection", selection, tables["siteA.csv"], "--out", out)
    result = fedsieve(*arguments)
    assert result.code == 2
    assert result.message == f"{out} exists already. Choose another --out, or give --force to replace it."
    assert out.read_text() == "mine"
    assert fedsieve(*arguments, "--force").code == 0
    assert list(pd.read_csv(out)) == ORDER[:3]


def test_a_table_can_be_reduced_in_place(fedsieve, tables, selection):
    file = tables["siteB.parquet"]
    assert fedsieve("apply", "--selection", selection, file, "--out", file, "--force").code == 0
    assert list(pd.read_parquet(file)) == ORDER[:3]


def test_absent_columns_are_named(fedsieve, tables, selection):
    tables.save("poor.csv", tables.clients["siteA"].drop(columns=["age", "noise"]))
    result = fedsieve("apply", "--selection", selection, tables["poor.csv"], "--keep", "id")
    assert result.code == 2
    assert result.message.startswith(f"{tables['poor.csv']}: has no column 'id', 'age', 'noise'.")
    assert not tables["poor-selected.csv"].exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rank,feature\n1,age\n", "is no valid JSON"),
        ("[]", "is no selection of format 'fedsieve-selection/1'"),
        ('{"selected": ["age"]}', "is no selection of format"),
        ('{"format": "fedsieve-selection/9", "selected": [], "order": []}', "is no selection of format"),
        ('{"format": "fedsieve-selection/1", "selected": ["age"]}', "is no selection of format"),
        ('{"format": "fedsieve-selection/1", "selected": [1], "order": [1]}', "is no selection of format"),
    ],
)
def test_a_file_that_is_no_selection(fedsieve, tables, text, says):
    tables["other.json"].write_text(text)
    result = fedsieve("apply", "--selection", tables["other.json"], tables["siteA.csv"])
    assert result.code == 2
    assert result.message.startswith(f"{tables['other.json']}: {says}")


def test_files_that_are_not_there(fedsieve, tables, selection):
    result = fedsieve("apply", "--selection", tables["no.json"], tables["siteA.csv"])
    assert (result.code, result.message) == (2, f"{tables['no.json']}: cannot be read: No such file or directory.")
    result = fedsieve("apply", "--selection", selection, tables["no.csv"])
    assert (result.code, result.message) == (2, f"{tables['no.csv']}: no such file.")
    result = fedsieve("apply", "--selection", selection, tables["siteA.csv"], "--out", tables["no/x.csv"])
    assert result.code == 2
    assert result.message == f"{tables['no/x.csv']}: cannot be written: there is no folder '{tables['no']}'."


def test_an_output_of_unknown_kind(fedsieve, tables, selection):
    result = fedsieve("apply", "--selection", selection, tables["siteA.csv"], "--out", tables["x.feather"])
    assert result.code == 2
    assert "'.parquet', '.xlsx'; got '.feather'." in result.message
    assert not tables["x.feather"].exists()


def test_it_takes_what_select_wrote(fedsieve, tables):
    assert fedsieve(*tables.select("-k", 4)).code == 0
    selection = tables["result"] / "selection.json"
    assert fedsieve("apply", "--selection", selection, tables["siteC.csv"]).code == 0
    assert list(pd.read_csv(tables["siteC-selected.csv"])) == json.loads(selection.read_text())["selected"]
