"""An evaluation as files: all of it as JSON, means and differences and the values of folds as CSV, curves as PNG."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedsieve.catalog import ALL_FEATURES
from fedsieve.experiments.assessment import METRICS, OWN, Assessment
from fedsieve.files import write_together
from fedsieve.report.pictures import new_figure, save
from fedsieve.result_folder import make_folder
from fedsieve.versions import versions

FORMAT = "fedsieve-evaluation/1"
JSON, CSV, FOLDS, PICTURE = "evaluation.json", "evaluation.csv", "folds.csv", "evaluation.png"
TITLES = {
    "average_precision": "average precision ↑",
    "coverage": "coverage ↓",
    "ranking_loss": "ranking loss ↓",
    "micro_f1": "micro F1 ↑",
}


def assessment_record(found: Assessment, command: str | None = None) -> dict[str, Any]:
    """All of it as plain values, and the command by which it was made, if it was one."""
    return {
        "format": FORMAT,
        "method": found.method,
        "others": list(found.others),
        "classifiers": list(found.classifiers),
        "sizes": list(found.sizes),
        **{key: getattr(found, key) for key in ("n_features", "n_rows", "n_labels", "n_folds", "n_repeats")},
        "verdict": list(found.verdict),
        "chosen": dict(found.chosen),
        "summary": found.summary,
        "folds": list(found.rows),
        "versions": versions(),
        "command": command,
    }


def write_assessment(found: Assessment, folder: str | Path, command: str | None = None) -> list[Path]:
    """Write the four files into a folder, which is made if need be; returns them."""
    place = Path(folder)
    make_folder(place)
    text = json.dumps(assessment_record(found, command), indent=1, allow_nan=False) + "\n"
    draw_assessment(found, place / PICTURE)
    write_together(
        {
            place / CSV: lambda file: _write_csv(found.summary, file),
            place / FOLDS: lambda file: _write_csv(found.rows, file),
            place / JSON: lambda file: file.write_text(text, encoding="utf-8"),
        }
    )
    return [place / name for name in (JSON, CSV, FOLDS, PICTURE)]


def draw_assessment(found: Assessment, path: Path) -> None:
    """Each metric (rows) against the number of features, one column per classifier, with the spread over folds."""
    figure = new_figure("drawing the evaluation", (5 * len(found.classifiers), 2.6 * len(METRICS)))
    panels = figure.subplots(len(METRICS), len(found.classifiers), squeeze=False)
    own = found.mean(found.method, found.classifiers[0], OWN, "n_features")
    points = sorted([(size, size) for size in found.sizes if size != own] + [(own, OWN)])
    for row, metric in zip(panels, METRICS, strict=True):
        for axes, classifier in zip(row, found.classifiers, strict=True):
            for number, method in enumerate((found.method, *found.others)):
                where = [at for at, _ in points]
                mean = [found.mean(method, classifier, point, metric) for _, point in points]
                deviation = [found.deviation(method, classifier, point, metric) for _, point in points]
                lines = {"color": f"C{number}", "label": method, "linestyle": "--" if method == ALL_FEATURES else "-"}
                axes.plot(where, mean, marker="" if method == ALL_FEATURES else "o", markersize=3, **lines)
                low, high = ([m + side * d for m, d in zip(mean, deviation, strict=True)] for side in (-1, 1))
                axes.fill_between(where, low, high, color=f"C{number}", alpha=0.12, linewidth=0)
            axes.axvline(own, color="gray", linewidth=0.8, linestyle=":")
            axes.set_title(classifier if metric == METRICS[0] else "", fontsize=10)
            axes.set_xlabel(f"features of {found.n_features}" if metric == METRICS[-1] else "")
        row[0].set_ylabel(TITLES[metric])
    lines, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=4, fontsize=9)
    figure.suptitle(f"{found.method}, {found.folds}", fontsize=11)
    save(figure, path)


def _write_csv(rows: Sequence[dict[str, Any]], file: Path) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
