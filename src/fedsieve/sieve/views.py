"""Views of which features matter, and how they are fused: what a look at the labeled rows is made of.

A blend says which views there are: `regression_views` has the default, `first_views` that of the first Sieve.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Int
from fedsieve.ordering import default_n_features, places, ranked, rounded
from fedsieve.sieve.label_model import label_correlations, label_varies

QUICK_SHARE = 4  # bootstraps and folds grow one tree where the ranking itself grows so many
DECIMALS = 12  # of a score


@dataclass(frozen=True, eq=False)
class FeatureView:
    """Per unit a relevance, adding up to 1, the rank by this view, 0 for the best, and its worth in [0, 1]."""

    relevance: Float
    rank: Float
    worth: Float

    @classmethod
    def by_relevance(cls, relevance: Float) -> "FeatureView":
        """Worth is relative to the most relevant unit; its root, since a relevance adds up like a square."""
        return cls(relevance, mean_ranks(relevance), worth_by_relevance(relevance, relevance))

    @classmethod
    def by_order(cls, relevance: Float, order: Int) -> "FeatureView":
        """Worth falls with the place in an order."""
        rank = places(order).astype(np.float64)
        return cls(relevance, rank, worth_by_place(rank, len(order)))


def worth_by_relevance(relevance: Float, of_all: Float) -> Float:
    """The root of a relevance, 1 for the largest of all."""
    worth: Float = np.sqrt(relevance / max(float(of_all.max()), np.finfo(np.float64).tiny))
    return worth


def worth_by_place(place: Float, n_units: int) -> Float:
    """m / (m + place), m being how many units are usually selected: the first tell little apart."""
    m = default_n_features(n_units)
    worth: Float = m / (m + place)
    return worth


@dataclass(frozen=True, eq=False)
class Screened:
    """What is known of the columns of a wide table: labeled rows, and over all rows variances and products.

    `products` are the covariances with the labels that `label_weights` predict, `trees` the shares of the units.
    """

    X: Float
    Y: Float
    weights: Float | None
    unit: Int
    ridge: float
    scale: Float  # standardizes the columns
    products: Float
    trees: Float


@dataclass(frozen=True)
class Tuning:
    """What is settled once by all labeled rows: bootstraps, folds and permutations have the same."""

    ridge: float  # the penalty of the linear model
    say: Mapping[str, float]  # how much each view counts


Evidence = dict[str, Float]
"""Per view, what labeled rows say of units or of their columns: comparable between labels of the same rows."""


class FeatureViews(ABC):
    """What the federation told of its columns, ready to be combined with labeled rows, again and again.

    `covariance` is that of all rows' encoded columns, `unit` the unit of each column; `likeness` (n_units, n_units) has
    the sums of squared covariances between the columns of two units, the inner products of their linear kernels.
    `shift`, (n_columns, n_labels), is what is known of the covariances with the predicted labels beyond `covariance`.
    """

    def __init__(
        self, covariance: Float, unit: Int, *, tuning: Tuning, n_trees: int, seed: int, shift: Float | None = None
    ) -> None:
        self.likeness = by_unit(by_unit(covariance**2, unit).T, unit)
        self._covariance, self._unit, self._shift = covariance, unit, shift
        self._tuning, self._n_trees, self._seed = tuning, n_trees, seed
        self._per_deviation = per_deviation(np.diagonal(covariance))

    @property
    def n_units(self) -> int:
        """How many units are compared."""
        return len(self.likeness)

    @staticmethod
    @abstractmethod
    def tuning(X: Float, Y: Float, weights: Float | None, scale: Float, ridge: float | None) -> Tuning:
        """What these labeled rows settle; `scale` standardizes columns, `ridge` is the penalty where it is given."""

    @staticmethod
    @abstractmethod
    def label_weights(X: Float, Y: Float, ridge: float, weights: Float | None, scale: Float) -> Float:
        """Weights of columns that predict the labels that vary, (n_columns, n_targets)."""

    @classmethod
    @abstractmethod
    def screened(cls, screened: "Screened") -> dict[str, FeatureView]:
        """The views as far as they need no comparison of two columns."""

    @abstractmethod
    def evidence(self, X: Float, Y: Float, weights: Float | None = None, *, quick: bool = False) -> Evidence:
        """Of labeled rows in encoded columns, per view; quick: with fewer trees."""

    @abstractmethod
    def seen(self, evidence: Evidence) -> dict[str, FeatureView]:
        """The views of it."""

    @abstractmethod
    def by_chance(self, real: Evidence, drawn: list[Evidence]) -> Float:
        """The score of each unit (last axis) in the real ranking, if it alone had its evidence by chance."""

    def of(self, X: Float, Y: Float, weights: Float | None = None) -> dict[str, FeatureView]:
        """All views of labeled rows."""
        return self.seen(self.evidence(X, Y, weights))

    def quick_order(self, X: Float, Y: Float, weights: Float | None = None) -> Int:
        """The units, best first, as some labeled rows show them; with fewer trees, since it is done many times."""
        return self.best_first(self.fused(self.seen(self.evidence(X, Y, weights, quick=True))))

    def best_first(self, score: Float) -> Int:
        """Units by descending score, those without variance last."""
        return ranked(score, decimals=DECIMALS, last=np.diagonal(self.likeness) <= 0)

    def per_label(self, X: Float, Y: Float, weights: Float | None = None) -> Float:
        """How each unit goes with each label over all rows, (n_labels, n_units); see `label_correlations`."""
        return label_correlations(self._predicted(X, Y, weights), self._per_deviation, self._unit, Y, weights)

    def fused(self, views: dict[str, FeatureView]) -> Float:
        """One score per unit, in [0, 1]: the weighted mean of what it is worth to the views."""
        return fused(views, self._tuning)

    def mean_relevance(self, views: dict[str, FeatureView]) -> Float:
        """One relevance per unit, adding up to 1."""
        return mean_relevance(views, self._tuning)

    def _trees(self, X: Float, Y: Float, weights: Float | None, *, quick: bool) -> Float:
        """How much randomized trees split the labeled rows by each unit."""
        n_trees = -(-self._n_trees // QUICK_SHARE) if quick else self._n_trees
        return by_unit(kernels.tree_importances(X, Y, n_trees, self._seed, weights), self._unit)

    def _predicted(self, X: Float, Y: Float, weights: Float | None) -> Float:
        """The covariances of all rows' columns with the labels that the labeled rows predict for them."""
        model = self.label_weights(X, Y, self._tuning.ridge, weights, self._per_deviation)
        predicted: Float = self._covariance @ model
        return predicted if self._shift is None else predicted + self._shift[:, label_varies(Y)]


def fused(views: dict[str, FeatureView], tuning: Tuning) -> Float:
    """What a unit is worth to the views, as much as each has to say."""
    return blended({name: view.worth for name, view in views.items()}, tuning)


def mean_relevance(views: dict[str, FeatureView], tuning: Tuning) -> Float:
    """How relevant a unit is to the views, as much as each has to say."""
    return blended({name: view.relevance for name, view in views.items()}, tuning)


def blended(values: dict[str, Float], tuning: Tuning) -> Float:
    """The weighted mean over views."""
    mean: Float = np.sum([tuning.say[name] * value for name, value in values.items()], axis=0)
    return mean


def per_deviation(variance: Float) -> Float:
    """What standardizes columns of these variances; 0 for constant ones."""
    deviation = np.sqrt(variance)
    return np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)


def as_shares(sums: Float) -> Float:
    """Parts of a whole of 1."""
    return sums / max(float(sums.sum()), np.finfo(np.float64).tiny)


def by_unit(per_column: Float, unit: Int) -> Float:
    """Sums over the columns (first axis) of each unit."""
    n_units = int(unit.max()) + 1
    if n_units == len(unit):  # every column is a unit, in order
        return per_column
    sums = np.zeros((n_units, *per_column.shape[1:]))
    np.add.at(sums, unit, per_column)
    return sums


def mean_ranks(scores: Float) -> Float:
    """The rank of each score, 0 for the largest; equal ones share the mean of their ranks.

    >>> mean_ranks(np.array([0.2, 0.5, 0.2, 0.0]))
    array([1.5, 0. , 1.5, 3. ])
    """
    _, place, counts = np.unique(-rounded(scores), return_inverse=True, return_counts=True)
    ranks: Float = np.cumsum(counts) - (counts + 1) / 2
    return ranks[place.ravel()]
