"""A selection on disk: all of the run in it, whole or not there."""

import csv
import errno
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from fedsieve.errors import DataError
from fedsieve.methods import SieveMethod, SSFMLFSMethod
from fedsieve.protocol import Labeled
from fedsieve.selection_file import pairs_record, read_selection, refuse_to_overwrite, selection_record, write_selection
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.exchange import Outcome

FEATURES = ("a", "größe, cm", "c", "d")


@pytest.fixture
def plan() -> SSFMLFSMethod:
    ranges = dict.fromkeys(FEATURES, (0.1, 0.9))
    return SSFMLFSMethod(FEATURES, n_features_to_select=3, wire="vectors", nominal=("d",), ranges=ranges)


@pytest.fixture
def outcome(plan, rng) -> Outcome:
    sites = {name: ArrayTable(FEATURES, rng.random((6, 4))) for name in ("left", "right")}
    return in_process.select(plan, Labeled(rng.random((8, 4)), rng.integers(0, 2, (8, 3)).astype(float)), sites)


@pytest.fixture
def record(plan, outcome) -> dict:
    return selection_record(plan, outcome, ["x", "y", "z"], seed=11)


def test_the_record_tells_the_outcome_by_name(record, outcome):
    found = outcome.selection
    assert record["order"] == [FEATURES[i] for i in found.order]
    assert record["selected"] == record["order"][:3]
    assert [record["scores"][name] for name in FEATURES] == found.scores.tolist()
    assert [record["relevance"][name] for name in FEATURES] == found.relevance.tolist()
    assert [record["radius"][name] for name in FEATURES] == found.radius.tolist()
    assert record["seed"] == 11
    assert record["labels"] == ["x", "y", "z"]
    assert record["n_rows"] == {"left": 6, "right": 6}
    assert len(record["transcript"]) == len(outcome.transcript)
    assert sum(entry["n_bytes"] for entry in record["transcript"]) == sum(entry.n_bytes for entry in outcome.transcript)


def test_pairs_are_those_of_the_chosen_features_below_the_diagonal(plan, outcome, rng):
    chosen = [FEATURES[i] for i in outcome.selection.order[:3]]
    assert pairs_record(plan, outcome.selection) is None  # nobody holds the distances under "vectors"
    distance = np.round(rng.random((3, 3)), 6)
    found = replace(outcome.selection, selected_distance=distance)
    wanted = [[round(distance[1, 0], 3)], [round(distance[2, 0], 3), round(distance[2, 1], 3)]]
    assert pairs_record(plan, found) == {"measure": "distance", "features": chosen, "values": wanted}
    json.dumps(pairs_record(plan, found), allow_nan=False)


def test_the_parameters_of_the_record_make_the_same_plan(record, plan):
    parameters = record["parameters"]
    again = SSFMLFSMethod(FEATURES, **{**parameters, "nominal": tuple(parameters["nominal"])})
    for name in ("lam", "wire_form", "k", "nominal", "missing", "min_clients", "tol"):
        assert getattr(again, name) == getattr(plan, name), name
    assert again.declared_scaling.low.tolist() == plan.declared_scaling.low.tolist()


def test_the_record_survives_the_disk(record, tmp_path):
    write_selection(record, tmp_path / "new" / "folder")
    path = tmp_path / "new" / "folder" / "selection.json"
    assert read_selection(path) == json.loads(json.dumps(record))
    assert path.read_bytes().endswith(b"}\n")


def test_what_is_not_known_of_a_feature_is_null_and_not_nan(tmp_path, rng):
    method = SieveMethod(FEATURES, n_bootstraps=0, n_trees=3)  # without bootstraps nobody knows how stable it is
    sites = {name: ArrayTable(FEATURES, rng.random((6, 4))) for name in ("left", "right")}
    found = in_process.select(method, Labeled(rng.random((8, 4)), np.eye(8, 3)), sites)
    write_selection(selection_record(method, found, ["x", "y", "z"]), tmp_path)
    record = read_selection(tmp_path / "selection.json")
    assert record["stability"] == dict.fromkeys(FEATURES)
    assert None not in record["scores"].values()


def test_the_ranking_is_a_table_for_people(record, tmp_path):
    write_selection(record, tmp_path)
    with (tmp_path / "ranking.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["rank", "feature", "score", "relevance", "radius", "selected"]
    assert [row["feature"] for row in rows] == record["order"]  # the name with a comma too
    assert [float(row["score"]) for row in rows] == [record["scores"][name] for name in record["order"]]
    assert [row["selected"] for row in rows] == ["1", "1", "1", "0"]


def test_reasons_are_in_both_files(tmp_path, rng):
    method = SieveMethod(FEATURES, n_features_to_select=2, n_bootstraps=3, n_trees=5)
    sites = {name: ArrayTable(FEATURES, rng.random((6, 4))) for name in ("left", "right")}
    Y = np.column_stack([rng.integers(0, 2, (8, 2)), np.ones(8)]).astype(float)
    Y[:2, :2] = np.eye(2)
    found = in_process.select(method, Labeled(rng.random((8, 4)), Y), sites)
    record = selection_record(method, found, ["x", "y", "all rows"])
    write_selection(record, tmp_path)
    assert record["per_label"]["all rows"] == dict.fromkeys(FEATURES)
    assert [record["per_label"]["y"][name] for name in FEATURES] == np.round(found.selection.per_label[1], 4).tolist()
    with (tmp_path / "ranking.csv").open(newline="", encoding="utf-8") as stream:
        rows = {row["feature"]: row for row in csv.DictReader(stream)}
    assert list(rows["a"])[-3:] == ["selected", "labels", "why"]
    for name, row in rows.items():
        assert row["why"] == record["why"][name]
        told = sorted(((record["per_label"][label][name], label) for label in ("x", "y")), reverse=True)
        assert row["labels"] == "; ".join(f"{label} {strength:.2f}" for strength, label in told)
        assert float(row["chance"]) == record["chance"][name]


def test_one_label_that_is_told_as_two_classes_has_one_name(rng):
    method = SieveMethod(FEATURES, n_bootstraps=0, n_trees=5)
    sites = {name: ArrayTable(FEATURES, rng.random((6, 4))) for name in ("left", "right")}
    y = np.arange(8) % 2
    found = in_process.select(method, Labeled(rng.random((8, 4)), np.column_stack([1 - y, y]).astype(float)), sites)
    record = selection_record(method, found, ["sick"])
    assert list(record["per_label"]) == ["sick"]
    assert all("most for 'sick'" in why or "chance" in why for why in record["why"].values())


@pytest.fixture
def old(record, tmp_path) -> dict[str, bytes]:
    write_selection({**record, "seed": 1, "selected": record["selected"][:1]}, tmp_path)
    return contents(tmp_path)


def contents(folder) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_record_that_is_no_json_leaves_the_old_result(record, tmp_path, old):
    with pytest.raises(ValueError, match="JSON"):
        write_selection({**record, "residual": np.nan}, tmp_path)
    with pytest.raises(TypeError):
        write_selection({**record, "residual": object()}, tmp_path)
    assert contents(tmp_path) == old


@pytest.mark.parametrize("failing", ["ranking", "replace"])
def test_a_failure_while_writing_leaves_the_old_result(record, tmp_path, old, monkeypatch, failing):
    def half(*arguments: object) -> None:
        arguments[0].write("rank,fea") if failing == "ranking" else None
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(*((csv, "writer") if failing == "ranking" else (os, "replace")), half)
    with pytest.raises(DataError, match=r"ranking\.csv: cannot be written: No space left on device\."):
        write_selection(record, tmp_path)
    assert contents(tmp_path) == old


def test_a_failure_at_the_second_file_leaves_no_first(record, tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("pathlib.Path.write_text", fail)  # ranking.csv is written through a stream
    with pytest.raises(DataError, match=r"selection\.json: cannot be written: Input/output error\."):
        write_selection(record, tmp_path)
    assert contents(tmp_path) == {}


def test_a_folder_that_cannot_be_made_is_named(record, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file/result: cannot be made: Not a directory"):
        write_selection(record, tmp_path / "file" / "result")


def test_an_old_result_is_not_in_the_way_of_another_folder(record, tmp_path):
    write_selection(record, tmp_path)
    refuse_to_overwrite(tmp_path / "other")
    with pytest.raises(DataError, match=r"selection\.json exists already\. Choose another --out, or give --force"):
        refuse_to_overwrite(tmp_path)
    (tmp_path / "selection.json").unlink()
    with pytest.raises(DataError, match=r"ranking\.csv exists already"):
        refuse_to_overwrite(tmp_path)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"{", b"3", b'{"format": "other/1", "selected": [], "order": []}'])
def test_what_is_no_selection_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.json: is no (valid JSON|selection of format)"):
        read_selection(tmp_path / "x.json")


def test_a_selection_by_secure_sums_knows_no_rows_of_single_sites(record, tmp_path):
    secure = {**record, "parameters": {**record["parameters"], "secure": True}}
    path = tmp_path / "selection.json"
    write_selection({**secure, "n_rows": None}, tmp_path)
    assert read_selection(path, whole=True)["n_rows"] is None
    write_selection({**secure, "n_rows": {"siteA": 7}}, tmp_path)
    with pytest.raises(DataError, match=r"lacks parts of a selection"):
        read_selection(path, whole=True)


@pytest.mark.parametrize("key", ["method", "columns", "dropped", "n_rows", "transcript", "scores"])
@pytest.mark.parametrize("value", [None, 7, [7], {"a": 7}, "a"])
def test_a_selection_that_lacks_parts_is_refused_where_it_is_shown(record, tmp_path, key, value):
    write_selection(record, tmp_path)
    path = tmp_path / "selection.json"
    assert read_selection(path, whole=True) == read_selection(path)
    if isinstance(record[key], type(value)) and key in ("method", "dropped", "n_rows"):
        return  # another text or table of these breaks nothing
    path.write_text(json.dumps({**record, key: value}))
    with pytest.raises(DataError, match=r"selection\.json: lacks parts of a selection; it is damaged\."):
        read_selection(path, whole=True)
