"""FMLFS as a federated method (our reading): average the sites' information, then rank by Pareto fronts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.measures.pareto import crowding, pareto_fronts
from fedsieve.messages import Terms
from fedsieve.messages.information import AskInformation, Information, InformationTerms
from fedsieve.methods.ranges import agreed_scaling, ranges_terms, scaling_agreed_on
from fedsieve.ordering import ranked, rounded
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.method import Labeled
from fedsieve.protocol.outcome import Selection
from fedsieve.protocol.supervised import SupervisedMethod

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


@dataclass(frozen=True, eq=False)
class FMLFSMethod(SupervisedMethod):
    """The parameters of one selection by FMLFS (our reading), and its run."""

    name: ClassVar[str] = "FMLFS"
    fidelity: ClassVar[str] = "our reading"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **SupervisedMethod.choices,
        "weighting": ("rows", "plain"),
        "relevance": ("mean", "max"),
    }

    n_bins: int = 3
    weighting: str = "rows"
    relevance: str = "mean"

    def __post_init__(self) -> None:
        """Check what is FMLFS's own after what all methods share."""
        super().__post_init__()
        self.check_count("n_bins", 2)
        self.check_secure()

    def terms(self) -> tuple[Terms, ...]:
        """Ranges, then information in bins."""
        information = InformationTerms(self.columns, *scaling_agreed_on(self), labels=self.labels, n_bins=self.n_bins)
        return (*ranges_terms(self), information)

    def run(self, labeled: Labeled, cohort: Cohort) -> Steps[FrontSelection]:
        """The server's rows are one more site's."""
        own, scaling = self.server_table(labeled), (yield from agreed_scaling(self, labeled, cohort))
        request = AskInformation(self.columns, self.labels, scaling, self.n_bins)
        replies: dict[str, Information] = yield from cohort.each(request)
        sites = [*replies.values(), request.answer(own)]

        weights = np.array([site.n_rows if self.weighting == "rows" else 1 for site in sites], dtype=np.float64)
        information = np.average([site.relevance for site in sites], axis=0, weights=weights)
        distances = np.average([site.apart for site in sites], axis=0, weights=weights)
        relevance: Float = information.mean(axis=1) if self.relevance == "mean" else information.max(axis=1)
        apart = _sums(distances, len(self.features))

        values = rounded(relevance), rounded(apart)
        front = pareto_fronts(*values)
        room = crowding(*values, front)
        scores = -rounded(front + 1.0 / (1.0 + room), DECIMALS)
        order = ranked(scores, decimals=DECIMALS)
        return FrontSelection(scores, order, relevance, apart, front, room, per_label=information.T)


def _sums(upper: Float, n_features: int) -> Float:
    """The sum of each feature's distances to all others."""
    sums = np.zeros(n_features)
    for end in np.triu_indices(n_features, 1):
        np.add.at(sums, end, upper)
    return sums
