"""Weights of a semi-supervised method chosen from its labeled rows: some of their labels are hidden and predicted."""

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.errors import DataError
from fedsieve.learning.metrics import ranking_loss
from fedsieve.rivals.picking import best_of

AUTO = "auto"
GRID = (1.0, 0.01, 100.0)
N_FOLDS = 3
LEAST_ROWS = 6

Predict = Callable[[Float, Float, Bool, Mapping[str, float]], Float]
"""From rows, labels, which of these may be used, and weights: scores (n_rows, n_labels) of all rows."""


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
