"""Sieve under differential privacy: one round, one noisy answer of each site, combined with the labeled rows."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.messages import Scaling
from fedsieve.messages.base import Budget
from fedsieve.messages.columns import DECLARED
from fedsieve.methods.compared_columns import check_compared
from fedsieve.methods.noisy_moments import NoisyAnswer, noisy_answer
from fedsieve.methods.ranges import present_range
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.method import Labeled
from fedsieve.sieve import Screening, UnitRanking, label_varies

if TYPE_CHECKING:
    from fedsieve.methods.sieve import SieveMethod
    from fedsieve.methods.sieve_selection import SieveSelection

LITTLE = 0.05  # a weight below which the sites hardly count


def private_run(method: "SieveMethod", labeled: Labeled, cohort: Cohort) -> "Steps[SieveSelection]":
    """Ask once; rank from the labeled rows' moments as the sites' noisy ones correct them."""
    assert method.epsilon is not None
    low, high = np.array([present_range(column) for column in labeled.X.T]).T
    scaling = method.declared_scaling or Scaling(low, high, DECLARED)
    encoding, table = method.encoded(scaling, labeled)  # what is missing there has the labeled rows' own mean
    check_compared(method, len(encoding.names))
    unit = method.unit_of[encoding.owner]
    _, model = method.label_weights(table, labeled.Y)
    budget = Budget(method.epsilon, method.delta)
    pairs = len(encoding.names) <= method.n_compared
    asked = (method.columns, scaling, table, model, budget, cohort)
    answer = yield from noisy_answer(*asked, pairs=pairs, max_rows=method.max_rows)
    ranking, compared, screening = _ranked(method, unit, table, labeled.Y, answer)
    found = method.selection(ranking, compared, screening, cohort.unseen)
    assert found.n_selected is not None
    selected = found.order[: found.n_selected]
    alone = method.ranking_again(selected)
    without = alone.selection(*_ranked(alone, unit, table, labeled.Y, None), cohort.unseen)
    changed = 1 - len(np.intersect1d(selected, without.order[: found.n_selected])) / len(selected)
    return replace(found, privacy=_facts(budget, answer, changed))


def _ranked(
    method: "SieveMethod", unit: Int, table: Float, Y: Float, answer: NoisyAnswer | None
) -> tuple[UnitRanking, Int, Screening | None]:
    """Units, ranked with the sites' answer or from the labeled rows alone; which were compared, and how screened."""
    rows = table - table.mean(axis=0)
    screening, here = None, np.ones(len(unit), dtype=bool)
    if len(unit) > method.n_compared:
        tuning, model = method.label_weights(table, Y)
        variance, products = (rows**2).mean(axis=0), rows.T @ (rows @ model) / len(rows)
        if answer is not None:
            variance, products = answer.correction.variance(variance), products + answer.projections()
        screening = method.screened(tuning, table, Y, unit, variance, products)
        here = screening.kept[unit]
    compared, unit_here = np.unique(unit[here], return_inverse=True)
    covariance, shift = rows[:, here].T @ rows[:, here] / len(rows), None
    if answer is not None:
        covariance, shift = _corrected(covariance, here, Y, answer)
    ranking = method.ranked(covariance, unit_here, table[:, here], Y, shift, screening=screening)
    return ranking, compared, screening


def _corrected(own: Float, here: Bool, Y: Float, answer: NoisyAnswer) -> tuple[Float, Float]:
    """The corrected covariance C of some columns, and what the corrected projections hold beyond C W, per label."""
    covariance = answer.correction.only(here).covariance(own)
    shift = np.zeros((len(own), Y.shape[1]))
    shift[:, label_varies(Y)] = answer.projections()[here] - (covariance - own) @ answer.model[here]
    return covariance, shift


def _facts(budget: Budget, answer: NoisyAnswer, changed: float) -> dict[str, Any]:
    found = answer.correction
    return {
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "noise_multiplier": answer.noise_multiplier,
        "noise_shares": answer.n_shares,
        "n_sites": answer.n_sites,
        "site_weight": found.weight,
        "rows_for_half": found.rows_for_half,
        "changed": changed,
        "words": _words(budget, found.weight, found.rows_for_half, changed),
    }


def _words(budget: Budget, weight: float, rows_for_half: float, changed: float) -> str:
    """What noise did, in plain words; also that it made the sites useless, where it did."""
    told = (
        f"With noise for epsilon {budget.epsilon:g} and delta {budget.delta:g} the sites have {100 * weight:.1f} % of "
        f"the say beside the labeled rows, and change {100 * changed:.0f} % of the selected features."
    )
    if weight >= LITTLE and changed > 0:
        return told
    why = "their weight is next to nothing" if weight < LITTLE else "the labeled rows alone select the same features"
    return (
        f"{told} This noise makes the sites useless here: {why}. About {rows_for_half:,.0f} rows at the sites would "
        "have half of the say; more rows, a larger epsilon or fewer columns help."
    )
