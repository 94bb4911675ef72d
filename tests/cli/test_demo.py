"""`fedsieve demo`: what it shows and what it leaves behind."""

import json
import re
import shutil
import sys

import numpy as np
import pytest

from fedsieve.cli.demo import pixel_picture
from fedsieve.datasets import load_digits

NOT_INSTALLED = ("arff", "cryptography", "defusedxml", "dp_accounting", "flwr", "openpyxl", "pooch", "pyarrow")
PNG = b"\x89PNG\r\n\x1a\n"


def read(folder) -> dict:
    return json.loads((folder / "selection.json").read_text())


@pytest.fixture(scope="module")
def plain(fedsieve, tmp_path_factory):
    """What a demo without any option says and leaves, for tests that look at it; with what 'make demo' installs."""
    folder = tmp_path_factory.mktemp("demo") / "plain"
    with pytest.MonkeyPatch.context() as patch:
        for package in NOT_INSTALLED:
            patch.setitem(sys.modules, package, None)
        return fedsieve("demo", "--out", folder), folder


@pytest.fixture(scope="module")
def of_seed_3(fedsieve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "demo"
    return fedsieve("demo", "--out", folder, "--seed", 3), folder


@pytest.fixture
def by_ssfmlfs(fedsieve, tmp_path):
    return fedsieve("demo", "--out", tmp_path, "-k", 12, "--method", "ssfmlfs"), tmp_path


def test_it_shows_the_picture_the_cost_and_the_agreement(plain):
    result, _ = plain
    assert result.code == 0, result.err
    for wire in ("statistics", "vectors", "matrices"):
        assert f"SSFMLFS, wire form {wire}\n" in result.out
        cost = rf"{wire} +│ +\d+ │ +[\d.]+ [kM]B │ +\d+(?:%| times) │ +\d+\.\d\d │"
        assert re.search(cost, result.out), result.out
    assert re.search(r"raw rows +│ +- │ +736\.3 kB │ +100% │", result.out)  # 1438 rows of 64 doubles
    assert re.search(r"Sieve +│ +2 │ +[\d.]+ kB │ +\d+% │ +\d+\.\d\d │", result.out)
    assert "The three wire forms give the same order" in result.out
    assert re.search(r"\d+\.\d s in all\.", result.out)
    assert result.out.splitlines()[-1].endswith("report.html")
    assert "round 2: pair sums of the features" in result.err


@pytest.mark.parametrize(
    ("run", "method", "other", "k"),
    [("plain", "Sieve", "SSFMLFS", 26), pytest.param("by_ssfmlfs", "SSFMLFS", "Sieve", 12, marks=pytest.mark.full)],
)
def test_both_pictures_have_the_rank_of_every_chosen_pixel_in_its_place(request, run, method, other, k):
    result, folder = request.getfixturevalue(run)
    record, names = read(folder), load_digits().feature_names
    lines = re.findall(r"^ (?:  ·| [ \d]\d){8}$", result.out, flags=re.MULTILINE)
    assert len(lines) == 16
    shown = []
    for picture in (lines[:8], lines[8:]):
        cells = [cell for line in picture for cell in line.split()]
        ranked = {int(cell): names[pixel] for pixel, cell in enumerate(cells) if cell != "·"}
        assert sorted(ranked) == list(range(1, k + 1))
        shown.append([ranked[rank] for rank in sorted(ranked)])
    assert record["method"] == method
    assert shown[0] == record["order"][:k] == record["selected"]
    ranks = record[f"rank_{other}"]
    assert shown[1] == sorted(names, key=ranks.get)[:k]
    assert f"{other} selects {len(set(shown[0]) & set(shown[1]))} of the same {k} features." in result.out


def test_it_measures_what_the_choice_is_worth(plain):
    result, _ = plain
    found = {name: float(value) for name, value in re.findall(r"│ (\S.*?) +│ +(0\.\d{3})", result.out)}
    assert found["26 at random"] < found["26 by Sieve"] < 1
    assert set(found) >= {"26 by SSFMLFS", "all 64"}


@pytest.mark.full
def test_sieve_can_choose_the_number(fedsieve, tmp_path):
    result = fedsieve("demo", "--out", tmp_path, "-k", "auto")
    assert result.code == 0, result.err
    record = read(tmp_path)
    tried = {row["k"]: row for row in record["sizes_tried"]}
    k = len(record["selected"])
    lowest = min(row["ranking_loss"] for row in tried.values())
    assert tried[k]["ranking_loss"] <= lowest + tried[k]["error"]
    assert f"{k} by Sieve" in result.out
    assert f"{k} by SSFMLFS" in result.out


def test_an_unknown_method_is_refused(fedsieve, tmp_path):
    result = fedsieve("demo", "--out", tmp_path / "demo", "--method", "pca")
    assert (result.code, (tmp_path / "demo").exists()) == (2, False)
    assert "--method must be one of 'sieve', 'ssfmlfs'; got 'pca'." in result.message


def test_ranks_of_two_digits_keep_the_columns_straight():
    ranks = {pixel: 11 - pixel for pixel in range(11)}
    assert pixel_picture(ranks, side=4).plain.splitlines() == [
        "  11 10  9  8",
        "   7  6  5  4",
        "   3  2  1  ·",
        "   ·  ·  ·  ·",
    ]


def test_it_leaves_the_result_and_a_picture(plain):
    result, folder = plain
    names = ("selection.json", "ranking.csv", "pixels.png", "report.html", "summary.json")
    assert {file.name for file in folder.iterdir()} == set(names)
    picture = (folder / "pixels.png").read_bytes()
    assert picture.startswith(PNG)
    assert picture.rstrip().endswith(b"IEND\xaeB`\x82")
    record = read(folder)
    assert record["seed"] == 0
    assert len(record["n_rows"]) == 10
    assert sum(record["n_rows"].values()) == 1797 - 359
    assert f"{folder} holds {', '.join(names)}." in result.out
    assert f"To look at it: {folder / 'report.html'}\n" in result.out
    assert record["command"] == "fedsieve demo --out plain"


def test_constant_pixels_come_last(plain):
    digits = load_digits()
    constant = {name for name, spread in zip(digits.feature_names, np.ptp(digits.X, axis=0), strict=True) if not spread}
    assert set(read(plain[1])["order"][-3:]) == constant


@pytest.mark.full
def test_the_seed_decides_the_order_and_it_can_be_run_again(fedsieve, tmp_path, plain, of_seed_3):
    first, other = read(plain[1]), read(of_seed_3[1])
    assert other["command"] == "fedsieve demo --out demo --seed 3"
    shutil.copytree(of_seed_3[1], tmp_path / "demo")
    assert fedsieve("demo", "--out", tmp_path / "demo", "--seed", 0).code == 0
    again = read(tmp_path / "demo")
    assert (first["seed"], other["seed"], again["seed"]) == (0, 3, 0)
    assert again["order"] == first["order"] != other["order"]
    assert again["scores"] == first["scores"]
    assert first["relevance"] != other["relevance"]  # other labeled rows
    assert first["n_rows"] != other["n_rows"]  # other clients


@pytest.mark.parametrize("k", [0, 65])
def test_k_must_be_a_number_of_pixels(fedsieve, tmp_path, k):
    result = fedsieve("demo", "--out", tmp_path / "demo", "-k", k)
    assert result.code == 2
    assert re.search(rf"in \[1, .*64\], .*; got {k}\.", result.message)
    assert not (tmp_path / "demo").exists()


@pytest.mark.full
def test_without_matplotlib_and_a_table_reader_only_the_picture_is_missing(fedsieve, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = fedsieve("demo", "--out", tmp_path)
    assert result.code == 0, result.err
    assert "Warning: drawing the picture needs the package 'matplotlib'" in result.err
    assert 'pip install "fedsieve[report]"' in result.err
    assert "pyarrow" not in result.err
    names = ("selection.json", "ranking.csv", "report.html", "summary.json")
    assert f"{tmp_path} holds {', '.join(names)}. " in result.out
    assert {file.name for file in tmp_path.iterdir()} == set(names)


def test_it_replaces_no_result_but_its_own(fedsieve, tmp_path):
    other = '{"format": "fedsieve-selection/1", "selected": [], "order": [], "labels": []}'
    (tmp_path / "selection.json").write_text(other)
    result = fedsieve("demo", "--out", tmp_path)
    assert result.code == 2
    assert "selection.json exists already" in result.message
    assert (tmp_path / "selection.json").read_text() == other
