"""Score counts: how many rows with and without each label have a score in each bin, at sites that hold some labels."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import ProtocolError
from fedsieve.measures.label_ranking import row_average_precisions, row_ranking_losses
from fedsieve.measures.told_sets import ToldSets, told_counts
from fedsieve.messages.base import Addend, Known, Reply, Request, Terms, check_all_columns
from fedsieve.messages.columns import Columns, same_names
from fedsieve.messages.label_model import LabelModel
from fedsieve.messages.reply_rules import names_rule, rows_rule, shape_rule
from fedsieve.messages.scored import scores_of
from fedsieve.messages.site_view import SiteView
from fedsieve.tables import Table
from fedsieve.values import dense

SCORE_BINS, ROW_BINS = 20, 50  # equal parts of [0, 1]
N_MEASURES = 2  # of a row: average precision, ranking loss
COUNTED_AS = 4  # columns, as any weighted sum of some


@dataclass(frozen=True, eq=False)
class ScoreCounts(Reply):
    """Per label and bin of scores, how many rows are known not to have it, and to have it; rows by how well they rank.

    Reveals how many rows have each label, how labels go with the model's scores, up to bins, and how many rows there
    are; of a site without labels the last alone.
    """

    at_worst: ClassVar[str] = (
        "at worst, as the server chooses the model, how many rows lie on which side of thresholds of its choice, no "
        "two of these sets fewer than min_cell apart; with two labels and more, by adding such sets up, whether a row "
        "that it guessed is there"
    )

    n_rows: int
    labels: tuple[str, ...]
    counts: Int  # (n_labels, 2, SCORE_BINS)
    ranked: Int  # (N_MEASURES, ROW_BINS), of rows whose labels are all known, and that have some but not all

    def __add__(self, other: "ScoreCounts") -> "ScoreCounts":
        names = same_names(self.labels, other.labels)
        return ScoreCounts(self.n_rows + other.n_rows, names, self.counts + other.counts, self.ranked + other.ranked)


@dataclass(frozen=True, eq=False)
class AskScoreCounts(Request):
    """Server: how do the scores of this model go with the labels that you know. Reveals the model, as `AskScored` does.

    No two sets of rows that are counted differ in fewer than `least` rows.
    """

    reply: ClassVar = ScoreCounts
    title: ClassVar = "counts of scores by known labels"

    columns: Columns
    labels: tuple[str, ...]
    model: LabelModel
    least: int

    def answer(self, table: Table) -> ScoreCounts:
        """Zeros where no labels are known."""
        counts = np.zeros((len(self.labels), 2, SCORE_BINS), dtype=np.int64)
        ranked = np.zeros((N_MEASURES, ROW_BINS), dtype=np.int64)
        known = set(table.names)
        if all(name in known for name in self.labels):
            scores, Y = scores_of(table, self.columns, self.model), dense(table.whole(self.labels))
            told = ToldSets(table.n_rows, self.least)
            for place, (score, y) in enumerate(zip(scores.T, Y.T, strict=True)):
                counts[place] = told_counts(_bins(score, SCORE_BINS), [y == 0, y == 1], SCORE_BINS, told)
            ranked = _ranked(scores, Y, told)
        return ScoreCounts(table.n_rows, self.labels, counts, ranked)

    def complaints(self, reply: ScoreCounts, known: Known) -> Iterator[str]:
        """Counts of rows, each of which is in one bin of a label at most."""
        yield from names_rule(reply.labels, self.labels, "labels")
        yield from rows_rule(reply.n_rows, known)
        yield from shape_rule("counts", reply.counts, (len(self.labels), 2, SCORE_BINS))
        yield from shape_rule("ranked", reply.ranked, (N_MEASURES, ROW_BINS))
        both = (reply.counts, reply.ranked)
        if any(part.dtype != np.int64 or np.any(part < 0) for part in both):
            yield "sent counts that are no whole numbers of at least 0."
        if any(np.any(part.reshape(len(part), -1).sum(axis=1) > reply.n_rows) for part in both):
            yield f"sent counts of more than its {reply.n_rows} rows."

    def addends(self, n_rows: int) -> tuple[Addend, ...]:
        """Counts."""
        shapes = ((len(self.labels), 2, SCORE_BINS), (N_MEASURES, ROW_BINS))
        return tuple(Addend(shape, n_rows, whole=True) for shape in shapes)

    def numbers(self, reply: ScoreCounts) -> tuple[np.ndarray, ...]:
        """Counts."""
        return reply.counts, reply.ranked

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: object) -> ScoreCounts:  # noqa: ARG002
        """Whole numbers are exact."""
        return ScoreCounts(n_rows, self.labels, *numbers)

    def pins(self) -> dict[str, object]:
        """The model, of which columns, and what is left out: two that differ would tell of the rows between."""
        return {"the model whose scores are counted": self.about()}

    def about(self) -> list[object]:
        """All that decides which sets of rows are counted."""
        return [list(self.columns.features), list(self.labels), self.model.digest(), self.least]


@dataclass(frozen=True, eq=False)
class ScoreCountsTerms(Terms):
    """Counts of one model's scores, of no few rows, under one agreement."""

    request: ClassVar = AskScoreCounts
    lasting: ClassVar = True

    labels: tuple[str, ...] = ()

    def check(self, request: AskScoreCounts) -> None:
        """Exactly the columns that were selected in the run, and a model that is numbers of the right shapes."""
        super().check(request)
        check_all_columns(self.columns, self.labels, request)
        request.model.check(len(self.columns.features), len(self.labels))

    def check_site(self, request: AskScoreCounts, site: SiteView) -> None:
        """Sets of rows differ in `min_cell` rows at least; rows are enough for a model's scores, four columns each."""
        if request.least < site.min_cell:
            raise ProtocolError(
                f"was asked for counts of {request.least} rows and more; its policy asks for {site.min_cell} "
                "(min_cell). Ask again with --min-cell."
            )
        way_out = "Let sites of more rows take part."
        site.check_enough_rows(self.tells(request, site), "counts of scores", way_out)

    def tells(self, request: AskScoreCounts, site: SiteView) -> Mapping[str, int]:
        """Where labels are known, the scores of each."""
        if site.table is None or not set(self.labels) <= set(site.table.names):
            return {}
        about = hashlib.sha256(json.dumps(request.about()).encode()).hexdigest()[:16]
        return {f"scores of {name!r} by model {about}": COUNTED_AS for name in self.labels}

    def reveals(self) -> str:
        """Counts."""
        return (
            f"where labels are known, how many rows have each of {len(self.labels)} labels, and in which of "
            f"{SCORE_BINS} bins the model's scores of rows with and without it lie; {ScoreCounts.at_worst}"
        )


def _bins(values: Float, n_bins: int) -> Int:
    """In which of equal parts of [0, 1] each value lies."""
    bins: Int = np.clip((values * n_bins).astype(np.int64), 0, n_bins - 1)
    return bins


def _ranked(scores: Float, Y: Float, told: ToldSets) -> Int:
    """Rows by their average precision, and by their ranking loss."""
    n_having = (Y == 1).sum(axis=1)
    rankable = ~np.isnan(Y).any(axis=1) & (n_having > 0) & (n_having < Y.shape[1])
    measures = row_average_precisions(Y == 1, scores), row_ranking_losses(Y == 1, scores)
    return np.vstack([told_counts(_bins(one, ROW_BINS), [rankable], ROW_BINS, told) for one in measures])
