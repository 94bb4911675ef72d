"""How a result came about: parameters, versions, seeds, and the command to reproduce it."""

import json
from collections.abc import Mapping
from typing import Any

from fedsieve.text import visible

MOST_TEXT = 200  # characters of one value: a list of all nominal columns would be a page of its own


def provenance_section(record: Mapping[str, Any]) -> dict[str, Any]:
    """All that is needed to reproduce it."""
    parameters = record["parameters"]
    seeds = {"seed of the method": parameters.get("seed"), "seed of the partition": record.get("seed")}
    federation = record["federation"] or {}
    return {
        "method": visible(record["method"]),
        "parameters": named_values(parameters),
        "versions": named_values(record["versions"]),
        "seeds": [{"name": name, "value": shown(seed)} for name, seed in seeds.items() if seed is not None],
        "command": visible(record["command"]) if record.get("command") else None,
        "labels": [visible(label) for label in record["labels"]],
        "run": [
            {"name": name, "value": shown(federation[name])}
            for name in ("run", "name", "agreement", "engine")
            if federation.get(name)
        ],
        "reranked_from": record.get("reranked_from"),
    }


def named_values(values: Mapping[str, Any]) -> list[dict[str, str]]:
    """Names and values as rows of text."""
    return [{"name": visible(name), "value": shown(value)} for name, value in values.items()]


def shown(value: Any) -> str:
    """A value of a record, as short text.

    >>> shown("robust"), shown([1, 2]), shown(None), shown(0.3)
    ('robust', '[1, 2]', 'none', '0.3')
    """
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = visible(text)
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} … ({len(text)} characters)"
