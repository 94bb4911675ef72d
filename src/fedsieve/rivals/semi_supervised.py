"""What the semi-supervised rivals share: rows with and without labels, a linear model whose rows rank the features."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.errors import DataError
from fedsieve.rivals.parameters import check_number, check_whole
from fedsieve.rivals.picking import order_by
from fedsieve.rivals.rival import Rival
from fedsieve.rivals.scaling import unit_scaled
from fedsieve.rivals.weight_search import AUTO, chosen_weights

Rule = tuple[str, Callable[[float], bool]]
ABOVE_ZERO: Rule = "above 0", lambda value: 0 < value < np.inf
AT_LEAST_ZERO: Rule = "of at least 0", lambda value: 0 <= value < np.inf


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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X (n_samples, n_features) by labels y: 0/1 (n_samples, n_labels), or classes.

        A row of y that is -1 throughout is unlabeled.
        """
        owner = type(self).__name__
        rows, labels, labeled = self._read(X, y, "Rows without labels are -1.")
        if not labeled.any():
            raise DataError(f"{owner}: all rows of y are -1; at least some rows must be labeled.")
        k = self._n_kept()
        self._check()
        given = {name: getattr(self, name) for name in self.weight_rules}
        self.weights_ = chosen_weights(owner, given, rows[labeled], labels[labeled], self._predict)
        model = self._model(unit_scaled(rows), labels, labeled, self.weights_)
        self.coef_, self.intercept_, self.objective_ = model.W, model.b, model.objective
        self.n_iter_ = len(model.objective)
        self._keep_ranking(model.scores, order_by(model.scores), k)
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
        check_whole(owner, "max_iter", self.max_iter)


def centered(table: Float) -> Float:
    """The table with column means of 0."""
    result: Float = table - table.mean(axis=0)
    return result


def known_labels(Y: Float, labeled: Bool) -> Float:
    """The labels, 0 in unlabeled rows."""
    return np.where(labeled[:, None], Y, 0.0)
