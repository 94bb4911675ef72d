"""Sieve's blend: a forward regression of the predicted labels, and randomized trees for what is not linear.

- linear: units taken one by one, each the one that explains most of what the units before it leave of the labels. A
  ridge regression, fitted on the labeled rows, predicts these labels for all rows of the federation.
- trees: what randomized trees split the labeled rows by.
"""

from functools import cached_property

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.ordering import default_n_features, ranked
from fedsieve.sieve.forward import Matrix, OfRows, Path, forward_path
from fedsieve.sieve.label_model import STRENGTHS, label_model, label_says, model_left_out
from fedsieve.sieve.views import (
    Evidence,
    FeatureView,
    FeatureViews,
    Screened,
    Tuning,
    as_shares,
    blended,
    by_unit,
    worth_by_place,
    worth_by_relevance,
)

STEPS = 2  # times the usual number of units are taken one by one, the others by what they would still explain
LINEAR, LEAST = 0.7, 0.1  # the say of the regression: usually, and at least
ENOUGH = 0.005  # of the labels, explained in rows left out: with less, the regression's say falls in proportion
ROUNDING = 1e-10  # relative: gains that differ less are equal, and equal ones go to chance


class RegressionViews(FeatureViews):
    """The default."""

    @staticmethod
    def tuning(X: Float, Y: Float, weights: Float | None, scale: Float, ridge: float | None) -> Tuning:
        """The penalty that errs least on rows left out; where it explains next to nothing of them, trees decide."""
        model = model_left_out(X, Y, weights, scale, STRENGTHS if ridge is None else (ridge,))
        linear = min(max(LINEAR * model.explained / ENOUGH, LEAST), LINEAR)
        return Tuning(model.strength, {"linear": linear, "trees": 1 - linear})

    @staticmethod
    def label_weights(X: Float, Y: Float, ridge: float, weights: Float | None, scale: Float) -> Float:
        """Those of a ridge regression on standardized columns."""
        return scale[:, None] * label_model(X, Y, ridge, weights, scale)

    @classmethod
    def screened(cls, screened: Screened) -> dict[str, FeatureView]:
        """Half as many units as there are labeled rows are taken one by one, the others by what they explain alone.

        Which columns are alike only the labeled rows can tell here: enough not to keep copies of a few columns alone.
        """
        standardized = screened.scale[:, None] * screened.products * label_says(screened.Y, screened.weights)
        alone = by_unit((standardized**2).sum(axis=1), screened.unit)
        n_rows = len(screened.X) if screened.weights is None else int(screened.weights.sum())
        n_taken = min(n_rows // 2, STEPS * default_n_features(len(alone)))
        among = OfRows(_of_length_1(screened.X, screened.weights))
        path = forward_path(among, standardized, screened.unit, n_taken)
        taken = path.order[: path.n_taken]
        rest = ranked(alone, last=np.isin(np.arange(len(alone)), taken))[: len(alone) - len(taken)]
        order = np.concatenate([taken, rest]).astype(np.int64)
        return {
            "linear": FeatureView.by_order(as_shares(alone), order),
            "trees": FeatureView.by_relevance(screened.trees),
        }

    def evidence(self, X: Float, Y: Float, weights: Float | None = None, *, quick: bool = False) -> Evidence:
        """Covariances of standardized columns with the predicted labels, as these count; and what trees use."""
        return {
            "linear": self._per_deviation[:, None] * self._predicted(X, Y, weights) * label_says(Y, weights),
            "trees": self._trees(X, Y, weights, quick=quick),
        }

    def seen(self, evidence: Evidence) -> dict[str, FeatureView]:
        """Places in the forward regression, and what trees use."""
        path, trees = self._path(evidence), as_shares(evidence["trees"])
        return {
            "linear": FeatureView.by_order(as_shares(path.alone), path.order),
            "trees": FeatureView.by_relevance(trees),
        }

    def by_chance(self, real: Evidence, drawn: list[Evidence]) -> Float:
        """With the place in the real regression of what a unit explains in a regression of labels dealt anew."""
        path = self._path(real)
        places = np.array([places_by_gain(path, self._path(one).gain) for one in drawn], dtype=np.float64)
        trees = np.array([one["trees"] for one in drawn])
        worth = {"linear": worth_by_place(places, self.n_units), "trees": worth_by_relevance(trees, real["trees"])}
        return blended(worth, self._tuning)

    def _path(self, evidence: Evidence) -> Path:
        return forward_path(self._correlations, evidence["linear"], self._unit, self._n_taken)

    @cached_property
    def _correlations(self) -> Matrix:
        return Matrix(self._covariance * self._per_deviation[:, None] * self._per_deviation)

    @property
    def _n_taken(self) -> int:
        return STEPS * default_n_features(self.n_units)


def places_by_gain(path: Path, gain: Float) -> Int:
    """Behind how many of the others each unit would come, if it alone explained so much where it is taken."""
    enough = gain * (1 + ROUNDING)
    n_larger: Int = len(gain) - np.searchsorted(np.sort(path.gain), enough, side="right")
    places: Int = n_larger - (path.gain > enough)
    return np.where(path.varies, places, int(path.varies.sum()))


def _of_length_1(rows: Float, weights: Float | None) -> Float:
    """Columns from their means, of length 1; those that do not vary are 0."""
    w = np.ones(len(rows)) if weights is None else weights
    deviations = np.sqrt(w)[:, None] * (rows - w @ rows / w.sum())
    length = np.where(np.ptp(rows, axis=0) > 0, np.sqrt((deviations**2).sum(axis=0)), 0.0)
    unit: Float = deviations * np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return unit
