"""Large files are streamed: `select`, `check` and `apply` say and write the same as of files that are read at once."""

import json

import numpy as np
import pandas as pd
import pytest

from fedsieve import tables as tables_module
from fedsieve.datasets import scan, streams

N_ROWS = 90
RNG = np.random.default_rng(3)


@pytest.fixture
def streamed(monkeypatch):
    """From now on every file is large, and batches are tiny."""

    def begin():
        monkeypatch.setattr(streams, "LARGE_FILE", 0)
        monkeypatch.setattr(streams, "BLOCK_BYTES", 700)
        monkeypatch.setattr(tables_module, "STREAMED_VALUES", 64)
        monkeypatch.setattr(scan, "STREAMED_VALUES", 64)

    return begin


def test_a_parquet_file_is_large_by_its_numbers_not_by_what_they_pack_to(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LARGE_FILE", 1 << 18)
    file = tmp_path / "packed.parquet"
    pd.DataFrame(np.zeros((4096, 8)), columns=list("abcdefgh")).to_parquet(file)
    assert file.stat().st_size < 1 << 15
    assert streams.is_large(file)
    pd.DataFrame(np.zeros((4095, 8)), columns=list("abcdefgh")).to_parquet(file)
    assert not streams.is_large(file)


def mixed_table(n_rows=N_ROWS):
    """Numbers, whole numbers late in the file no longer, words, gaps, dates, ids, a constant, a copy."""
    age = RNG.integers(20, 90, n_rows).astype(object)
    frame = pd.DataFrame({"patient_id": np.arange(n_rows) + 100_000, "age": age})
    frame["dose"] = RNG.normal(5, 2, n_rows).round(3)
    frame["late"] = [*map(str, range(n_rows - 1)), "0.5"]
    frame["ward"] = RNG.choice([" north", "south ", "west", None], n_rows)
    frame["sex"] = RNG.choice(["f", "m"], n_rows)
    frame["gaps"] = np.where(RNG.random(n_rows) < 0.3, np.nan, RNG.normal(size=n_rows).round(4))
    frame["flag"] = RNG.random(n_rows) < 0.4
    frame["admitted"] = pd.to_datetime("2020-01-31") + pd.to_timedelta(RNG.integers(0, 900, n_rows), "D")
    frame["copy"] = (2 * frame["dose"] + 1 + RNG.normal(0, 0.02, n_rows)).round(3)  # nearly one
    frame["key"] = RNG.permutation(n_rows) + 700
    return frame


@pytest.fixture
def files(tmp_path):
    server = mixed_table(40)
    server["label_a"] = (server["dose"] > 5).astype(int)
    server["label_b"] = (server["sex"] == "f").astype(int)
    server.to_csv(tmp_path / "server.csv", index=False)
    first, second, third = (mixed_table() for _ in range(3))
    first["admitted"] = first["admitted"].dt.strftime("%Y-%m-%d")
    first.to_csv(tmp_path / "a.csv", index=False)
    third["late"] = third["late"].str.replace(".", ",")
    third.to_csv(tmp_path / "c.csv.gz", index=False, sep=";", decimal=",", date_format="%Y-%m-%d")
    second["late"] = second["late"].astype(float)
    second["age"] = second["age"].astype(int)
    second["sex"] = second["sex"].astype("category")
    second.to_parquet(tmp_path / "b.parquet", row_group_size=17)
    return tmp_path


def args(folder, *more):
    clients = [part for name in ("a.csv", "b.parquet", "c.csv.gz") for part in ("--client", folder / name)]
    labeled = ("--labeled", folder / "server.csv", "--labels", "prefix:label_", "--dates", "admitted")
    return ("select", *labeled, *clients, "-k", 3, *more)


def selection(folder):
    record = json.loads((folder / "selection.json").read_text())
    for key in ("command", "timing", "created"):
        record.pop(key, None)
    return record


def alike(first, second):
    """The same values, numbers to rounding."""
    assert type(first) is type(second)
    if isinstance(first, dict):
        assert list(first) == list(second)
        for key in first:
            alike(first[key], second[key])
    elif isinstance(first, list):
        assert len(first) == len(second)
        for one, other in zip(first, second, strict=True):
            alike(one, other)
    elif isinstance(first, float):
        assert first == pytest.approx(second, rel=1e-9, abs=1e-9)
    else:
        assert first == second


@pytest.mark.parametrize("more", [(), ("--method", "ssfmlfs", "--missing", "unrelated", "--nominal", "age")])
def test_select_finds_the_same(fedsieve, files, streamed, more):
    more = (*more, "--alone")
    whole = fedsieve(*args(files, *more, "--out", files / "whole"))
    assert whole.code == 0, whole.err
    streamed()
    parts = fedsieve(*args(files, *more, "--out", files / "parts"))
    assert parts.code == 0, parts.err
    assert parts.out.count("read in batches") + parts.err.count("read in batches") == 3
    alike(selection(files / "whole"), selection(files / "parts"))


def test_a_gap_is_named_in_the_same_words(fedsieve, files, streamed):
    whole = fedsieve(*args(files, "--missing", "error", "--alone", "--out", files / "whole"))
    streamed()
    parts = fedsieve(*args(files, "--missing", "error", "--alone", "--out", files / "parts"))
    assert whole.code == parts.code == 2
    assert whole.message == parts.message
    assert not (files / "parts").exists()


@pytest.mark.parametrize("option", [(), ("--nominal", "ward,age")])
def test_check_says_the_same(fedsieve, files, streamed, option):
    said = ("check", files / "a.csv", files / "b.parquet", files / "c.csv.gz", "--labeled", files / "server.csv")
    whole = fedsieve(*said, *option, "--json")
    streamed()
    parts = fedsieve(*said, *option, "--json")
    assert whole.code == parts.code
    alike(json.loads(whole.out), json.loads(parts.out))


@pytest.mark.parametrize("source", ["a.csv", "b.parquet", "c.csv.gz"])
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".csv.gz", ".tsv"])
def test_apply_writes_the_same(fedsieve, files, streamed, source, ending):
    (files / "selection.json").write_text(
        json.dumps({"format": "fedsieve-selection/1", "order": ["dose", "ward", "late"], "selected": ["dose", "ward"]})
    )
    said = ("apply", files / source, "--selection", files / "selection.json", "--keep", "sex,admitted,late")
    whole = fedsieve(*said, "--out", files / f"whole{ending}")
    streamed()
    parts = fedsieve(*said, "--out", files / f"parts{ending}")
    assert whole.code == parts.code == 0, parts.err
    if ending in (".csv", ".tsv"):
        assert (files / f"whole{ending}").read_bytes() == (files / f"parts{ending}").read_bytes()
    else:
        read = pd.read_parquet if ending == ".parquet" else pd.read_csv
        pd.testing.assert_frame_equal(read(files / f"whole{ending}"), read(files / f"parts{ending}"))


def test_a_file_that_is_cut_leaves_nothing_half_written(fedsieve, files, streamed):
    (files / "selection.json").write_text(
        json.dumps({"format": "fedsieve-selection/1", "order": ["dose"], "selected": ["dose"]})
    )
    text = (files / "a.csv").read_text()
    (files / "cut.csv").write_text(text + "1,2\n")
    whole = fedsieve("apply", files / "cut.csv", "--selection", files / "selection.json")
    streamed()
    parts = fedsieve("apply", files / "cut.csv", "--selection", files / "selection.json")
    assert whole.message == parts.message
    damaged = (files / "b.parquet").read_bytes()
    (files / "d.parquet").write_bytes(damaged[:200] + bytes(400) + damaged[600:])
    assert fedsieve("apply", files / "d.parquet", "--selection", files / "selection.json").code == 2
    assert not list(files.glob("*-selected*"))
    assert not list(files.glob(".*part"))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("dose", ["1,234", "2,5", "3.7"]),  # numbers with commas, late
        ("dose", ["n.d."]),  # text among numbers
        ("admitted", ["31.01.2020"]),
        ("admitted", ["2020-02-31"]),
        ("sex", ["1", "2"]),
        ("age", ["forty"]),
    ],
)
def test_what_cannot_be_read_is_refused_in_the_same_words(fedsieve, files, streamed, column, values):
    table = pd.read_csv(files / "a.csv", dtype=str)
    table.loc[len(table) - len(values) :, column] = values
    table.to_csv(files / "a.csv", index=False)
    whole = fedsieve(*args(files, "--alone", "--out", files / "whole"))
    streamed()
    parts = fedsieve(*args(files, "--alone", "--out", files / "parts"))
    assert whole.code == parts.code
    if whole.code:
        assert whole.message == parts.message
    else:
        alike(selection(files / "whole"), selection(files / "parts"))
