"""An evaluation on disk: the files say what the result says."""

import csv
import json

import pytest

import fedsieve
from fedsieve.errors import DataError
from fedsieve.report.assessment_files import write_assessment


@pytest.fixture
def found(rng):
    X = rng.random((40, 5))
    return fedsieve.evaluate(
        [2, 0], X, (X[:, 1:3] > 0.5).astype(int), n_repeats=1, n_folds=2, sizes=[1, 2], classifiers=["ML-kNN"]
    )


def test_json_csv_and_picture(found, tmp_path):
    files = write_assessment(found, tmp_path / "new" / "folder")
    assert [file.name for file in files] == ["evaluation.json", "evaluation.csv", "folds.csv", "evaluation.png"]
    record = json.loads(files[0].read_text(encoding="utf-8"))
    assert record["format"] == "fedsieve-evaluation/1"
    assert record["verdict"] == list(found.verdict)
    assert record["summary"] == found.summary
    assert record["folds"] == list(found.rows)
    assert record["chosen"] == {"x0": 1.0, "x1": 0.0, "x2": 1.0, "x3": 0.0, "x4": 0.0}
    for file, rows in ((files[1], found.summary), (files[2], found.rows)):
        with file.open(newline="", encoding="utf-8") as stream:
            read = list(csv.DictReader(stream))
        assert [row["method"] for row in read] == [row["method"] for row in rows]
        value = "mean" if "mean" in rows[0] else "coverage"
        assert [float(row[value]) for row in read] == [row[value] for row in rows]
    assert files[3].read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_cannot_be_made_is_said(found, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file: cannot be made: "):
        write_assessment(found, tmp_path / "file")
