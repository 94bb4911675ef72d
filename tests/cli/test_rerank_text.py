"""`fedsieve rerank` of tables with text, gaps and other files: the labeled rows are read as they were then."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from fedsieve import load_selection


@pytest.fixture(scope="module")
def shared(fedsieve, untouched, tmp_path_factory):
    """A selection over a column of text with gaps and a column of dates, and the tables that it is of."""
    rng = np.random.default_rng(3)
    made = replace(untouched, folder=tmp_path_factory.mktemp("text"))
    for name, frame in {"server": made.server, **made.clients}.items():
        words = rng.permutation(np.resize(["Nord", "Süd"], len(frame))).astype(object)
        words[1] = None
        days = np.datetime64("2020-01-01") + rng.integers(0, 99, len(frame))
        file = {"siteB": "siteB.parquet"}.get(name, f"{name}.csv")
        made.save(file, frame.assign(ward=words, seen=days.astype(str)))
    done = fedsieve(*made.select("--dates", "seen", method="sieve"))
    assert done.code == 0, done.err
    return made.folder


@pytest.fixture
def result(shared, tables):
    shutil.copytree(shared, tables.folder, dirs_exist_ok=True)
    return tables["result"]


def record(folder):
    return json.loads((folder / "selection.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("how", ["as it was", "with other separators"])
def test_the_words_and_days_of_then_are_used(fedsieve, tables, result, how):
    import pandas as pd

    if how != "as it was":
        rows = pd.read_csv(tables["server.csv"])
        rows.to_csv(tables["server.csv"], sep=";", decimal=",", encoding="latin-1", index=False)
    again = fedsieve("rerank", result, "-k", 3, "--labeled", tables["server.csv"])
    assert again.code == 0, again.err
    found = record(result / "k3")
    assert found["scores"] == record(result)["scores"]
    assert len(found["selected"]) == 3
    assert found["missing_by_site"] == record(result)["missing_by_site"]
    assert found["shift"] == record(result)["shift"]
    assert set(found["missing_by_site"]) >= {"siteA", "siteB"}


def test_words_are_no_part_of_the_result_that_is_handed_on(result):
    assert "Nord" not in (result / "selection.json").read_text(encoding="utf-8")
    assert b"Nord" in (result / "totals.bin").read_bytes()


def test_another_word_is_another_row(fedsieve, tables, result):
    text = tables["server.csv"].read_text(encoding="utf-8")
    tables["server.csv"].write_text(text.replace("Nord", "Ost", 1), encoding="utf-8")
    assert "are not those of the run" in fedsieve("rerank", result, "-k", 3, "--labeled", tables["server.csv"]).message


def test_a_loaded_selection_picks_words_and_days_as_they_are(tables, result):
    import pandas as pd

    frame, loaded = pd.read_csv(tables["server.csv"]), load_selection(result).set_output(transform="pandas")
    assert {"ward", "seen"} <= set(loaded.feature_names_in_)
    loaded.support_ = np.isin(loaded.feature_names_in_, ["ward", "seen"])
    pd.testing.assert_frame_equal(loaded.transform(frame), frame[["ward", "seen"]])
