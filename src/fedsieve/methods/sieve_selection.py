"""What Sieve found of each feature: from units, which may be groups of them, to features, with the reasons."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.methods.missing import NOTHING, Missing
from fedsieve.methods.sieve_reasons import Findings
from fedsieve.ordering import places, ranked
from fedsieve.protocol.outcome import Selection
from fedsieve.sieve import Choice, Screening, UnitRanking

DECIMALS = 12  # of a score
INTERVAL = 0.9  # of the bootstraps have a feature's rank between the two that are told


@dataclass(frozen=True, eq=False)
class SieveSelection(Selection):
    """Also the reasons, per feature; NaN (or -1) for features that were screened out before they were compared."""

    ranks: dict[str, Float]  # per view, 1 is best
    redundancy: Float  # with the chosen feature most like it
    redundant_with: Int  # which one that is; -1 where there is none
    stability: Float  # share of bootstraps in which it is chosen
    rank_low: Float  # its ranks in nine of ten bootstraps are from here
    rank_high: Float  # to here
    chance: Callable[[], Float]  # the score that chance would hardly give it; found when it is first asked for
    choice: Choice | None  # how the number of features was chosen, where it was
    privacy: Mapping[str, Any] | None = None  # what noise promised and cost, where there was any
    missing: Missing = NOTHING  # how many values, as far as it was told

    def columns(self) -> dict[str, Float]:
        """With the reasons, and the share of missing values where any are."""
        ranks = {f"rank_{name}": rank for name, rank in self.ranks.items()}
        interval = {"rank_low": self.rank_low, "rank_high": self.rank_high}
        reasons = {"redundancy": self.redundancy, "stability": self.stability, **interval, "chance": self.chance()}
        gaps = {} if self.missing.share is None else {"missing": self.missing.share}
        return {**super().columns(), **reasons, **ranks, **gaps}

    def links(self) -> dict[str, Int]:
        """With what a feature is redundant with."""
        return {"redundant_with": self.redundant_with}

    def why(self, names: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
        """For every feature."""
        assert self.n_selected is not None
        assert self.per_label is not None
        found = Findings(
            self.order,
            self.n_selected,
            self.scores,
            self.relevance,
            self.redundancy,
            self.redundant_with,
            self.stability,
            self.rank_low,
            self.rank_high,
            self.chance(),
            self.per_label[-len(labels) :],  # one label is told as two classes, of which the second is the label
        )
        return {row["feature"]: row["why"] for row in found.reasons(names, labels)}

    def facts(self) -> dict[str, Any]:
        """With the losses by which the number of features was chosen, what noise promised and cost, what is missing."""
        others: dict[str, Any] = {} if self.privacy is None else {"privacy": dict(self.privacy)}
        others |= {} if self.missing.by_site is None else {"missing_by_site": self.missing.by_site}
        if self.choice is None:
            return others
        tried = zip(self.choice.sizes.tolist(), self.choice.loss.tolist(), self.choice.error.tolist(), strict=True)
        return {"sizes_tried": [{"k": k, "ranking_loss": loss, "error": error} for k, loss, error in tried], **others}


def of_units(
    unit_of: Int, ranking: UnitRanking, compared: Int, screening: Screening | None, unseen: str
) -> SieveSelection:
    """What was found of units, for their features; `compared` are the units that were not screened out."""
    n_units = int(unit_of.max()) + 1

    def per_feature(values: Float, of_others: Float | float = np.nan) -> Float:
        whole = np.full(n_units, of_others)
        whole[compared] = values
        return whole[unit_of]

    score: Float = np.zeros(n_units) if screening is None else screening.score - 1.0  # of others below 0
    rest = np.setdiff1d(np.arange(n_units), compared)
    in_order = np.concatenate([compared[ranking.order], rest[ranked(score[rest], decimals=DECIMALS)]])
    place = places(in_order)[unit_of]
    low, high = _rank_interval(ranking.orders, unit_of, compared, rest)
    per_label = ranking.per_label if screening is None else screening.per_label
    first_feature = np.unique(unit_of, return_index=True)[1]
    twin = ranking.redundant_with
    return SieveSelection(
        per_feature(ranking.score, score),
        ranked(-place, decimals=0),
        (ranking.relevance if screening is None else screening.relevance)[unit_of],
        {name: per_feature(view.rank + 1) for name, view in ranking.views.items()},
        per_feature(ranking.redundancy),
        per_feature(np.where(twin >= 0, first_feature[compared[twin]], -1).astype(float), -1).astype(np.int64),
        per_feature(ranking.stability),
        low,
        high,
        cache(lambda: per_feature(ranking.chance())),
        ranking.choice,
        n_selected=int((place < ranking.k).sum()),
        per_label=per_label[:, unit_of],
        unseen=unseen,
    )


def _rank_interval(orders: Int, unit_of: Int, compared: Int, rest: Int) -> tuple[Float, Float]:
    """From which to which rank each feature is in nine of ten bootstraps; NaN without any, and for the rest."""
    if not len(orders):
        unknown = np.full(len(unit_of), np.nan)
        return unknown, unknown
    in_orders = (places(np.concatenate([compared[order], rest]))[unit_of] for order in orders)
    ranks = np.array([places(ranked(-place, decimals=0)) + 1 for place in in_orders], dtype=np.float64)
    ranks[:, np.isin(unit_of, rest)] = np.nan
    share = (1 - INTERVAL) / 2
    low: Float = np.quantile(ranks, share, axis=0, method="lower")
    high: Float = np.quantile(ranks, 1 - share, axis=0, method="higher")
    return low, high
