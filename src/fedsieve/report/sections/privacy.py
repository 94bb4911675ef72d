"""Privacy in a report: what left the sites and what it reveals, the rules, noise, and an audit where there is one."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

from fedsieve.messages import REPLIES, message_title
from fedsieve.protocol.cohort import SERVER
from fedsieve.text import visible

RULES = {
    "secure": "secure sums: the server sees totals only",
    "min_clients": "fewest sites",
    "min_rows": "fewest rows of a site",
    "min_cell": "fewest rows a number may describe",
    "rows_per_column": "rows that each compared column needs",
    "max_rows": "most rows that a site may claim",
    "epsilon": "epsilon, of noise",
    "delta": "delta, of noise",
}
"""Parameters that are rules of privacy, and what they say."""
NO_NOISE = ("delta",)  # says nothing without epsilon


def privacy_section(record: Mapping[str, Any], audit: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What left, under which rules, and what an audit found."""
    parameters = record["parameters"]
    secure, epsilon = parameters.get("secure") is True, parameters.get("epsilon")
    in_process = record["federation"] is None
    rules = [
        {"rule": words, "value": _value(parameters[name])}
        for name, words in RULES.items()
        if name in parameters and not (epsilon is None and name in NO_NOISE)
    ]
    return {
        "words": _words(secure, epsilon, in_process, record.get("privacy")),
        "left": _left(record["transcript"]),
        "rules": rules,
        "left_out": [visible(name) for name in record.get("left_out", [])],
        "audit": _audit(audit),
    }


def revealed(kind: type) -> str:
    """What follows "Reveals" in the docstring of a message, and what a reply can give away at worst."""
    found = re.search(r"Reveals (.*?)\.?(\n\n|$)", inspect.getdoc(kind) or "", re.DOTALL)
    if found is None:
        raise ValueError(f"the docstring of {kind.__name__} does not say what it reveals; add 'Reveals ...'.")
    return "; ".join(filter(None, (" ".join(found[1].split()), getattr(kind, "at_worst", ""))))


def _words(secure: bool, epsilon: float | None, in_process: bool, noise: Mapping[str, Any] | None) -> list[str]:
    words = ["Sites sent no table of rows, only the answers that are listed here, each with what it reveals."]
    if in_process:
        words.append("All tables were on one machine, which read them as the sites' own machines would.")
    words.append(
        "Sums were secure: the server saw totals over all sites, and no single site's answer."
        if secure
        else "Sums were not secure: the server saw every site's answers."
    )
    if noise and "words" in noise:
        words.append(visible(str(noise["words"])))
    elif epsilon is None:
        words.append("No noise was added: nothing here is differentially private.")
    return words


def _left(transcript: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per kind of message of the sites: how many, their bytes, and what one reveals."""
    found: dict[str, dict[str, Any]] = {}
    for one in transcript:
        if one["sender"] != SERVER:
            kind = one["kind"]
            reveals = revealed(REPLIES[kind]) if kind in REPLIES else ""
            row = found.setdefault(
                kind,
                {"kind": visible(kind), "title": message_title(kind), "messages": 0, "bytes": 0, "reveals": reveals},
            )
            row["messages"] += 1
            row["bytes"] += one["n_bytes"]
    return list(found.values())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else visible(f"{value:,}" if isinstance(value, int) else str(value))


def _audit(audit: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The section that `fedsieve audit` made, as text."""
    if audit is None:
        return None
    section = audit["section"]
    return {
        "words": [visible(str(one)) for one in section["words"]],
        "columns": [visible(str(one)) for one in section["columns"]],
        "rows": [[visible(str(cell)) for cell in row] for row in section["rows"]],
    }
