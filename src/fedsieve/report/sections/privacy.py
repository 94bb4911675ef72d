"""Privacy in a report: what left the sites and what it reveals, the rules, noise, and an audit where there is one."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

from fedsieve.messages import REPLIES, message_title
from fedsieve.protocol.cohort import SERVER
from fedsieve.report.sections.audit import audit_command, audit_part
from fedsieve.text import visible

RULES = {
    "secure": "secure sums: the server sees totals only",
    "min_clients": "fewest sites",
    "min_rows": "fewest rows of a site",
    "min_cell": "fewest rows of all sites that a number may describe",
    "rows_per_column": "rows of all sites that each compared column needs",
    "max_rows": "most rows that a site may claim",
    "epsilon": "epsilon, of noise",
    "delta": "delta, of noise",
}
"""Parameters that are rules of privacy, and what they say."""
IN_ALL = {"min_rows": "fewest rows of all sites"}  # what a rule is about where sums are secure
OF_SECURE_SUMS = ("min_cell", "rows_per_column")  # each site has such rules of its own, which the server is not told
NO_NOISE = ("delta",)  # says nothing without epsilon

OWN_RULES = "Each site applied its own policy.toml besides; the server is not told what it says."


def privacy_section(record: Mapping[str, Any], audit: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What left, under which rules, and what an audit found."""
    parameters = record["parameters"]
    secure, epsilon = parameters.get("secure") is True, parameters.get("epsilon")
    federation = record["federation"]
    idle = (*NO_NOISE * (epsilon is None), *OF_SECURE_SUMS * (not secure))
    agreed = {**parameters, **{name: federation[name] for name in RULES if federation and name in federation}}
    rules = [
        {"rule": words, "value": _value(agreed[name])}
        for name, words in ({**RULES, **IN_ALL} if secure else RULES).items()
        if name in agreed and name not in idle
    ]
    return {
        "words": _words(secure, epsilon, federation is None, record.get("privacy")),
        "left": _left(record["transcript"]),
        "rules": rules,
        "own_rules": "" if federation is None else OWN_RULES,
        "left_out": [visible(name) for name in record.get("left_out", [])],
        "audit": audit_part(audit, record),
        "audit_command": audit_command(record),
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
        words.append("All tables were on one machine, which processed each as its site would.")
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
