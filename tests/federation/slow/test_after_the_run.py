"""To the end of the paper's road between real processes, on Yeast: init, join, run, collect, evaluate, label.

One deployment for all tests of this file, in their order. What comes out is what the same steps give in one process,
also where site, server and command are killed on the way.
"""

import csv
import json
import os
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from federation import consortium as processes
from federation.consortium import Consortium
from federation.processes import kill_marked, wait_until
from fedsieve import Sieve, communication_cost, datasets, evaluate, partition
from fedsieve.datasets.fetch import MIRROR, locate
from fedsieve.deployment.what_left import WhatLeft
from fedsieve.errors import DataError
from fedsieve.learning.label_models import label_model
from fedsieve.methods import SieveMethod
from fedsieve.methods.labeling import Labeling
from fedsieve.privacy import SITE, GuardedTable, held_back
from fedsieve.protocol import Labeled
from fedsieve.report.assessment_files import assessment_record
from fedsieve.selection_file import selection_record
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.labeling import ScoredRows, metrics_of
from policies import write_rules

pytestmark = pytest.mark.federation
PATIENCE = 600  # seconds for each command: what is tested here is not how fast they are
SITES = ("siteA", "siteB", "siteC")
OPTIONS = ("--ranges", "robust", "--min-rows", 50, "--min-clients", 3, "-k", 31, "--after", "collect,label")
SMALL = {"max_message_bytes = 512000000": "max_message_bytes = 100000"}  # so that rows come in several chunks
CHUNK = 50_000 // (31 * 8)  # rows, of half a message
RULES = {"siteA": True, "siteB": True, "siteC": False}  # whether rows may leave at all


@pytest.fixture(scope="module")
def yeast():
    """The server has a fifth of the rows; of the sites, A knows all labels, B those of half its rows, C none."""
    try:
        data = datasets.load("yeast")
    except DataError as error:
        if os.environ.get(MIRROR) or None not in locate("yeast").values():  # it should be there, or is and is wrong
            raise
        pytest.skip(f"no Yeast here: {error}")
    labeled, others = partition.labeled_split(data.Y, 0.2, 0)
    parts = dict(zip(SITES, partition.iid(data.Y[others], 3, 0), strict=True))
    X = pd.DataFrame(np.asarray(data.X), columns=data.feature_names)
    Y = pd.DataFrame(data.Y, columns=[f"label_{name}" for name in data.label_names])
    known = {name: Y.iloc[others[part]].astype(float).reset_index(drop=True) for name, part in parts.items()}
    known["siteB"].iloc[::2] = np.nan
    rows = {name: X.iloc[others[part]].reset_index(drop=True) for name, part in parts.items()}
    return pd.concat([X, Y], axis=1).iloc[labeled].reset_index(drop=True), rows, known, list(Y.columns)


class Patient(Consortium):
    """Waits for its commands on a busy machine, too."""

    def call(self, verb, *arguments, code=0, seconds=PATIENCE):
        return super().call(verb, *arguments, code=code, seconds=seconds)


@pytest.fixture(scope="module")
def _patience():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "START_SECONDS", PATIENCE)
        yield


@pytest.fixture(scope="module")
def consortium(tmp_path_factory, yeast, _patience):
    server, rows, known, _ = yeast
    made = Patient(tmp_path_factory.mktemp("after"), ",".join(SITES))

    class Written:
        @staticmethod
        def write(folder):
            server.to_csv(folder / "server.csv", index=False)
            for name in SITES:
                table = rows[name] if name == "siteC" else pd.concat([rows[name], known[name]], axis=1)
                table.to_csv(folder / f"{name}.csv", index=False)

    made.tables = Written
    with made.init("--method", "sieve", *OPTIONS, changes=SMALL):
        for name, may_leave in RULES.items():
            write_rules(made.site(name), replace(SITE, rows_may_leave=may_leave))
        made.serve()
        made.join_all()
        yield made


@pytest.fixture(scope="module")
def record(consortium):
    return consortium.run("--distances", "siteA=1,siteB=2,siteC=3").result(PATIENCE)


def seen(rows, known):
    """A site's table as its rules show it to any request."""
    held = held_back(ArrayTable(tuple(rows), rows.to_numpy()), (), SITE.min_cell)
    return GuardedTable(ArrayTable(tuple(rows), rows.to_numpy(), tuple(known), known.to_numpy()), held)


def collect(consortium, out="rows", code=0):
    return consortium.call("collect", consortium.fed, "--out", consortium.folder / out, code=code)


def chunks_of(consortium, name):
    """How many rows left in each message with rows, by the site's own record."""
    lines = WhatLeft(consortium.site(name)).chain.entries()
    return [line["rows"] for line in lines if line["reply"] == "RowsChunk"]


def test_the_run_selects_what_it_selects_in_one_process(consortium, record, yeast):
    server, rows, _, labels = yeast
    labeled = Labeled(server[list(rows["siteA"])].to_numpy(), server[labels].to_numpy(float))
    sites = {name: ArrayTable(tuple(table), np.ascontiguousarray(table.to_numpy())) for name, table in rows.items()}
    outcome = in_process.select(consortium.plan, labeled, sites, policy=SITE)
    expected = json.loads(json.dumps(selection_record(consortium.plan, outcome, labels)))
    for key in ("selected", "order", "n_rows", "transcript"):
        assert record[key] == expected[key], key
    far = {"siteA": 1, "siteB": 2, "siteC": 3}
    cost = communication_cost(expected["n_rows"], 103, 31, distances=far, messages=expected["transcript"])
    told = record["communication"]
    assert (told["before_bits"], told["after_bits"]) == (cost.before, cost.after)
    assert (told["selection_bits"], told["in_all_bits"]) == (cost.selection, cost.in_all)
    assert told["distances"] == far


def test_rows_leave_for_a_second_consent_only_and_one_chunk_after_the_other(consortium, record):
    refused = collect(consortium, code=2).text
    assert "nobody consented that rows of run" in " ".join(refused.split())
    said = consortium.call("approve-rows", consortium.site("siteA"), "--yes", "--by", "steward").text
    assert record["selected"][0] in said
    never = consortium.call("approve-rows", consortium.site("siteC"), "--yes", code=2).text
    assert "rows_may_leave = false" in " ".join(never.split())
    assert record["federation"]["run"] in said


def test_each_file_has_the_rows_of_one_site_in_the_selected_columns(consortium, record, yeast):
    collect(consortium)
    _, rows, _, _ = yeast
    place = consortium.folder / "rows"
    assert sorted(path.name for path in place.iterdir()) == ["collected.json", "siteA.parquet"]
    frame = pd.read_parquet(place / "siteA.parquet")
    assert list(frame.columns) == record["selected"]
    assert_array_equal(frame.to_numpy(), rows["siteA"][record["selected"]].to_numpy())
    left = chunks_of(consortium, "siteA")
    assert left == [min(CHUNK, len(frame) - start) for start in range(0, len(frame), CHUNK)]
    others = [line for line in WhatLeft(consortium.site("siteC")).chain.entries() if "Rows" in line["reply"]]
    assert others == []
    said = " ".join(consortium.call("status", consortium.fed).text.split())
    assert f"done: {len(frame)} rows" in said


def test_a_site_and_a_server_that_were_killed_give_the_same_bytes(consortium, record, yeast):
    """The site dies before it answers, and consents no third time; server and command die between two chunks."""
    again, rows = consortium.folder / "again", yeast[1]["siteB"]
    consortium.call("approve-rows", consortium.site("siteB"), "--yes")
    consortium.kill_site("siteB")
    consortium.call("collect", consortium.fed, "--out", again, "--wait", 5)
    assert [path.name for path in again.glob("*.parquet")] == ["siteA.parquet"]
    consortium.join("siteB")
    shelf = consortium.fed / "server" / "after" / f"{record['federation']['run']}.collect" / "rows" / "siteB"
    consortium.fedsieve("collect", consortium.fed, "--out", again, party="server")
    wait_until(lambda: len(list(shelf.glob("0*"))) > 1, PATIENCE, "the first rows of siteB")
    kill_marked(consortium.mark("server"))
    assert not (again / "siteB.parquet").exists()
    came = {file.name: file.read_bytes() for file in shelf.glob("0*")}
    assert 1 < len(came) < 1 + -(-len(rows) // CHUNK)
    consortium.serve()
    collect(consortium, "again")
    assert (consortium.folder / "rows" / "siteA.parquet").read_bytes() == (again / "siteA.parquet").read_bytes()
    frame = pd.read_parquet(again / "siteB.parquet")
    assert list(frame.columns) == record["selected"]
    assert_array_equal(frame.to_numpy(), rows[record["selected"]].to_numpy())
    n_chunks = -(-len(rows) // CHUNK)
    assert n_chunks <= len(chunks_of(consortium, "siteB")) <= n_chunks + 1  # one may have been under way
    assert not list(consortium.folder.rglob("*.part"))
    assert not shelf.exists()


def test_the_rows_that_came_are_worth_what_they_are_worth_in_one_process(consortium, record, yeast):
    server, rows, _, labels = yeast
    files = [consortium.folder / "again" / f"{name}.parquet" for name in ("siteA", "siteB")]
    how = ["--shared", "-k", 10, "--set", "n_trees=5", "--set", "n_bootstraps=0", "--sizes", 10]
    judged = ["--classifier", "ML-kNN", "--folds", 2, "--repeats", 1, "--out", consortium.folder / "evaluation"]
    given = ["--labeled", consortium.folder / "server.csv", "--labels", "prefix:label_"]
    clients = [part for file in files for part in ("--client", file)]
    command = consortium.start("caller", [processes.FEDSIEVE, "evaluate", *given, *clients, *how, *judged])
    assert command.wait(PATIENCE) == 0, command.text
    told = json.loads((consortium.folder / "evaluation" / "evaluation.json").read_text(encoding="utf-8"))
    names = [name for name in server if name in record["selected"]]
    found = evaluate(
        Sieve(10, n_trees=5, n_bootstraps=0, random_state=0),
        server[names],
        server[labels],
        {name: rows[name][names] for name in ("siteA", "siteB")},
        sizes=[10],
        classifiers=["ML-kNN"],
        n_folds=2,
        n_repeats=1,
    )
    assert told["command"].startswith("fedsieve evaluate --labeled")
    assert {**json.loads(json.dumps(assessment_record(found))), "command": told["command"]} == told


def test_every_site_has_its_scores_and_the_server_the_metrics_of_all(consortium, record, yeast):
    server, rows, known, labels = yeast
    said = consortium.call(
        "label", consortium.fed, "--out", consortium.folder / "labels", "--yes", "--wait", 90, seconds=PATIENCE
    ).text
    assert "ML-kNN is made of your labeled rows" in " ".join(said.split())
    selected = record["selected"]
    model = label_model("mlknn", server[selected].to_numpy(), server[labels].to_numpy(float), np.zeros(31, dtype=bool))
    scores = {name: model.scores(table[selected].to_numpy()) for name, table in rows.items()}
    for name in SITES:
        file = consortium.site(name) / "results" / record["federation"]["run"] / "scores.csv"
        with file.open(encoding="utf-8") as stream:
            assert_array_equal(np.array(list(csv.reader(stream))[1:], dtype=float)[:, 1:], scores[name])
    found = json.loads((consortium.folder / "labels" / "labels.json").read_text(encoding="utf-8"))
    assert found["rows"] == sum(map(len, rows.values()))
    assert found["not_counted"] == {}
    counting = Labeling.after(SieveMethod(tuple(rows["siteA"])), selected, labels, model=model, least=SITE.min_cell)
    counts = reduce(add, (counting.counting().answer(seen(rows[name], known[name])) for name in ("siteA", "siteB")))
    told = metrics_of(ScoredRows(found["rows"], counts, {}, {}))
    assert json.loads(json.dumps(told)) == found["metrics"]
    low, high = found["metrics"]["ranked"][0]
    print(f"average precision of all rows whose labels are known: between {low:.4f} and {high:.4f}")
    left = [line for line in WhatLeft(consortium.site("siteC")).chain.entries() if line["reply"] == "ScoreCounts"]
    assert len(left) == 1
