"""Files that are not quite alike: labels that nobody knows, and columns that only some have."""

import json

import numpy as np
import pandas as pd
import pytest

from fedsieve import SSFMLFS, Sieve
from fedsieve.cli.agreed_tables import read_labeled
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import DataError

UNKNOWN = {"label_b": [4, 5, 11], "label_c": [0]}
SAID = "empty cells are unknown labels: 3 in 'label_b', 1 in 'label_c'. Each label is learned from the rows that"


@pytest.fixture
def gaps(tables) -> pd.DataFrame:
    server = tables.server.astype(dict.fromkeys(tables.labels, float))
    for name, rows in UNKNOWN.items():
        server.loc[server.index[rows], name] = np.nan
    tables.save("server.csv", server)
    return server


def read(folder):
    return json.loads((folder / "selection.json").read_text())


@pytest.mark.parametrize("selector", [Sieve, SSFMLFS])
def test_select_finds_what_fit_finds_with_unknown_labels(fedsieve, tables, gaps, selector):
    result = fedsieve(*tables.select(method=selector.__name__.lower()))
    assert result.code == 0, result.err
    assert f"{tables['server.csv']}: {SAID}" in result.out.replace("\n", " ").replace("  ", " ")
    clients = {name: tables.clients[name] for name in ("siteA", "siteB")}
    how = {"random_state": 0} if selector is Sieve else {}
    fitted = selector(**how).fit(tables.X, gaps[list(tables.labels)].to_numpy(), clients=clients)
    names = fitted.feature_names_in_
    scores = read(tables["result"])["scores"]
    np.testing.assert_allclose([scores[name] for name in names], fitted.scores_, rtol=1e-12)


@pytest.mark.usefixtures("gaps")
def test_a_result_with_unknown_labels_is_ranked_again(fedsieve, tables):
    assert fedsieve(*tables.select("-k", 2, method="sieve")).code == 0
    result = fedsieve("rerank", tables["result"], "-k", 4, "--labeled", tables["server.csv"])
    assert result.code == 0, result.err
    assert read(tables["result"] / "k4")["order"] == read(tables["result"])["order"]


def agreement(tables, method):
    return parse_agreement(
        agreement_text("f", "h:1", ["a", "b"], list(tables.features), list(tables.labels), method=method)
    )


def test_the_operator_s_file_may_have_them(fedsieve, tables, gaps):
    labeled = read_labeled(tables["server.csv"], agreement(tables, "Sieve"))
    np.testing.assert_array_equal(labeled.Y, gaps[list(tables.labels)])
    schema = ("--schema", tables["server.csv"], "--labels", "prefix:label_", "--sites", "siteA,siteB,siteC")
    assert fedsieve("federation", "init", "--out", tables["fed"], *schema).code == 0


@pytest.mark.usefixtures("gaps")
def test_a_method_that_takes_none_names_those_that_do(fedsieve, tables):
    said = (
        f"{tables['server.csv']}: label 'label_b' must be 0 or 1; got a missing value in data row 5 and in 2 others. "
        "Fill it in, or leave these rows out; unknown labels are for Sieve and SSFMLFS."
    )
    with pytest.raises(DataError) as refused:
        read_labeled(tables["server.csv"], agreement(tables, "FMLFS"))
    assert str(refused.value) == said
    schema = ("--schema", tables["server.csv"], "--labels", "prefix:label_", "--sites", "siteA,siteB,siteC")
    assert fedsieve("federation", "init", "--out", tables["fed"], *schema, "--method", "FMLFS").message == said


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"label_b": np.nan}, "no row has the label 'label_b'. Leave it out of --labels."),
        (
            {name: [1.0, 0, np.nan, np.nan] + [0.0] * 14 for name in ("label_a", "label_b", "label_c")},
            "2 rows without any label, first data row 3. Leave such rows out here; a site's file can have them.",
        ),
    ],
)
def test_nothing_known_of_a_label_or_a_row_is_refused(fedsieve, tables, labels, said):
    tables.save("server.csv", tables.server.assign(**labels))
    assert fedsieve(*tables.select()).message == f"{tables['server.csv']}: {said}"


def test_another_number_is_no_unknown_label(fedsieve, tables, gaps):
    gaps.loc[gaps.index[2], "label_c"] = 7
    tables.save("server.csv", gaps)
    message = fedsieve(*tables.select()).message
    assert message.endswith("label 'label_c' must be 0 or 1; got another number in data row 3.")


def test_a_feature_is_held_against_a_label_where_the_label_is_known(fedsieve, tables, gaps):
    tables.save("server.csv", gaps.assign(code=tables.server["label_b"], noise=tables.server["label_a"]))
    warned = fedsieve(*tables.select()).err
    assert "feature 'code' is identical to label 'label_b'" in warned
    assert "feature 'noise' is identical to label 'label_a'" in warned
    assert warned.count("is identical") == 2


def test_audit_asks_for_rows_whose_labels_are_all_known(fedsieve, tables, gaps):
    said = "labels are unknown. Fill them in, or leave these rows out: attacks read whole rows."
    file = ("--table", tables["server.csv"], "--labels", "prefix:label_", "--sites", 2)
    assert fedsieve("audit", *file).message == f"{tables['server.csv']}: {said}"
    schema = ("--schema", tables["server.csv"], "--labels", "prefix:label_", "--sites", "siteA,siteB,siteC")
    assert fedsieve("federation", "init", "--out", tables["fed"], *schema).code == 0
    ServerFolder(tables["fed"]).write_labeled(tables.X.to_numpy(), gaps[list(tables.labels)].to_numpy())
    assert fedsieve("audit", tables["fed"]).message == f"{tables['fed']}: {said}"


def test_more_columns_at_a_client_are_noted_and_unused(fedsieve, tables):
    assert fedsieve(*tables.select()).code == 0
    tables.save("siteA.csv", tables.clients["siteA"].assign(height=1.5, label_a=1))
    result = fedsieve(*tables.select(out="twin"))
    assert result.code == 0, result.err
    said = f"{tables['siteA.csv']}: 2 columns not among the labeled rows' features, unused: 'height', 'label_a'"
    assert said in " ".join(result.out.split())
    assert read(tables["twin"])["scores"] == read(tables["result"])["scores"]


def test_shared_names_what_it_leaves_out(fedsieve, tables):
    tables.save("siteA.csv", tables.clients["siteA"].drop(columns="dose"))
    tables.save("siteB.parquet", tables.clients["siteB"].drop(columns="age"))
    result = fedsieve(*tables.select("--shared"))
    assert result.code == 0, result.err
    assert "Warning: --shared: not all files have 'age', 'dose'; left out." in result.err
    assert "--shared" not in fedsieve(*tables.select("--shared", out="x", clients=whole(tables))).err


def whole(tables) -> tuple[str, ...]:
    return str(tables.save("a.csv", tables.clients["siteA"])), str(tables["siteC.csv"])


def test_a_column_that_only_a_client_has_can_be_dropped(fedsieve, tables):
    tables.save("siteA.csv", tables.clients["siteA"].assign(**{"height, cm": 1.5}))
    result = fedsieve(*tables.select("--drop", "height, cm,noise"))
    assert result.code == 0, result.err
    assert "unused" not in result.out
    assert set(read(tables["result"])["order"]) == {*tables.features} - {"noise"}
    assert "has no column 'height' to drop" in fedsieve(*tables.select("--drop", "height", out="x")).message
