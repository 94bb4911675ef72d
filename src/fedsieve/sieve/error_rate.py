"""A set of units with a stated error rate: of those selected, on average at most a share q helps with no label.

A unit helps if labels depend on it, all other units given. Each draw of knockoffs says by which margin W a unit beats
its knockoff; a unit that does not help is as likely to lose by a margin as to win by it, so that the losers count the
false among the winners (knockoff+). Draws are put together as e-values, whose mean is one too (Ren and Barber 2024), so
that the set does not hang on one draw.
"""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.measures.scaling import column_means
from fedsieve.ordering import rounded
from fedsieve.sieve.doubts import Doubts, doubts_of
from fedsieve.sieve.knockoff_margins import margins, targets
from fedsieve.sieve.knockoffs import APART, knockoffs_of
from fedsieve.sieve.label_model import label_varies
from fedsieve.sieve.streams import Stream

DRAWS = 10
MANY = 1_000_000
ROUNDING = 1e-9  # relative, of e-values that are compared


@dataclass(frozen=True, eq=False)
class ErrorRate:
    """What was selected at which error rate, per unit, and why."""

    q: float
    selected: Bool
    thresholds: Float  # the margin that was enough, per draw; infinite where none was
    e_value: Float
    enough: float  # the e-value from which units are selected; infinite where none is

    @property
    def least(self) -> int:
        """How many units a draw selects if it selects any; no more than `MANY` are counted."""
        return int(np.ceil(min(1 / draw_rate(self.q), MANY) - ROUNDING))


@dataclass(frozen=True, eq=False)
class Contest:
    """How units did against their knockoffs; and what speaks against the promise."""

    margin: Float  # W, (n_draws, n_units)
    varies: Bool  # per unit
    n_labeled: int
    n_all: int  # rows behind the covariance
    n_coordinates: int  # standardized columns of which none follows from others of its unit
    exact: bool  # knockoffs are exact for Gaussian rows; else their mean and covariance count as known
    follows: Bool  # per column: all others tell what its unit holds, so that it is not told from its knockoff
    rarer: Int  # per label that varies, how many labeled rows have the rarer of its two values
    doubts: Doubts

    def at(self, q: float) -> ErrorRate:
        """Those that are selected at this error rate."""
        real = self.margin[:, self.varies]
        thresholds = np.array([threshold(margin, draw_rate(q)) for margin in real])
        e, selected = np.zeros(len(self.varies)), np.zeros(len(self.varies), dtype=bool)
        e[self.varies] = np.mean([e_values(*one) for one in zip(real, thresholds, strict=True)], axis=0)
        selected[self.varies], enough = e_selected(e[self.varies], q)
        return ErrorRate(q, selected, thresholds, e, enough)


def contest(X: Float, Y: Float, mean: Float | None, covariance: Float, unit: Int, n_all: int, seed: int) -> Contest:
    """Units of labeled rows X, Y against knockoffs from the mean and covariance of all `n_all` rows, these among them.

    Without a mean the sites are shifted: of the covariance only correlations count, and means and deviations are those
    of the labeled rows. The order of columns plays no part.
    """
    order, unit_there, place = _by_content(X, unit, mean, covariance)
    some, C = X[:, order], covariance[np.ix_(order, order)]
    center, n_known = (some.mean(axis=0), None) if mean is None else (mean[order], n_all)
    C = _with_deviations(C, some) if mean is None else C
    W, of, exact = np.zeros((DRAWS, len(place))), np.zeros(0, dtype=np.int64), False
    follows = np.zeros(len(place), dtype=bool)
    if np.diagonal(C).any():
        knockoffs, coordinates = knockoffs_of(some, center, C, unit_there, n_known)
        T, of, exact = targets(Y), coordinates.unit, knockoffs.n_all is not None
        for draw in range(DRAWS):
            stand_ins = knockoffs.drawn(Stream.KNOCKOFFS.rng(seed, draw))
            W[draw] = margins(knockoffs.rows, stand_ins, of, len(place), T)
        follows = _follow(knockoffs.distance, of, len(place))
        W[:, follows] = 0.0
    return Contest(
        margin=W[:, place],
        varies=np.isin(place, of),
        n_labeled=len(X),
        n_all=n_all,
        n_coordinates=len(of),
        exact=exact,
        follows=follows[place][unit],
        rarer=_rarer(Y),
        doubts=doubts_of(X, mean, covariance, unit),
    )


def draw_rate(q: float) -> float:
    """The error rate at which a single draw selects: half of q, so that a unit need not win in all draws.

    A draw at rate r selects 1 / r units or more, or none. Where half of q would ask for more than 13 it is larger.

    >>> [draw_rate(q) for q in (0.1, 0.2, 0.3)]
    [0.075, 0.1, 0.15]
    """
    return max(q / 2, min(3 * q / 4, 0.075))


def smallest_rate(n_units: int) -> float:
    """The smallest q at which so many units can be selected.

    >>> [round(smallest_rate(n), 3) for n in (8, 20, 40)]
    [0.25, 0.067, 0.033]
    """
    return (4 / 3 if n_units > 13 else 2) / n_units


def threshold(margin: Float, q: float) -> float:
    """Knockoff+: the smallest t > 0 with (1 + units that lose by t) / (units that win by t) ≤ q; infinite for none.

    >>> threshold(np.array([5.0, 4.0, 3.0, -1.0, 2.0, 0.5]), 0.25)
    2.0
    """
    for t in np.unique(np.abs(margin[margin != 0])):
        if 1 + (margin <= -t).sum() <= q * max(int((margin >= t).sum()), 1) * (1 + ROUNDING):
            return float(t)
    return np.inf


def e_values(margin: Float, at: float) -> Float:
    """n / (1 + losers) for winners at a threshold, else 0; of units that do not help, at most n together on average."""
    return np.asarray(len(margin) * (margin >= at) / (1 + (margin <= -at).sum()))


def e_selected(e: Float, q: float) -> tuple[Bool, float]:
    """Those of the k largest of n e-values, for the largest k of which all are at least n / (q k); and what that is.

    >>> e_selected(np.array([20.0, 0.0, 11.0, 4.0]), 0.2)
    (array([ True, False,  True, False]), 10.0)
    """
    n, in_order = len(e), np.sort(e)[::-1]
    reached = np.flatnonzero(q * np.arange(1, n + 1) * in_order >= n * (1 - ROUNDING))
    if not len(reached):
        return np.zeros(n, dtype=bool), np.inf
    enough = n / (q * float(reached[-1] + 1))
    return e >= enough * (1 - ROUNDING), enough


def _by_content(X: Float, unit: Int, mean: Float | None, covariance: Float) -> tuple[Int, Int, Int]:
    """Columns by their values, those of a unit side by side; the unit of each there, and where each unit is now.

    Columns that are equal in the labeled rows, as words that none of them has, go by what all rows tell of them.
    """
    moments = np.column_stack([*([] if mean is None else [mean]), np.diagonal(covariance)])
    others = np.sort(covariance - np.diag(np.diagonal(covariance)), axis=0).T
    told = np.hstack([rounded(moments), rounded(others)]).tolist()  # rounded: sites may add up in any order
    values = [*zip(X.T.tolist(), told, strict=True)]
    members: list[list[int]] = [[] for _ in range(int(unit.max()) + 1)]
    for column in sorted(range(len(values)), key=values.__getitem__):
        members[unit[column]].append(column)
    in_order = sorted(range(len(members)), key=lambda number: [values[column] for column in members[number]])
    columns = np.array([column for number in in_order for column in members[number]], dtype=np.int64)
    there = np.repeat(np.arange(len(members)), [len(members[number]) for number in in_order])
    return columns, there, np.argsort(in_order)


def _with_deviations(covariance: Float, X: Float) -> Float:
    """The covariance with these correlations and the deviations of X."""
    deviation = np.sqrt(np.diagonal(covariance))
    own = np.sqrt(((X - column_means(X)) ** 2).mean(axis=0))
    factor = np.divide(own, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    return np.asarray(covariance * factor[:, None] * factor)


def _follow(distance: Float, unit: Int, n_units: int) -> Bool:
    """Units that vary, but of which no coordinate is apart from its knockoff: the others tell it, as they tell a sum.

    Of one that helps, the margin would be large with the sign of chance, and one such loss can end a draw. That it is
    left out follows from the covariance of all rows, as the distances do: margins of others still only change sign
    where a unit and its knockoff change places.
    """
    largest = np.zeros(n_units)
    np.maximum.at(largest, unit, distance)
    return np.asarray((largest < APART) & np.isin(np.arange(n_units), unit))


def _rarer(Y: Float) -> Int:
    labels = Y[:, label_varies(Y)]
    return np.asarray(np.minimum((labels == 1).sum(axis=0), (labels == 0).sum(axis=0)), dtype=np.int64)
