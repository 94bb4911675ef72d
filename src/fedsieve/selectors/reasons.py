"""Numbers of Sieve as sentences that a person can repeat."""

from typing import Any

import numpy as np

ALIKE = 0.7  # an absolute correlation from which two features are called alike


def in_words(found: Any, names: list[str]) -> list[dict[str, Any]]:
    """One row per feature, best first; `found` is a fitted Sieve."""
    n_selected = int(found.support_.sum())
    by_relevance = np.argsort(np.argsort(-found.relevance_, kind="stable"), kind="stable") + 1
    rows = []
    for feature in found.order_:
        twin = int(found.redundant_with_[feature])
        row = {
            "feature": names[feature],
            "rank": int(found.ranking_[feature]),
            "selected": bool(found.support_[feature]),
            "score": float(found.scores_[feature]),
            "relevance": float(found.relevance_[feature]),
            "redundancy": float(found.redundancy_[feature]),
            "redundant_with": names[twin] if twin >= 0 else None,
            "stability": float(found.stability_[feature]),
        }
        rows.append({**row, "why": _sentence(row, int(by_relevance[feature]), n_selected)})
    return rows


def _sentence(row: dict[str, Any], by_relevance: int, n_selected: int) -> str:
    state = f"selected as {_th(row['rank'])} of {n_selected}" if row["selected"] else "not selected"
    relevant = "most relevant of all" if by_relevance == 1 else f"{_th(by_relevance)} in relevance"
    if np.isnan(row["redundancy"]):
        return f"{state}: {relevant}, too little to be compared with the others."
    often = "" if np.isnan(row["stability"]) else f"; chosen in {row['stability']:.0%} of the bootstraps"
    alike = "nothing chosen is much like it"
    if row["redundant_with"] is not None and row["redundancy"] >= ALIKE:
        alike = f"much like {row['redundant_with']!r}, which is chosen (|correlation| {row['redundancy']:.2f})"
    return f"{state}: {relevant}{often.replace('%', ' %')}; {alike}."


def _th(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
