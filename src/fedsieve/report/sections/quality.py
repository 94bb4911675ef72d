"""Quality against the number of features, as `fedsieve evaluate` measured it, or as Sieve chose its number."""

from collections.abc import Mapping
from typing import Any

from fedsieve.errors import DataError
from fedsieve.report.sections.features import plain
from fedsieve.text import plural, visible

LOWER_IS_BETTER = ("coverage", "ranking_loss")  # of all other measures, higher
NOTES = {"coverage": "A row without labels counts 0 before 1 is subtracted, so the mean can be below 0."}
"""What a reader of a measure would stumble over."""


def quality_section(
    evaluation: Mapping[str, Any] | None, record: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """What an `evaluation.json` says in words, one panel per classifier and measure, all differences; or nothing.

    `record` is the selection on the same page. Of another one an evaluation says nothing: then a warning comes first,
    and what it concludes is left out.
    """
    if evaluation is None:
        return None
    try:
        rows, words = evaluation["summary"], [visible(line) for line in evaluation["verdict"]]
        warning = None if record is None else _of_another(evaluation, record)
        if warning is not None:
            del words[conclusion_of(evaluation)]
        return {
            "method": visible(evaluation["method"]),
            "warning": warning,
            "words": words,
            "panels": [
                _panel(rows, classifier, measure)
                for classifier in evaluation["classifiers"]
                for measure in dict.fromkeys(row["metric"] for row in rows)
            ],
            "gains": [_gain(row) for row in rows if row["own"] and row["gain"] is not None],
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DataError(
            "evaluation.json: is no evaluation as 'fedsieve evaluate' writes it. Run it again, or remove the file."
        ) from None


def conclusion_of(evaluation: Mapping[str, Any]) -> int:
    """Which line of the verdict concludes; before it one of the sizes and one per classifier, behind it notes."""
    return 1 + len(evaluation["classifiers"])


def _of_another(evaluation: Mapping[str, Any], record: Mapping[str, Any]) -> str | None:
    """A warning where method or number of features are not the selection's; folds that choose may each have another."""
    method, own = evaluation["method"], [row for row in evaluation["folds"] if row["own"]]
    sizes = [row["n_features"] for row in own if row["method"] == evaluation["method"]]
    low, high, n_selected = min(sizes), max(sizes), len(record["selected"])
    same_table = evaluation["n_features"] == len(record["order"])
    if method == record["method"] and same_table and low <= n_selected <= high:
        return None
    number = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    of = "" if same_table else f" of {evaluation['n_features']:,}"
    noun = plural(1 if low == high == 1 and same_table else 2, "feature")
    return f"This evaluation is of {visible(method)} with {number}{of} {noun}, not of the selection above."


def shares_section(evaluation: Mapping[str, Any]) -> dict[str, Any]:
    """In which share of the folds each feature was selected, most often first, as a table of features."""
    shares = sorted(evaluation["chosen"].items(), key=lambda pair: -pair[1])  # equal ones stay in the table's order
    about = "share of the folds in which it was selected, each time anew"
    return {
        "n_chosen": sum(share > 0 for _, share in shares),
        "n_features": len(shares),
        "names": [visible(name) for name, _ in shares],
        "columns": [
            {"key": "share", "title": "Share of folds", "digits": 2, "kind": "number", "about": about, "beneath": None}
        ],
        "values": {"share": [plain(share) for _, share in shares]},
        "why": [],
    }


def sizes_section(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The losses by which the number of features was chosen, where it was."""
    return [
        {"k": row["k"], "loss": plain(row["ranking_loss"]), "error": plain(row["error"])}
        for row in record.get("sizes_tried", [])
    ]


def better(measure: str) -> str:
    """Which end of a measure is the good one."""
    return "lower" if measure in LOWER_IS_BETTER else "higher"


def _panel(rows: list[dict[str, Any]], classifier: str, measure: str) -> dict[str, Any]:
    """One line per method; where a number of features that was tried is also the selector's own, one point of both."""
    own = [row for row in rows if row["classifier"] == classifier and row["metric"] == measure]
    points = {(row["method"], row["n_features"]): row for row in own}
    return {
        "classifier": visible(classifier),
        "measure": _title(measure),
        "better": better(measure),
        "note": NOTES.get(measure, ""),
        "points": [
            {"method": visible(method), "k": plain(k), "mean": plain(row["mean"]), "error": plain(row["deviation"])}
            for (method, k), row in sorted(points.items(), key=lambda item: item[0][1])
        ],
    }


def _title(measure: str) -> str:
    """
    >>> _title("micro_f1")
    'micro F1'
    """
    return visible(measure.replace("_", " ")).replace("f1", "F1")


def _gain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "classifier": visible(row["classifier"]),
        "measure": _title(row["metric"]),
        "other": visible(row["method"]),
        "gain": plain(row["gain"]),
        "low": plain(row["gain_low"]),
        "high": plain(row["gain_high"]),
        "verdict": visible(row["verdict"]),
    }
