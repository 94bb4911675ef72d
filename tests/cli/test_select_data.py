"""`fedsieve select` on data with gaps, declared ranges, a bad client or a leak: goes on, and says so."""

import json

import numpy as np
import pandas as pd
import pytest

from fedsieve import SSFMLFS


def order(tables, out="result") -> list[str]:
    return json.loads(tables[out].joinpath("selection.json").read_text())["order"]


def names_in_order(model: SSFMLFS) -> list[str]:
    return [str(model.feature_names_in_[i]) for i in model.order_]


def test_values_outside_declared_ranges_are_clipped_and_counted(fedsieve, tables):
    frames = {"server": tables.X, "siteA": tables.clients["siteA"], "siteB": tables.clients["siteB"]}
    everything = pd.concat([frame[list(tables.features)] for frame in frames.values()])
    ranges = {name: (float(everything[name].min()), float(everything[name].max())) for name in tables.features}
    ranges["age"] = (30.0, 60.0)
    table = pd.DataFrame(
        [(name, low, high) for name, (low, high) in ranges.items()], columns=["feature", "low", "high"]
    )
    result = fedsieve(*tables.select("--ranges", tables.save("ranges.csv", table)))
    assert result.code == 0, result.err
    for site, frame in frames.items():
        n_outside = int(((frame["age"] < 30) | (frame["age"] > 60)).sum())
        assert n_outside
        assert f"Warning: {site!r}: {n_outside} values outside the ranges, clipped." in result.err
    model = SSFMLFS(ranges=ranges).fit(tables.X, tables.Y, clients={n: tables.clients[n] for n in ("siteA", "siteB")})
    record = json.loads(tables["result"].joinpath("selection.json").read_text())
    assert record["order"] == names_in_order(model)
    assert record["parameters"]["ranges"] == {name: list(pair) for name, pair in ranges.items()}


def test_ranges_that_hold_all_values_clip_nothing(fedsieve, tables):
    table = pd.DataFrame({"feature": tables.features, "low": -1000, "high": 1000})
    result = fedsieve(*tables.select("--ranges", tables.save("ranges.csv", table)))
    assert result.code == 0
    assert "Warning" not in result.err


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_gaps_can_be_unrelated(fedsieve, tables, suffix):
    gappy = tables.clients["siteA"].copy()
    gappy.iloc[2:5, 1] = np.nan
    server = tables.server.copy()
    server.loc[server.index[3], "pulse"] = np.nan
    tables.save("server.csv", server)
    file = tables.save(f"gappy.{suffix}", gappy)
    clients = (f"siteA={file}", str(tables["siteB.parquet"]))
    result = fedsieve(*tables.select("--missing", "unrelated", clients=clients))
    assert result.code == 0, result.err
    model = SSFMLFS(missing="unrelated").fit(
        server[list(tables.features)], tables.Y, clients={"siteA": gappy, "siteB": tables.clients["siteB"]}
    )
    assert order(tables) == names_in_order(model)


def test_a_bad_client_can_be_dropped(fedsieve, tables):
    tables.save("lonely.csv", tables.clients["siteC"][:1])
    files = [str(tables[name]) for name in ("siteA.csv", "siteB.parquet", "lonely.csv")]
    result = fedsieve(*tables.select("--on-bad-client", "drop", clients=(*files,)))
    assert result.code == 0, result.err
    assert "Warning: went on without client 'lonely': has 1 row" in result.err
    assert fedsieve(*tables.select(out="two", clients=(*files[:2],))).code == 0
    three, two = (json.loads(tables[out].joinpath("selection.json").read_text()) for out in ("result", "two"))
    assert three["order"] == two["order"]
    assert three["scores"] == two["scores"]
    assert list(three["dropped"]) == ["lonely"]
    assert two["dropped"] == {}


def test_dropping_must_leave_two_clients(fedsieve, tables):
    tables.save("lonely.csv", tables.clients["siteC"][:1])
    clients = (str(tables["siteA.csv"]), str(tables["lonely.csv"]))
    result = fedsieve(*tables.select("--on-bad-client", "drop", clients=clients))
    assert result.code == 2
    assert "only 1 site remains; 2 are needed" in result.message
    assert "'lonely'" in result.message
    assert not tables["result"].exists()


@pytest.mark.parametrize("labels", ["prefix:label_", "label_b"])
def test_a_feature_identical_to_a_label_is_a_warning(fedsieve, tables, labels):
    server = tables.server if labels.startswith("prefix") else tables.server.drop(columns=["label_a", "label_c"])
    tables.save("server.csv", server.assign(outcome=tables.server["label_b"]))
    for name, file in (("siteA", "siteA.csv"), ("siteB", "siteB.parquet")):
        tables.save(file, tables.clients[name].assign(outcome=np.arange(len(tables.clients[name])) % 2))
    result = fedsieve(*tables.select("--labels", labels))
    assert result.code == 0, result.err
    warnings = [line for line in result.err.splitlines() if line.startswith("Warning: ")]
    assert len(warnings) == 1
    assert "feature 'outcome' is identical to label 'label_b' on the labeled rows" in warnings[0]
    assert "outcome" in order(tables)


def test_constant_features_come_last_or_stay(fedsieve, tables):
    tables.save("server.csv", tables.server.assign(age=40.0))
    for name, file in (("siteA", "siteA.csv"), ("siteB", "siteB.parquet")):
        tables.save(file, tables.clients[name].assign(age=40.0))
    assert fedsieve(*tables.select()).code == 0
    assert order(tables)[-1] == "age"
    assert fedsieve(*tables.select("--constant", "keep", out="kept")).code == 0
    kept = json.loads(tables["kept"].joinpath("selection.json").read_text())
    assert kept["scores"]["age"] > 0
