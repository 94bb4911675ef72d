"""What the semi-supervised rivals share: rows with and without labels, a linear model whose rows rank the features."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.checks import AT_LEAST_ZERO, Rule, check_count, check_number
from fedsieve.errors import DataError
from fedsieve.learning.metrics import ranking_loss
from fedsieve.measures.scaling import unit_scaled
from fedsieve.ordering import best_of, ranked
from fedsieve.rivals.rival import Rival
from fedsieve.rivals.row_sparse import shared_by_copies
from fedsieve.selectors.ranking import refuse_weights

AUTO = "auto"
GRID = (1.0, 0.01, 100.0)
N_FOLDS = 3
LEAST_ROWS = 6

Predict = Callable[[Float, Float, Bool, Mapping[str, float]], Float]
"""From rows, labels, which of these may be used, and weights: scores (n_rows, n_labels) of all rows."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Predicts centered(table) @ W + b; the objective is its value after each step, the scores rank the features."""

    W: Float  # (n_features, n_labels)
    b: Float  # (n_labels,)
    objective: Float
    scores: Float  # (n_features,), larger is better


class SemiSupervisedRival(Rival):
    """A selector that ranks from rows with and without labels in one place; a subclass says how in `_model`.

    After `fit`: `scores_` (larger is better), `order_` (indices, best first), `ranking_` (1 is best), `support_`;
    `coef_` (n_features, n_labels) and `intercept_` (n_labels,) of the features scaled to [0, 1] and then centered;
    `objective_` after each step, `n_iter_`, how many there were, and `weights_`, the weights by name.
    """

    weight_rules: ClassVar[Mapping[str, Rule]]
    """The parameters that weigh terms of the objective, in the order in which "auto" tries them."""
    tol: float
    max_iter: int

    def fit(self, X: Any, y: Any = None, **others: Any) -> Self:
        """Rank the features of X (n_samples, n_features) by labels y: 0/1 (n_samples, n_labels), or classes.

        A row of y that is -1 throughout is unlabeled.
        """
        refuse_weights(self, others)
        owner = type(self).__name__
        rows, labels, labeled = self._read(X, y, "Rows without labels are -1.")
        if not labeled.any():
            raise DataError(f"{owner}: all rows of y are -1; at least some rows must be labeled.")
        k = self._n_kept()
        with self._plain_parameters():
            self._check()
            given = {name: getattr(self, name) for name in self.weight_rules}
            self.weights_ = chosen_weights(owner, given, rows[labeled], labels[labeled], self._predict)
            table = unit_scaled(rows)
            model = self._model(table, labels, labeled, self.weights_)
        self.coef_, self.intercept_, self.objective_ = model.W, model.b, model.objective
        self.n_iter_ = len(model.objective)
        scores = shared_by_copies(model.scores, table)
        self._keep_ranking(scores, ranked(scores), k)
        return self

    @abstractmethod
    def _model(self, table: Float, Y: Float, labeled: Bool, weights: Mapping[str, float]) -> LinearModel:
        """The model of the scaled rows; where `labeled` is false, the rows of Y mean nothing."""

    def _predict(self, X: Float, Y: Float, labeled: Bool, weights: Mapping[str, float]) -> Float:
        table = unit_scaled(X)
        model = self._model(table, Y, labeled, weights)
        predictions: Float = centered(table) @ model.W + model.b
        return predictions

    def _check(self) -> None:
        """Refuse bad parameters; a subclass adds its own."""
        owner = type(self).__name__
        for name, (rule, holds) in self.weight_rules.items():
            value = getattr(self, name)
            if value != AUTO:
                check_number(owner, name, value, f'{rule}, or "{AUTO}"', holds)
        check_number(owner, "tol", self.tol, *AT_LEAST_ZERO)
        check_count(owner, "max_iter", self.max_iter)


def centered(table: Float) -> Float:
    """The table with column means of 0."""
    result: Float = table - table.mean(axis=0)
    return result


def known_labels(Y: Float, labeled: Bool) -> Float:
    """The labels, 0 in unlabeled rows."""
    return np.where(labeled[:, None], Y, 0.0)


def in_box(rows: Float) -> Float:
    """The nearest values in [0, 1].

    >>> in_box(np.array([[-0.2, 0.3, 1.5]]))
    array([[0. , 0.3, 1. ]])
    """
    return np.clip(rows, 0.0, 1.0)


def chosen_weights(
    owner: str, weights: Mapping[str, float | str], X: Float, Y: Float, predict: Predict
) -> dict[str, float]:
    """The weights with a number in place of each "auto": that of GRID with the least ranking loss on hidden labels.

    The weights of a method are relative to sums over rows, so what is best for these rows need not be so for many more.
    X and Y are labeled rows. Row i has its labels hidden in fold i mod N_FOLDS, and the loss is the mean over the
    folds. Of equal losses the first combination wins, where the last weight changes fastest.
    """
    searched = [name for name, value in weights.items() if value == AUTO]
    combinations = [
        {name: float(value) for name, value in {**weights, **dict(zip(searched, values, strict=True))}.items()}
        for values in product(GRID, repeat=len(searched))
    ]
    if not searched:
        return combinations[0]
    folds = _folds(owner, searched, Y)
    losses = np.array(
        [
            np.mean([ranking_loss(Y[hidden], predict(X, Y, ~hidden, combination)[hidden]) for hidden in folds])
            for combination in combinations
        ]
    )
    return combinations[best_of(np.ones(len(losses), dtype=bool), -losses)]


def _folds(owner: str, searched: list[str], Y: Float) -> list[Bool]:
    """Which rows are hidden in each fold; each must have a row whose labels can be ranked wrongly."""
    parameters = f'{", ".join(searched)}="{AUTO}"'
    if len(Y) < LEAST_ROWS:
        raise DataError(f"{owner}: {parameters} needs at least {LEAST_ROWS} labeled rows; got {len(Y)}. Give numbers.")
    folds = [np.arange(len(Y)) % N_FOLDS == fold for fold in range(N_FOLDS)]
    rankable = np.ptp(Y, axis=1) > 0
    if any(not rankable[hidden].any() for hidden in folds):
        raise DataError(
            f"{owner}: {parameters} needs rows with some but not all labels in each of {N_FOLDS} folds of the labeled "
            "rows. Give numbers."
        )
    return folds
