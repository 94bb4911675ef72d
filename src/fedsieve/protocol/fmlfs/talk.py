"""The server's side of FMLFS (our reading): average the sites' information, then rank by Pareto fronts."""

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.measures.pareto import crowding, pareto_fronts
from fedsieve.measures.rounding import rounded
from fedsieve.protocol import messages as m
from fedsieve.protocol.cohort import Cohort, Talk
from fedsieve.protocol.fmlfs.plan import FMLFSPlan
from fedsieve.protocol.labeled_answers import information_of
from fedsieve.protocol.plan import Labeled
from fedsieve.protocol.selection import Selection
from fedsieve.protocol.summaries import ranges_of

DECIMALS = 12  # of a score, so that no rank depends on a machine's rounding


@dataclass(frozen=True, eq=False)
class FrontSelection(Selection):
    """Also how far each feature is from the others, its front, and the room around it there."""

    apart: Float
    front: Int
    crowding: Float

    def columns(self) -> dict[str, Float]:
        """With distances and fronts."""
        return {**super().columns(), "apart": self.apart, "front": self.front.astype(np.float64)}


def select_by_fronts(plan: FMLFSPlan, labeled: Labeled, cohort: Cohort) -> Talk[FrontSelection]:
    """One run with one cohort; the server's rows are one more site's."""
    own_ranges = ranges_of(labeled.X, plan.features)
    ranges: m.Ranges = reduce(add, (yield from cohort.ask(m.AskRanges(plan.columns))), own_ranges)
    request = m.AskInformation(plan.columns, plan.labels, m.Scaling(ranges.low, ranges.high), plan.n_bins)
    sites: list[m.Information] = yield from cohort.ask(request)
    sites = [*sites, information_of(labeled.X, labeled.Y, request)]

    weights = np.array([site.n_rows if plan.weighting == "rows" else 1 for site in sites], dtype=np.float64)
    information = np.average([site.relevance for site in sites], axis=0, weights=weights)
    distances = np.average([site.apart for site in sites], axis=0, weights=weights)
    relevance: Float = information.mean(axis=1) if plan.relevance == "mean" else information.max(axis=1)
    apart = _sums(distances, len(plan.features))

    values = rounded(relevance), rounded(apart)
    front = pareto_fronts(*values)
    room = crowding(*values, front)
    scores = -np.round(front + 1.0 / (1.0 + room), DECIMALS)
    order: Int = np.argsort(-scores, kind="stable")
    return FrontSelection(scores, order, relevance, dict(cohort.n_rows), apart, front, room)


def _sums(upper: Float, n_features: int) -> Float:
    """The sum of each feature's distances to all others."""
    sums = np.zeros(n_features)
    for end in np.triu_indices(n_features, 1):
        np.add.at(sums, end, upper)
    return sums
