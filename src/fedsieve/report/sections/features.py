"""The features in a report: the table of all, the curve of their scores, how certain their ranks are."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from fedsieve.protocol.outcome import CORRELATION
from fedsieve.selection_file import pairs_of
from fedsieve.text import visible

DIGITS = 4  # significant ones of a number that is shown
MOST_CERTAIN = 40  # chosen features whose ranks are drawn
MOST_POINTS = 600  # of the curve
COLUMNS: dict[str, tuple[str, int, str]] = {
    "scores": ("Score", 3, "what the order follows; larger is better"),
    "chance": ("chance", 3, "a score that chance alone would rarely reach (permuted labels)"),
    "relevance": ("Relevance", 4, "how much it tells of the labels"),
    "redundancy": ("Redundancy", 2, "how like it is to the chosen feature most like it, 0 to 1"),
    "redundant_with": ("most like", 0, "the chosen feature most like it"),
    "distance": ("Distance", 3, "to the chosen feature most like it; the smaller, the more alike"),
    "most_like": ("most like", 0, "the chosen feature most like it"),
    "stability": ("Stability", 2, "share of bootstraps in which it is chosen"),
    "knockoff_margin": ("Margin", 4, "how far it is ahead of its knockoff, a feature that knows no label"),
    "e_value": ("Evidence", 2, "its e-value: how much speaks for it where the error rate is controlled"),
    "radius": ("Radius", 4, "within which two values count as related"),
    "missing": ("Missing", 3, "share of values that are missing"),
}
"""Column of a record -> its title, decimals, and what it means. Others are shown by their own names, at the end."""
BENEATH = {
    "chance": "scores",
    "redundant_with": "redundancy",
    "most_like": "distance",
    "e_value": "knockoff_margin",
    "ranks": "rank",
}
"""Columns that stand in small letters beneath another one, if that is there."""
OF_CHOSEN = ("redundancy", "redundant_with")
HIDDEN = ("rank_low", "rank_high", "rank_linear", "rank_together", "rank_alone", "rank_trees")
"""Told otherwise, or the ranks of a method's own parts."""


def features_section(record: Mapping[str, Any]) -> dict[str, Any]:
    """All features, best first: per column one list, so that twenty thousand stay small."""
    order, nearest = record["order"], _nearest(record)
    told = {**{name: record[name] for name in record["columns"]}, **nearest}
    if not record["selected"]:  # then nothing is like what is chosen
        told = {name: values for name, values in told.items() if name not in OF_CHOSEN}
    shown = [name for name in (*COLUMNS, *_others(record)) if name in told]
    columns = [_column(name) for name in shown]
    values: dict[str, list[Any]] = {name: [plain(told[name].get(feature)) for feature in order] for name in shown}
    if "rank_low" in record["columns"]:
        columns.append({"key": "ranks", "title": "range", "digits": 0, "kind": "text", "about": RANGE_MEANS})
        values["ranks"] = [_interval(record, feature) for feature in order]
    for column in columns:
        over = BENEATH.get(column["key"])
        column["beneath"] = over if over in (*shown, "rank") else None
    return {
        "n_chosen": len(record["selected"]),
        "n_features": len(order),
        "names": [visible(name) for name in order],
        "columns": columns,
        "values": values,
        "why": [visible(record["why"][feature]) for feature in order] if "why" in record else [],
    }


RANGE_MEANS = "the ranks that it has in nine of ten bootstraps"


def scores_section(record: Mapping[str, Any]) -> dict[str, Any]:
    """The scores from best to worst with the cut; of very many features, all near the cut and every so many beyond."""
    order, k = record["order"], len(record["selected"])
    chance = record["chance"] if "chance" in record["columns"] else {}
    points = [
        {
            "rank": place + 1,
            "feature": visible(order[place]),
            "score": plain(record["scores"][order[place]]),
            "chance": plain(chance.get(order[place])),
        }
        for place in _places(len(order), k)
    ]
    return {"cut": k, "points": points, "knows_chance": bool(chance)}


def certainty_section(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The best chosen features with the ranks that they have over bootstraps; none where nobody looked."""
    if "rank_low" not in record["columns"]:
        return []
    return [
        {
            "feature": visible(name),
            "rank": rank,
            "low": record["rank_low"][name],
            "high": record["rank_high"][name],
            "stability": plain(record["stability"].get(name)) if "stability" in record["columns"] else None,
        }
        for rank, name in enumerate(record["selected"][:MOST_CERTAIN], start=1)
        if record["rank_low"][name] is not None and record["rank_high"][name] is not None
    ]


def no_better_than_chance(record: Mapping[str, Any]) -> list[str] | None:
    """The chosen features that score no better than chance; `None` where that is not known."""
    band = record.get("chance", {}) if "chance" in record["columns"] else {}
    if not band:
        return None
    scores = record["scores"]
    return [name for name in record["selected"] if name in band and not _is_above(scores[name], band[name])]


def plain(value: Any) -> Any:
    """A number with few digits, text that is harmless to show, or `None`.

    >>> plain(0.123456), plain(float("nan")), plain(12345.0), plain("a")
    (0.1235, None, 12345, 'a')
    """
    if isinstance(value, str):
        return visible(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if not isfinite(value):
        return None
    if value == int(value):
        return int(value)
    return float(f"{value:.{DIGITS}g}")


def _nearest(record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Of each chosen feature the one most like it, where pairs have distances and no redundancy is told."""
    pairs = pairs_of(record)
    if pairs is None or pairs[0] == CORRELATION or "redundancy" in record["columns"] or len(pairs[1]) < 2:
        return {}
    _, names, distances = pairs
    apart = distances + np.diag(np.full(len(names), np.inf))
    nearest = apart.argmin(axis=1)
    return {
        "distance": {name: float(apart[i, nearest[i]]) for i, name in enumerate(names)},
        "most_like": {name: names[nearest[i]] for i, name in enumerate(names)},
    }


def _others(record: Mapping[str, Any]) -> list[str]:
    return [name for name in record["columns"] if name not in COLUMNS and name not in HIDDEN]


def _column(name: str) -> dict[str, Any]:
    if name in COLUMNS:
        title, digits, about = COLUMNS[name]
    elif name.startswith("rank_"):
        method = name.removeprefix("rank_")
        title, digits, about = f"By {method}", 0, f"its rank by {method}"
    else:
        title, digits, about = name.replace("_", " "), 3, ""
    kind = "feature" if name in ("redundant_with", "most_like") else "number"
    return {"key": name, "title": title, "digits": digits, "kind": kind, "about": about}


def _interval(record: Mapping[str, Any], feature: str) -> str:
    low, high = record["rank_low"][feature], record["rank_high"][feature]
    return "" if low is None or high is None else f"{low:.0f} to {high:.0f}"


def _is_above(score: float | None, band: float | None) -> bool:
    return score is not None and (band is None or score > band)


def _places(n: int, k: int) -> list[int]:
    """Which places of the order the curve has: all of a few, else those up to twice the cut and some of the rest."""
    if n <= MOST_POINTS:
        return list(range(n))
    near = range(min(n, max(2 * k, MOST_POINTS // 2)))
    near_step, step = max(1, len(near) // (MOST_POINTS // 2)), max(1, (n - len(near)) // (MOST_POINTS // 2))
    return sorted({*near[::near_step], max(k - 1, 0), *range(len(near), n, step), n - 1})
