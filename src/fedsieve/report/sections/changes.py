"""What changed between two selections: features that entered, left or moved, and what was set otherwise."""

from collections.abc import Mapping
from typing import Any

from fedsieve.report.sections.provenance import shown
from fedsieve.text import visible

MOST_POINTS = 1000  # of the picture of ranks, best first
MOST_MOVED = 100
NONE = "-"


def changes_section(
    found: Mapping[str, Any], first: Mapping[str, Any], second: Mapping[str, Any], names: tuple[str, str]
) -> dict[str, Any]:
    """All that the page of a comparison shows, from what `compare_selections` found."""
    entered, left = set(found["entered"]), set(found["left"])
    chosen = [set(record["selected"]) for record in (first, second)]
    by_rank = sorted(found["features"], key=lambda row: min(row["first"], row["second"]))
    stayed = [row for row in found["features"] if row["feature"] not in entered | left and row["moved"]]
    moved = sorted(stayed, key=lambda row: -abs(row["moved"]))[:MOST_MOVED]
    changed = [row for row in found["features"] if row["feature"] in entered | left]
    return {
        "names": [visible(name) for name in names],
        "methods": [visible(name) for name in found["methods"]],
        "n_common": found["n_common"],
        "n_selected": found["n_selected"],
        "only_in_first": [visible(name) for name in found["only_in_first"][:MOST_MOVED]],
        "only_in_second": [visible(name) for name in found["only_in_second"][:MOST_MOVED]],
        "n_only": [len(found["only_in_first"]), len(found["only_in_second"])],
        "overlap_at": [{**row, "share": row["overlap"] / row["k"]} for row in found["overlap_at"]],
        "points": [{**_row(row), "state": _state(row["feature"], chosen)} for row in by_rank[:MOST_POINTS]],
        "rows": [
            *({**_row(row), "what": "entered" if row["feature"] in entered else "left"} for row in changed),
            *({**_row(row), "what": "moved"} for row in moved),
        ],
        "settings": _settings(first, second),
        "kendall": found["kendall"],
        "spearman": found["spearman"],
    }


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "feature": visible(row["feature"])}


def _state(feature: str, chosen: list[set[str]]) -> str:
    in_first, in_second = (feature in one for one in chosen)
    if in_first and in_second:
        return "in both"
    return "only in the first" if in_first else "only in the second" if in_second else "in neither"


def _settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[dict[str, str]]:
    """Method, parameters, sites, rows and versions that are not the same."""
    flat = [_flat(record) for record in (first, second)]
    return [
        {"name": visible(name), "first": flat[0].get(name, NONE), "second": flat[1].get(name, NONE)}
        for name in dict.fromkeys((*flat[0], *flat[1]))
        if flat[0].get(name) != flat[1].get(name)
    ]


def _flat(record: Mapping[str, Any]) -> dict[str, str]:
    rows = record.get("n_rows") or {}
    federation = record.get("federation") or {}
    found: dict[str, Any] = {"method": record["method"], "labels": record.get("labels")}
    found |= {f"parameter {name}": value for name, value in (record.get("parameters") or {}).items()}
    found |= {f"rows of {name}": n for name, n in rows.items()}
    found |= {f"version of {name}": value for name, value in (record.get("versions") or {}).items()}
    found |= {f"dropped: {name}": why for name, why in record.get("dropped", {}).items()}
    found |= {"agreement": federation["agreement"]} if "agreement" in federation else {}
    return {name: shown(value) for name, value in found.items()}
