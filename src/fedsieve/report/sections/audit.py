"""An audit in a report: what `fedsieve audit` found, whether it was of this selection, and how to make one that is."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from fedsieve.methods import METHODS
from fedsieve.text import counted, visible

SETTINGS = ("wire", "combine", "secure", "epsilon", "delta", "ranges")
"""Parameters by which other answers leave, as `fedsieve audit` has options for them."""
USUAL = {"ranges": "robust"}  # what the command takes where nothing is given, if that is not the method's default
DEMO = "fedsieve demo"  # has no table; audits without one are of the same digits


def audit_part(audit: Mapping[str, Any] | None, record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The section that `fedsieve audit` made, as text; of another method or table a warning comes first."""
    if audit is None:
        return None
    section = audit["section"]
    return {
        "warning": _of_another(audit, record),
        "words": [visible(str(one)) for one in section["words"]],
        "columns": [visible(str(one)) for one in section["columns"]],
        "rows": [[visible(str(cell)) for cell in row] for row in section["rows"]],
    }


def audit_command(record: Mapping[str, Any]) -> str | None:
    """What audits this method with these settings on such rows; `None` of a method that cannot be audited."""
    if record["method"] not in METHODS:
        return None
    if record["federation"] is not None:  # the agreement says the rest
        return "fedsieve audit FOLDER --table ROWS.csv -o audit.json"
    words = ["fedsieve audit", f"--method {record['method'].lower()}", *_options(record)]
    if not str(record.get("command")).startswith(DEMO):
        words.append("--table ROWS.csv")
    return " ".join([*words, "-o audit.json"])


def _options(record: Mapping[str, Any]) -> Iterator[str]:
    """The settings that are not what the command would take anyway."""
    usual = {part.name: part.default for part in fields(METHODS[record["method"]])} | USUAL
    for name, value in _settings(record["parameters"]).items():
        if value != usual.get(name):
            yield f"--{name}" if value is True else f"--{name} {shlex.quote(visible(str(value)))}"


def _settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those that can be compared: ranges that were declared column by column cannot, and delta is idle by itself."""
    known = {name: parameters[name] for name in SETTINGS if name in parameters}
    if not isinstance(known.get("ranges"), str):
        known.pop("ranges", None)
    if known.get("epsilon") is None:
        known.pop("delta", None)
    return known


def _of_another(audit: Mapping[str, Any], record: Mapping[str, Any]) -> str | None:
    """A warning where method, columns or what leaves are not the selection's."""
    if "method" not in audit:
        return "This audit does not say which method and columns it attacked; it may not be of the selection above."
    of = [visible(str(audit["method"]))]
    if audit["method"] == record["method"]:
        mine, its = (_settings(one["parameters"]) for one in (record, audit))
        of += [f"with {name} {visible(str(its[name]))}" for name in mine.keys() & its if mine[name] != its[name]]
    if set(audit["features"]) != set(record["order"]):
        of.append(f"on another table, of {counted(len(audit['features']), 'column')}")
    if len(of) == 1 and audit["method"] == record["method"]:
        return None
    return f"This audit is of {', '.join(of)}, not of the selection above."
