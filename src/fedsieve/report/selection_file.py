"""A selection on disk: `selection.json` with everything about the run, `ranking.csv` to look at."""

import csv
import json
from pathlib import Path
from typing import Any

from fedsieve.errors import DataError
from fedsieve.files import write_together
from fedsieve.transport.record import FORMAT

JSON, CSV = "selection.json", "ranking.csv"


def write_selection(record: dict[str, Any], folder: Path) -> None:
    """Write both files once both are complete, `selection.json` last."""
    text = json.dumps(record, indent=1, allow_nan=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error.strerror}.") from None
    write_together(
        {
            folder / CSV: lambda file: _write_ranking(record, file),
            folder / JSON: lambda file: file.write_text(text + "\n", encoding="utf-8"),
        }
    )


def refuse_to_overwrite(folder: Path, way_out: str = "Choose another --out, or give --force to replace it.") -> None:
    """Stop before any work where a result lies already."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: is a file; the result needs a folder.")
    present = [name for name in (JSON, CSV) if (folder / name).exists()]
    if present:
        raise DataError(f"{folder / present[0]} exists already. {way_out}")


def read_selection(path: Path) -> dict[str, Any]:
    """Read a `selection.json` and check that it is one."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise DataError(f"{path}: is no valid JSON: {error}.") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT or not _are_names(record, "selected", "order"):
        raise DataError(f"{path}: is no selection of format {FORMAT!r}, as 'fedsieve select' writes it.")
    return record


def _are_names(record: dict[str, Any], *keys: str) -> bool:
    return all(isinstance(record.get(key), list) and all(isinstance(n, str) for n in record[key]) for key in keys)


def _write_ranking(record: dict[str, Any], file: Path) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        columns = record["columns"]
        titles = ("score" if name == "scores" else name for name in columns)
        writer.writerow(("rank", "feature", *titles, "selected"))
        for rank, name in enumerate(record["order"], start=1):
            numbers = (record[column][name] for column in columns)
            writer.writerow((rank, name, *numbers, int(rank <= len(record["selected"]))))
