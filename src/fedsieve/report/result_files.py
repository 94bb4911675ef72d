"""The files of a report: what lies in a result's folder, read into a summary, and a summary written as page or text."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fedsieve.errors import DataError
from fedsieve.files import write_together
from fedsieve.reading import read_json
from fedsieve.report.markdown import as_markdown
from fedsieve.report.page import render_page
from fedsieve.report.summary import summarize, summarize_comparison, summarize_evaluation
from fedsieve.selection_file import JSON, read_failure, read_selection

PAGE, TEXT, SUMMARY = "report.html", "report.md", "summary.json"
BESIDE = {"comparison": ("comparison", "comparison.json")}
"""Kind of summary -> how its page is usually called, and the file beside it; of all others as follows."""
OF_ONE = ("report", SUMMARY)
EVALUATION, AUDIT = "evaluation.json", "audit.json"
ABSENT: Mapping[str, Any] = {"parameters": {}, "versions": {}, "labels": [], "federation": None}
"""What records of earlier versions may lack."""


def summary_of(path: Path) -> dict[str, Any]:
    """The summary of a `selection.json`, or of a folder with one, with what lies beside it; or of an evaluation."""
    file = path / JSON if path.is_dir() else path
    if path.is_dir() and not file.exists() and (path / EVALUATION).is_file():
        file = path / EVALUATION
    if file.name == EVALUATION:
        evaluation = read_json(file)
        return _of_whole(file, lambda: summarize_evaluation(evaluation))
    return summary_of_record(file, _selection(path))


def summary_of_record(file: Path, record: Mapping[str, Any]) -> dict[str, Any]:
    """The summary of a record that was read from a file, with what lies beside that."""
    beside = [read_json(found) if (found := file.parent / name).is_file() else None for name in (EVALUATION, AUDIT)]
    return _of_whole(file, lambda: summarize({**ABSENT, **record}, *beside))


def comparison_of(first: Path, second: Path) -> dict[str, Any]:
    """The summary of two selections, named as their paths are."""
    one, other = ({**ABSENT, **_selection(path)} for path in (first, second))
    return _of_whole(first, lambda: summarize_comparison(one, other, (_named(first), _named(second))))


def _selection(path: Path) -> dict[str, Any]:
    """The selection in a file or a folder; a run's folder without one says why."""
    if path.is_dir() and not (path / JSON).exists() and (reason := read_failure(path)) is not None:
        raise DataError(
            f"{path}: this run failed; it has no selection. The reason: {reason.rstrip('.')}. Report another run, or "
            "start one: fedsieve federation run."
        )
    return read_selection(path, whole=True)


def write_report(summary: Mapping[str, Any], target: Path, owner: str) -> None:
    """Write the page, or the text if the name ends in .md, and the summary beside it, both or none."""
    beside = summary_file(summary, target)
    text = as_markdown(summary) if target.suffix == ".md" else render_page(summary, owner, beside.name)
    write_together({beside: _writer(_json(summary)), target: _writer(text)})


def write_summary(summary: Mapping[str, Any], target: Path) -> None:
    """Write the summary alone, where it would lie beside this page."""
    write_together({summary_file(summary, target): _writer(_json(summary))})


def summary_file(summary: Mapping[str, Any], target: Path) -> Path:
    """The file beside a page that holds all it shows; a page of another name than usual has one of its own."""
    usual, name = BESIDE.get(summary["kind"], OF_ONE)
    return target.with_name(name if target.stem == usual else f"{target.stem}.{name}")


def _named(path: Path) -> str:
    """As it was typed; of an absolute path the end, as a report is shown to people whom the rest does not concern."""
    return "/".join(path.parts[-2:]) if path.is_absolute() else str(path)


def _json(summary: Mapping[str, Any]) -> str:
    return json.dumps(summary, ensure_ascii=False, allow_nan=False) + "\n"


def _writer(text: str) -> Callable[[Path], object]:
    return lambda file: file.write_text(text, encoding="utf-8")


def _of_whole(path: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A record can hold anything where it was not written by us: that is the file's fault, and said."""
    try:
        return make()
    except DataError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = f"{type(error).__name__}: {error}"[:200]
        raise DataError(f"{path}: cannot be reported; parts of it are damaged ({what}). Make it again.") from None
