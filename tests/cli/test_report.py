"""`fedsieve report`: a page or Markdown of a result, and of two beside each other."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from fedsieve.cli.reporting import command_again
from fedsieve.deployment.run_story import timing
from report_records import evaluation


@pytest.fixture(scope="module")
def shared(fedsieve, untouched, tmp_path_factory):
    """What a selection says and leaves, for tests that only look at it."""
    folder = tmp_path_factory.mktemp("report") / "first"
    found = fedsieve(*untouched.select("-k", 3, method="sieve", out=folder))
    assert found.code == 0, found.err
    return found, folder


@pytest.fixture
def result(shared, tables):
    return shutil.copytree(shared[1], tables["first"])


def test_select_leaves_a_page_and_its_summary(shared):
    found, folder = shared
    assert f"To look at it: {folder / 'report.html'}" in "".join(found.out.split("\n"))
    page = (folder / "report.html").read_text(encoding="utf-8")
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    record = json.loads((folder / "selection.json").read_text(encoding="utf-8"))
    assert summary["answer"] in page
    assert summary["features"]["names"] == record["order"]
    assert record["pairs"]["features"] == record["selected"]
    assert record["timing"]["seconds"] > 0


def test_the_command_to_do_it_again_has_what_was_typed_and_no_folders(shared, untouched):
    command = json.loads((shared[1] / "selection.json").read_text(encoding="utf-8"))["command"]
    assert command.startswith("fedsieve select --labeled ")
    assert " -k 3 " in f"{command} "
    assert "--client" in command
    assert not [folder for folder in (shared[1].parent, untouched.folder) if str(folder) in command]
    assert "--damping" not in command  # its default


def test_a_hint_how_to_go_on_keeps_the_options_and_whole_paths(tmp_path):
    app = typer.Typer()

    @app.command()
    def collect(folder: Path, out: Path | None = None, run: str = "", bits: int = 32) -> None:  # noqa: ARG001
        print(command_again(whole_paths=True))

    said = CliRunner().invoke(app, [str(tmp_path), "--run", "r1", "--out", str(tmp_path / "rows")]).output
    assert said.split()[1:] == [str(tmp_path), "--out", str(tmp_path / "rows"), "--run", "r1"]


def test_a_page_is_made_of_a_folder_or_a_file(fedsieve, result, tmp_path):
    for source in (result, result / "selection.json"):
        found = fedsieve("report", source, "-o", tmp_path / "page.html")
        assert found.code == 0, found.err
        assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "page.summary.json").read_text() == (result / "summary.json").read_text()


def test_pages_in_one_folder_keep_their_own_summaries(fedsieve, result, tables, tmp_path):
    assert fedsieve(*tables.select("-k", 2, out="second")).code == 0
    (tmp_path / "summary.json").write_text("of somebody else")
    for name, folder in (("a", result), ("b", tables["second"])):
        found = fedsieve("report", folder, "-o", tmp_path / f"{name}.html")
        assert f"{name}.summary.json beside it" in found.out.replace("\n", " ")
        assert f"<code>{name}.summary.json</code> beside it" in (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    chosen = [json.loads((tmp_path / f"{name}.summary.json").read_text())["features"]["n_chosen"] for name in "ab"]
    assert chosen == [3, 2]
    assert (tmp_path / "summary.json").read_text() == "of somebody else"


def test_markdown(fedsieve, result):
    assert fedsieve("report", result, "--markdown").code == 0
    text = (result / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# Feature selection by Sieve\n\n**Sieve chose 3 of 6 features")
    found = fedsieve("report", result, "--markdown", "-o", result / "x.html")
    assert (found.code, found.message.endswith("x.html'.")) == (2, True)


def test_two_results_beside_each_other(fedsieve, result, tables, tmp_path):
    assert fedsieve(*tables.select("-k", 2, method="ssfmlfs", out="second")).code == 0
    found = fedsieve("report", "--compare", result, tables["second"], "-o", tmp_path / "both.html")
    assert found.code == 0, found.err
    summary = json.loads((tmp_path / "both.comparison.json").read_text(encoding="utf-8"))
    assert summary["changes"]["methods"] == ["Sieve", "SSFMLFS"]
    assert "The first selection chooses 3 features, the second 2" in summary["answer"]
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert page.count("both.comparison.json") == 3  # the footer, and what is said where nothing can be drawn
    assert "summary.json" not in page
    fedsieve("report", "--compare", result, tables["second"], "-o", tmp_path / "comparison.html")
    assert json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8")) == summary
    assert summary["changes"]["names"] == [f"{tables.folder.name}/{name}" for name in ("first", "second")]


def test_an_evaluation_and_an_audit_beside_it_become_part(fedsieve, result):
    (result / "evaluation.json").write_text(json.dumps(evaluation()))
    section = {"words": ["Nothing was read."], "columns": ["attack"], "rows": [["membership"]]}
    (result / "audit.json").write_text(json.dumps({"section": section}))
    assert fedsieve("report", result).code == 0
    page = (result / "report.html").read_text(encoding="utf-8")
    assert "ML-kNN, average precision" in page
    assert "Nothing was read." in page


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: record.update(parameters=[]), "cannot be reported; parts of it are damaged"),
        (lambda record: record.update(pairs={"features": [1, 2]}), "cannot be reported; parts of it are damaged"),
        (lambda record: record.pop("transcript"), "lacks parts of a selection"),
    ],
)
def test_a_damaged_result_is_one_message(fedsieve, result, change, words):
    file = result / "selection.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    change(record)
    file.write_text(json.dumps(record))
    found = fedsieve("report", result, "-o", result / "new.html")
    assert found.code == 2
    assert words in found.message
    assert not (result / "new.html").exists()


@pytest.mark.parametrize("others", [(), ("--compare",)])
def test_the_folder_of_a_run_that_failed_says_so(fedsieve, result, tmp_path, others):
    (tmp_path / "failed.json").write_text(json.dumps({"reason": "only 1 site remains."}))
    found = fedsieve("report", tmp_path, *others, *((result,) if others else ()))
    assert found.code == 2
    assert "this run failed; it has no selection. The reason: only 1 site remains. Report" in found.message
    (tmp_path / "failed.json").unlink()
    assert "selection.json: cannot be read" in fedsieve("report", tmp_path).message


def test_what_it_is_given_must_fit(fedsieve, result, tmp_path):
    assert "takes one result; --compare takes two; got 2." in fedsieve("report", result, result).message
    assert "takes two results; got 1." in fedsieve("report", "--compare", result).message
    found = fedsieve("report", result, "-o", tmp_path / "selection.json")
    assert "--out must end in .html, .htm, .md; got" in found.message


def test_without_jinja_the_extra_is_named_and_a_selection_ends_well(fedsieve, tables, monkeypatch):
    assert fedsieve(*tables.select("-k", 3, out="first")).code == 0
    monkeypatch.setitem(sys.modules, "jinja2", None)
    found = fedsieve(*tables.select("-k", 2, "--force", out="first"))
    assert found.code == 0
    assert "Warning: the report page needs the package 'jinja2'. Install it with: pip install \"fedsieve[" in found.err
    assert not (tables["first"] / "report.html").exists()  # it was that of the result before
    assert json.loads((tables["first"] / "summary.json").read_text())["features"]["n_chosen"] == 2
    found = fedsieve("report", tables["first"])
    assert (found.code, "fedsieve report needs the package 'jinja2'" in found.message) == (2, True)
    assert fedsieve("report", tables["first"], "--markdown").code == 0


def test_a_reranked_result_has_a_page_of_its_own(fedsieve, result, tables):
    found = fedsieve("rerank", result, "-k", 2, "--labeled", tables["server.csv"])
    assert found.code == 0, found.err
    summary = json.loads((result / "k2" / "summary.json").read_text(encoding="utf-8"))
    assert len(summary["alike"]["map"]["features"]) == 2
    assert "Chosen again from the totals of a run that selected 3" in " ".join(summary["notes"])
    assert summary["federation"]["seconds"] is None  # of another run


def test_events_without_an_end_have_no_length():
    assert timing([]) == {"seconds": None, "sites": {}}
