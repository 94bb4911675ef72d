"""A model of labels as it travels: numbers, and how they are used; nothing in it is ever run."""

import hashlib
from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import ProtocolError
from fedsieve.measures.label_scores import logistic_scores, neighbor_scores
from fedsieve.messages.columns import Part

NEIGHBORS, LOGISTIC = "ML-kNN", "logistic"


@dataclass(frozen=True, eq=False)
class LabelModel(Part):
    """Scores of labels from the selected columns, by the rows that vote (ML-kNN) or by weights (logistic).

    A column of the model is a selected column, from `low` on in units of `width`, or, where `code` is a number, whether
    the selected column has that code. `fill` stands in for a missing value.
    """

    kind: str
    fill: Float  # (n_selected,)
    owner: Int  # (n_columns,), which selected column it is of
    code: Float
    low: Float
    width: Float
    rows: Float | None = None  # ML-kNN: labeled rows, (n_rows, n_columns)
    has_label: Int | None = None  # and which labels each has, (n_rows, n_labels) of 0 and 1
    posterior: Float | None = None  # (n_labels, k + 1), given how many of the k nearest have the label
    weights: Float | None = None  # logistic: (n_labels, n_columns)
    intercept: Float | None = None  # (n_labels,)

    def design(self, X: Float) -> Float:
        """The model's columns, from the selected ones."""
        filled = np.where(np.isnan(X), self.fill, X)[:, self.owner]
        columns: Float = np.where(np.isnan(self.code), (filled - self.low) / self.width, filled == self.code)
        return columns

    def scores(self, X: Float) -> Float:
        """Per row and label a number in [0, 1], larger where the label is more likely.

        Where numbers overflow it is 0.5: to refuse would tell the server which values make them.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            columns = self.design(X)
            if self.rows is not None and self.has_label is not None and self.posterior is not None:
                return neighbor_scores(columns, self.rows, self.has_label, self.posterior)
            assert self.weights is not None
            assert self.intercept is not None
            scores: Float = np.nan_to_num(logistic_scores(columns, self.weights, self.intercept), nan=0.5)
            return scores

    def digest(self) -> str:
        """By which one model is told from another."""
        hashed = hashlib.sha256(self.kind.encode())
        for part in (self.fill, self.owner, self.code, self.low, self.width):
            hashed.update(part.tobytes())
        for own in (self.rows, self.has_label, self.posterior, self.weights, self.intercept):
            hashed.update(b"-" if own is None else own.tobytes())
        return hashed.hexdigest()

    def check(self, n_selected: int, n_labels: int) -> None:
        """Raise `ProtocolError` for what is no model of so many columns and labels."""
        if reason := self._why_wrong(n_selected, n_labels):
            raise ProtocolError(f"was sent a model of {n_selected} columns and {n_labels} labels {reason}.")

    def _why_wrong(self, n_selected: int, n_labels: int) -> str:
        own = {
            NEIGHBORS: (self.rows, self.has_label, self.posterior),
            LOGISTIC: (self.weights, self.intercept),
        }
        others = [part for kind, parts in own.items() if kind != self.kind for part in parts]
        if self.kind not in own or any(part is None for part in own[self.kind]) or any(p is not None for p in others):
            return "that is neither ML-kNN nor logistic, or lacks a part"
        n = len(self.owner) if self.owner.ndim == 1 else -1
        per_column = ((part, (n,)) for part in (self.owner, self.code, self.low, self.width))
        shapes: list[tuple[np.ndarray, tuple[int, ...]]] = [(self.fill, (n_selected,)), *per_column]
        if self.rows is not None and self.has_label is not None and self.posterior is not None:
            n_rows, k = len(self.rows), self.posterior.shape[-1] - 1
            shapes += [(self.rows, (n_rows, n)), (self.has_label, (n_rows, n_labels))]
            shapes += [(self.posterior, (n_labels, k + 1))]
            if not 1 <= k <= n_rows or not np.isin(self.has_label, (0, 1)).all():
                return "whose neighbors are no labeled rows"
            if not np.all((self.posterior >= 0) & (self.posterior <= 1)):
                return "whose posteriors are no probabilities"
        if self.weights is not None and self.intercept is not None:
            shapes += [(self.weights, (n_labels, n)), (self.intercept, (n_labels,))]
        if n < 1 or any(part.shape != shape for part, shape in shapes):
            return "whose parts do not fit together"
        if np.any((self.owner < 0) | (self.owner >= n_selected)) or not np.all(self.width > 0):
            return "about columns that were not selected, or in units that are no numbers above 0"
        if not all(np.isfinite(part).all() for part, _ in shapes if part is not self.code):
            return "with numbers that are not finite"
        return ""
