"""Scored: the server's model goes to the sites, which score their own rows; back comes how many these were."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float
from fedsieve.messages.base import Addend, Known, Reply, Request, Terms, check_all_columns
from fedsieve.messages.columns import Columns
from fedsieve.messages.label_model import LabelModel
from fedsieve.messages.reply_rules import rows_rule
from fedsieve.tables import Table, checked_batches
from fedsieve.values import dense


@dataclass(frozen=True, eq=False)
class Scored(Reply):
    """How many rows were scored. Reveals the number of rows."""

    n_rows: int

    def __add__(self, other: "Scored") -> "Scored":
        return Scored(self.n_rows + other.n_rows)


@dataclass(frozen=True, eq=False)
class AskScored(Request):
    """Server: here is a model; score your rows by it, for yourselves.

    Reveals the model: for ML-kNN the server's labeled rows themselves, in the selected columns, with their labels; for
    logistic regression its weights.
    """

    reply: ClassVar = Scored
    title: ClassVar = "the model goes to the sites"

    columns: Columns
    labels: tuple[str, ...]
    model: LabelModel

    def column_names(self) -> tuple[str, ...]:
        """Of labels nothing is read."""
        return self.columns.features

    def answer(self, table: Table) -> Scored:
        """Nothing but that it can be done."""
        for _ in checked_batches(table, self.columns.features, self.columns.missing):
            pass
        return Scored(table.n_rows)

    def table_for_site(self, table: Table) -> tuple[tuple[str, ...], Float]:
        """A score for each row and label."""
        return self.labels, scores_of(table, self.columns, self.model)

    def complaints(self, reply: Scored, known: Known) -> Iterator[str]:
        """A number of rows."""
        yield from rows_rule(reply.n_rows, known)

    def addends(self, n_rows: int) -> tuple[Addend, ...]:  # noqa: ARG002
        """None besides."""
        return ()

    def numbers(self, reply: Scored) -> tuple[np.ndarray, ...]:  # noqa: ARG002
        """None besides."""
        return ()

    def reply_of(self, n_rows: int, numbers: object, errors: object) -> Scored:  # noqa: ARG002
        """All rows."""
        return Scored(n_rows)


@dataclass(frozen=True, eq=False)
class ScoredTerms(Terms):
    """Any model of the selected columns and the agreed labels: what it finds stays at the site."""

    request: ClassVar = AskScored

    labels: tuple[str, ...] = ()

    def check(self, request: AskScored) -> None:
        """Exactly the columns that were selected in the run, and a model that is numbers of the right shapes."""
        super().check(request)
        check_all_columns(self.columns, self.labels, request)
        request.model.check(len(self.columns.features), len(self.labels))

    def reveals(self) -> str:
        """Next to nothing."""
        return "the number of rows; scores of the labels are computed here and stay here"


def scores_of(table: Table, columns: Columns, model: LabelModel) -> Float:
    """A score for each row and label, batch by batch."""
    batches = checked_batches(table, columns.features, columns.missing)
    return np.vstack([model.scores(dense(batch)) for batch in batches])
