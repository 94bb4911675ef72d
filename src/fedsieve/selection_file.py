"""A selection as plain values and on disk: `selection.json` with everything about the run, `ranking.csv` to look at.

All that write or read a `selection.json` do it here: commands, runs, and the sites that are told the result.
"""

import csv
import json
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import DataError
from fedsieve.files import write_atomically, write_together
from fedsieve.protocol import Method
from fedsieve.protocol.outcome import CORRELATION, Outcome, Selection, bytes_by_kind
from fedsieve.reading import read_json
from fedsieve.result_folder import check_folder, make_folder
from fedsieve.versions import versions

FORMAT = "fedsieve-selection/1"
JSON, CSV = "selection.json", "ranking.csv"
FAILED = "failed.json"  # in the folder of a run that has no selection
LABELS_SHOWN = 3  # in a cell of the ranking
LABEL_DECIMALS = 4  # of what a feature says of one label: for people to read, too coarse to compute with
MOST_PAIRED = 100  # chosen features of which every pair is told
PAIR_DECIMALS = 3


def selection_record(
    method: Method,
    outcome: Outcome,
    labels: list[str],
    *,
    seed: int | None = None,
    federation: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The record of a run. `seed` is that of the data's partition; only where one was drawn there is one.

    `federation` is what a run over a network adds: its id, and what happened to its sites.
    """
    found = outcome.selection
    names = list(method.features)
    n_selected = method.k if found.n_selected is None else found.n_selected

    def per_feature(values: Any) -> dict[str, float | None]:
        return dict(zip(names, (None if isnan(value) else float(value) for value in values), strict=True))

    def other_feature(indices: Any) -> dict[str, str | None]:
        return dict(zip(names, (None if i < 0 else names[i] for i in indices), strict=True))

    why, parameters = found.why(names, labels), method.parameters()
    given = None if parameters.get("fdr") is not None else n_selected  # Sieve refuses both together
    of_labels = {} if found.per_label is None else _per_label(found.per_label, names, labels)
    return {
        "format": FORMAT,
        "method": method.name,
        "features": names,
        "selected": [names[i] for i in found.order[:n_selected]],
        "order": [names[i] for i in found.order],
        "columns": [*found.columns(), *found.links()],  # what follows per feature
        **{name: per_feature(values) for name, values in found.columns().items()},
        **{name: other_feature(indices) for name, indices in found.links().items()},
        "labels": labels,
        **({"per_label": of_labels} if of_labels else {}),
        **({"why": why} if why else {}),
        "parameters": {**parameters, "n_features_to_select": given},
        **found.facts(),
        "n_rows": found.n_rows,
        "dropped": found.dropped,
        "left_out": list(found.left_out),
        **({} if seed is None else {"seed": seed}),
        "federation": federation,
        "versions": versions(),
        "bytes": bytes_by_kind(outcome.transcript),
        "transcript": [entry._asdict() for entry in outcome.transcript],
    }


def pairs_record(method: Method, found: Selection) -> dict[str, Any] | None:
    """How like the best of the chosen features are to each other, for a report; no part of what sites are sent.

    `values` holds, for each feature but the first, one number per feature before it.
    """
    told = found.pairs()
    if told is None:
        return None
    measure, values = told
    n_shown = min(len(values), MOST_PAIRED)
    rounded = np.round(values[:n_shown, :n_shown], PAIR_DECIMALS).tolist()
    return {
        "measure": measure,
        "features": [method.features[i] for i in found.order[:n_shown]],
        "values": [row[:place] for place, row in enumerate(rounded) if place],
    }


def pairs_of(record: Mapping[str, Any]) -> tuple[str, list[str], Float] | None:
    """What `pairs_record` told: the measure, the features, and the whole matrix; `None` where nothing is told."""
    pairs = record.get("pairs")
    if not pairs:
        return None
    n = len(pairs["features"])
    values = np.eye(n) if pairs["measure"] == CORRELATION else np.zeros((n, n))
    for place, row in enumerate(pairs["values"], start=1):
        values[place, :place] = values[:place, place] = row
    return pairs["measure"], pairs["features"], values


def _per_label(strength: Float, names: list[str], labels: list[str]) -> dict[str, dict[str, float | None]]:
    """Per label a number for each feature; one label is told as two classes, of which the second is the label."""
    rounded = np.round(strength[-len(labels) :], LABEL_DECIMALS).tolist()
    return {
        label: {name: None if isnan(value) else value for name, value in zip(names, values, strict=True)}
        for label, values in zip(labels, rounded, strict=True)
    }


def selection_text(record: dict[str, Any]) -> str:
    """The content of a `selection.json`."""
    return json.dumps(record, indent=1, allow_nan=False) + "\n"


def write_selection_json(text: str, folder: Path) -> None:
    """Write `selection.json` alone, in one step."""
    write_atomically(folder / JSON, lambda file: file.write_text(text, encoding="utf-8"))


def write_selection(record: dict[str, Any], folder: Path) -> None:
    """Write both files once both are complete, `selection.json` last."""
    text = selection_text(record)
    make_folder(folder)
    write_together(
        {
            folder / CSV: lambda file: _write_ranking(record, file),
            folder / JSON: lambda file: file.write_text(text, encoding="utf-8"),
        }
    )


def refuse_to_overwrite(
    folder: Path, way_out: str = "Choose another --out, or give --force to replace it.", *, force: bool = False
) -> None:
    """Stop before any work where none could be written, or, unless by `force`, where a result lies already."""
    check_folder(folder)
    if force:
        return
    present = [name for name in (JSON, CSV) if (folder / name).exists()]
    if present:
        raise DataError(f"{folder / present[0]} exists already. {way_out}")


def read_failure(folder: Path) -> str | None:
    """Why a run failed, if this is the folder of one that did."""
    file = folder / FAILED
    return str(read_json(file, {"reason": str}, way_out=f"Remove {file}.")["reason"]) if file.is_file() else None


def read_selection(path: Path, *, whole: bool = False) -> dict[str, Any]:
    """Read a `selection.json`, or that of a folder, and check that it is one.

    If `whole`, it must also have all that tables of results need of it.
    """
    path = path / JSON if path.is_dir() else path
    record = read_json(path)
    if not isinstance(record, dict) or record.get("format") != FORMAT or not _are_names(record, "selected", "order"):
        raise DataError(f"{path}: is no selection of format {FORMAT!r}, as 'fedsieve select' writes it.")
    if whole and not _is_whole(record):
        raise DataError(f"{path}: lacks parts of a selection; it is damaged. Run the selection again.")
    return record


def _is_whole(record: dict[str, Any]) -> bool:
    kinds = {"method": str, "columns": list, "dropped": dict, "transcript": list}
    if not all(isinstance(record.get(key), kind) for key, kind in kinds.items()) or not _are_names(record, "columns"):
        return False
    parameters = record.get("parameters")
    secure = isinstance(parameters, dict) and parameters.get("secure") is True  # then nobody knows rows of single sites
    if not isinstance(record.get("n_rows", ""), NoneType if secure else dict):
        return False
    order, numbers = set(record["order"]), ("round", "n_bytes")
    return all(isinstance(record.get(name), dict) and order == set(record[name]) for name in record["columns"]) and all(
        isinstance(entry, dict) and "sender" in entry and all(type(entry.get(key)) is int for key in numbers)
        for entry in record["transcript"]
    )


def _are_names(record: dict[str, Any], *keys: str) -> bool:
    return all(isinstance(record.get(key), list) and all(isinstance(n, str) for n in record[key]) for key in keys)


def _write_ranking(record: dict[str, Any], file: Path) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        columns = record["columns"]
        titles = ("score" if name == "scores" else name for name in columns)
        words = [title for title, key in (("labels", "per_label"), ("why", "why")) if key in record]
        writer.writerow(("rank", "feature", *titles, "selected", *words))
        for rank, name in enumerate(record["order"], start=1):
            numbers = (record[column][name] for column in columns)
            texts = (labels_of(record, name) if title == "labels" else record["why"][name] for title in words)
            writer.writerow((rank, name, *numbers, int(rank <= len(record["selected"])), *texts))


def labels_of(record: dict[str, Any], feature: str) -> str:
    """The labels that a feature tells something of, strongest first, with how much; for a cell of a table."""
    told = [(label, of_features[feature] or 0.0) for label, of_features in record["per_label"].items()]
    strongest = sorted(told, key=lambda pair: -pair[1])[:LABELS_SHOWN]
    return "; ".join(f"{label} {strength:.2f}" for label, strength in strongest if strength > 0)
