"""Sieve's reasons in words: why each feature is in or out, from the numbers that were found of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.methods.sieve_fdr import FdrFindings
from fedsieve.ordering import places, ranked, rounded

ALIKE = 0.7  # an absolute correlation from which two features are called alike
N_LABELS = 2  # that a sentence names
NEARLY = 0.5  # of the strongest label's value, from which a further label is worth its name
DECIMALS = 12  # of a score


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found of each feature; NaN (or -1) for those that were not compared with the others."""

    order: Int
    n_selected: int
    scores: Float
    relevance: Float
    redundancy: Float
    redundant_with: Int
    stability: Float
    rank_low: Float
    rank_high: Float
    chance: Float  # NaN throughout where it is not known
    per_label: Float  # (n_labels, n_features)
    error_rate: FdrFindings | None = None  # under fdr

    def reasons(self, names: Sequence[str], labels: Sequence[str]) -> list[dict[str, Any]]:
        """One row per feature, best first, with `why` in words; made for a data frame."""
        ranks, by_relevance = places(self.order) + 1, places(ranked(self.relevance)) + 1
        better = better_than_chance(self.scores, self.chance)
        rows = []
        for feature in self.order:
            twin = int(self.redundant_with[feature])
            row: dict[str, Any] = {
                "feature": names[feature],
                "rank": int(ranks[feature]),
                "selected": bool(ranks[feature] <= self.n_selected),
                "score": float(self.scores[feature]),
                "chance": float(self.chance[feature]),
                "better_than_chance": None if np.isnan(self.chance[feature]) else bool(better[feature]),
                "relevance": float(self.relevance[feature]),
                "redundancy": float(self.redundancy[feature]),
                "redundant_with": names[twin] if twin >= 0 else None,
                "stability": float(self.stability[feature]),
                "rank_low": float(self.rank_low[feature]),
                "rank_high": float(self.rank_high[feature]),
                "labels": helped(self.per_label[:, feature], labels),
            }
            if self.error_rate is not None:
                row["e_value"] = float(self.error_rate.e_value[feature])
            at = "" if self.error_rate is None else f" at a false discovery rate of {self.error_rate.q:g}"
            rows.append({**row, "why": _sentence(row, int(by_relevance[feature]), self.n_selected, at)})
        return rows


def better_than_chance(scores: Float, chance: Float) -> Bool:
    """Which scores are above what chance would hardly give; none of those whose band is not known."""
    above: Bool = rounded(scores, DECIMALS) > rounded(chance, DECIMALS)  # False for NaN
    return above


def helped(strength: Float, labels: Sequence[str]) -> list[str]:
    """The label that a feature goes with most, and further ones that it goes with at least half as much.

    >>> helped(np.array([0.3, np.nan, 0.5]), ["fever", "never", "pain"])
    ['pain', 'fever']
    >>> helped(np.array([0.2, np.nan, 0.5]), ["fever", "never", "pain"])
    ['pain']
    """
    known = np.nan_to_num(strength)
    least = NEARLY * float(known.max(initial=0.0))
    return [labels[label] for label in ranked(known)[:N_LABELS] if known[label] > 0 and known[label] >= least]


def _sentence(row: dict[str, Any], by_relevance: int, n_selected: int, at: str = "") -> str:
    state = (f"selected as {_th(row['rank'])} of {n_selected}" if row["selected"] else "not selected") + at
    relevant = "most relevant of all" if by_relevance == 1 else f"{_th(by_relevance)} in relevance"
    if np.isnan(row["redundancy"]):
        return f"{state}: {relevant}, too little to be compared with the others."
    parts = [relevant]
    if row["better_than_chance"] is False:
        parts[0] += ", no better than chance"
    elif row["labels"]:
        parts[0] += f", most for {' and '.join(map(repr, row['labels']))}"
    if not np.isnan(row["stability"]):
        often = f"{row['stability']:.0%}".replace("%", " %")
        parts.append(f"chosen in {often} of the bootstraps (rank {row['rank_low']:.0f} to {row['rank_high']:.0f})")
    if row["redundant_with"] is not None and row["redundancy"] >= ALIKE:
        parts.append(f"much like {row['redundant_with']!r}, which is chosen (|correlation| {row['redundancy']:.2f})")
    elif n_selected:
        parts.append("nothing chosen is much like it")
    return f"{state}: {'; '.join(parts)}."


def _th(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
