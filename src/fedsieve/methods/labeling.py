"""Labeling: after a run, the server's model of the selected columns goes to the sites, and no row goes anywhere.

Each site scores its own rows, for itself. Those that know some labels count how the scores go with them, and the sums
of these counts tell how good the model is in the whole federation.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from fedsieve.messages import Terms
from fedsieve.messages.cells import CellsTerms
from fedsieve.messages.label_model import LabelModel
from fedsieve.messages.score_counts import AskScoreCounts, ScoreCountsTerms
from fedsieve.messages.scored import AskScored, ScoredTerms
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.follow_up import FollowUp
from fedsieve.protocol.method import Labeled, Method


@dataclass(frozen=True, eq=False)
class Labeling(FollowUp):
    """A model of the labels, and what is asked about its scores; sites know neither before they are sent it."""

    name: ClassVar[str] = "label"
    allows: ClassVar[str] = "sites score their rows by the server's model; those with labels send counts of the scores"
    why_not: ClassVar[dict[str, str]] = {"private": "counts of scores have no noise"}

    model: LabelModel | None = None
    least: int = 0  # rows in which counted sets differ

    @classmethod
    def labels_of(cls, method: Method, labels: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG003
        """All, which the server's model is of."""
        return labels

    @property
    def columns_read(self) -> tuple[str, ...]:
        """Labels are read where there are any."""
        return self.features

    def terms(self) -> tuple[Terms, ...]:
        """The model for scoring, then for counting."""
        cells = (CellsTerms(self.columns),) if self.secure else ()
        return (*cells, ScoredTerms(self.columns, self.labels), ScoreCountsTerms(self.columns, self.labels))

    def scoring(self) -> AskScored:
        """Score your rows."""
        assert self.model is not None
        return AskScored(self.columns, self.labels, self.model)

    def counting(self) -> AskScoreCounts:
        """Count the scores of rows whose labels you know."""
        assert self.model is not None
        return AskScoreCounts(self.columns, self.labels, self.model, self.least)

    def run(self, labeled: Labeled, cohort: Cohort) -> Steps[Any]:  # noqa: ARG002 (the model has learned from them)
        """Both totals, of a cohort that is seen as a whole only."""
        scored = yield from cohort.total(self.scoring())
        counts = yield from cohort.total(self.counting())
        return scored, counts
