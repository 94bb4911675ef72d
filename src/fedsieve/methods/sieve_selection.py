"""What Sieve found of each feature: from units, which may be groups of them, to features, with the reasons."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.methods.missing import NOTHING, Missing
from fedsieve.methods.sieve_fdr import FdrFindings
from fedsieve.methods.sieve_reasons import Findings
from fedsieve.ordering import places, ranked
from fedsieve.protocol.outcome import CORRELATION, Selection
from fedsieve.sieve import Choice, PairStability, Screening, UnitRanking

DECIMALS = 12  # of a score
INTERVAL = 0.9  # of the bootstraps have a feature's rank between the two that are told


class Bootstraps(NamedTuple):
    """Per feature, what bootstraps of the labeled rows say of it; NaN without any."""

    stability: Float  # share of bootstraps in which it is chosen
    rank_low: Float  # its ranks in nine of ten bootstraps are from here
    rank_high: Float  # to here


@dataclass(frozen=True, eq=False)
class SieveSelection(Selection):
    """Also the reasons, per feature; NaN (or -1) for features that were screened out before they were compared."""

    ranks: dict[str, Float]  # per view, 1 is best
    redundancy: Float  # with the chosen feature most like it
    redundant_with: Int  # which one that is; -1 where there is none
    alike: Float  # how like the chosen features are to each other, best first, as far as they were compared
    bootstraps: Callable[[], "Bootstraps"]  # how stable the choice is; found when it is first asked for
    chance: Callable[[], Float]  # the score that chance would hardly give it; likewise
    halves: Callable[[], PairStability]  # how often halves of the labeled rows choose it; likewise
    choice: Choice | None  # how the number of features was chosen, where it was
    privacy: Mapping[str, Any] | None = None  # what noise promised and cost, where there was any
    missing: Missing = NOTHING  # how many values, as far as it was told
    error_rate: FdrFindings | None = None  # under fdr
    nothing_varies: bool = False  # in any row, as far as it was told

    @property
    def stability(self) -> Float:
        """Share of bootstraps in which a feature is chosen."""
        return self.bootstraps().stability

    def columns(self) -> dict[str, Float]:
        """With the reasons, and the share of missing values where any are."""
        ranks = {f"rank_{name}": rank for name, rank in self.ranks.items()}
        reasons = {"redundancy": self.redundancy, **self.bootstraps()._asdict(), "chance": self.chance()}
        gaps = {} if self.missing.share is None else {"missing": self.missing.share}
        rate = self.error_rate
        beaten = {} if rate is None else {"knockoff_margin": rate.margin, "e_value": rate.e_value}
        return {**super().columns(), **reasons, **ranks, **gaps, **beaten}

    def links(self) -> dict[str, Int]:
        """With what a feature is redundant with."""
        return {"redundant_with": self.redundant_with}

    def pairs(self) -> tuple[str, Float]:
        """By their correlation."""
        return CORRELATION, self.alike

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
            *self.bootstraps(),
            self.chance(),
            self.per_label[-len(labels) :],  # one label is told as two classes, of which the second is the label
            self.error_rate,
        )
        return {row["feature"]: row["why"] for row in found.reasons(names, labels)}

    def facts(self) -> dict[str, Any]:
        """With the losses by which the number of features was chosen, what noise promised and cost, what is missing."""
        others: dict[str, Any] = {} if self.privacy is None else {"privacy": dict(self.privacy)}
        others |= {} if self.error_rate is None else {"fdr": self.error_rate.facts()}
        others |= {"nothing_varies": True} if self.nothing_varies else {}
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
    per_label = ranking.per_label if screening is None else screening.per_label
    order = ranked(-place, decimals=0)
    n_selected = int((place < ranking.k).sum())
    seen = place[order[: int((place < len(ranking.alike)).sum())]]  # large groups leave room for fewer units than k
    first_feature = np.unique(unit_of, return_index=True)[1]
    twin = ranking.redundant_with
    return SieveSelection(
        per_feature(ranking.score, score),
        order,
        (ranking.relevance if screening is None else screening.relevance)[unit_of],
        {name: per_feature(view.rank + 1) for name, view in ranking.views.items()},
        per_feature(ranking.redundancy),
        per_feature(np.where(twin >= 0, first_feature[compared[twin]], -1).astype(float), -1).astype(np.int64),
        ranking.alike[np.ix_(seen, seen)],
        cache(
            lambda: Bootstraps(
                per_feature(ranking.stability), *_rank_interval(ranking.orders(), unit_of, compared, rest)
            )
        ),
        cache(lambda: per_feature(ranking.chance())),
        cache(lambda: ranking.halves().of_features(per_feature(ranking.halves().share))),
        ranking.choice,
        n_selected=n_selected,
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
