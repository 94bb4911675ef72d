"""One noisy answer of every site instead of exact sums: what the server asks, from its own rows, and makes of it.

Center, clipping radius and the bound of predicted labels are taken from the labeled rows, which are the server's own:
they cost no budget.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import ProtocolError
from fedsieve.messages import Columns, Request, Scaling
from fedsieve.messages.base import Budget
from fedsieve.messages.clipped_moments import (
    FRACTION,
    MAX_WEIGHTS,
    PAIRS,
    RADIUS,
    SQUARES,
    AskClippedMoments,
    ClippedMoments,
)
from fedsieve.messages.columns import square
from fedsieve.privacy.noise import noise_multiplier, noise_scales
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.sieve import Correction, MomentSums, correction
from fedsieve.tables import ArrayTable

UNCLIPPED = 0.9  # share of the labeled rows that are left as they are
ROOM = 12.0  # standard deviations of noise that no honest number reaches


@dataclass(frozen=True, eq=False)
class NoisyAnswer:
    """What the sites add to the labeled rows' moments, per label; how many took part, and with how much noise."""

    correction: Correction
    model: Float  # weights (n_columns, n_labels) that predict the labels
    n_sites: int
    noise_multiplier: float
    n_shares: int  # 1 where each site has the whole noise

    def projections(self) -> Float:
        """What they add to the covariances with the predicted labels."""
        return self.correction.projections(np.zeros_like(self.model), self.model)


def noisy_answer(
    columns: Columns,
    scaling: Scaling,
    table: Float,
    model: Float,
    budget: Budget,
    cohort: Cohort,
    *,
    pairs: bool,
    max_rows: int,
) -> Steps[NoisyAnswer]:
    """Ask the sites. `table` are the labeled rows' encoded columns, `model` the weights that predict their labels."""
    asked = _Question.of(columns, scaling, table, model, pairs=pairs)
    multiplier = noise_multiplier(budget.epsilon, budget.delta)
    scales = noise_scales(asked.request.noise_units(), multiplier, cohort.noise_shares)
    why_implausible = _implausible(scales, max_rows)
    cohort.observe(why_implausible)
    nobody = asked.request.answer(ArrayTable(columns.features, np.zeros((0, len(columns.features)))))
    total: ClippedMoments = yield from cohort.total(asked.request, nobody)
    if cohort.unseen and (reason := why_implausible("", asked.request, total)):
        raise ProtocolError(f"the total over the sites {reason} Which site broke the rule, nobody can tell.")
    n_sites = total.n_sites - nobody.n_sites
    variances = _with_values(total, n_sites * scales.astype(np.float64) ** 2)
    rows, labels = asked.request.whole_rows(table)
    found = correction(
        rows / asked.per_row,
        labels / asked.per_label,
        asked.moments(total.parts(), 1),
        asked.moments(variances, 2),
    )
    per_label = Correction(
        found.mean, found.second, found.products @ asked.directions, found.weight, found.rows_for_half
    )
    return NoisyAnswer(per_label, model, n_sites, multiplier, cohort.noise_shares)


@dataclass(frozen=True, eq=False)
class _Question:
    """The request, and what turns its whole numbers back into units of encoded columns and of predicted labels."""

    request: AskClippedMoments
    per_row: float
    per_label: float
    directions: Float  # (n_directions, n_labels): labels are asked about in directions of descending spread

    @classmethod
    def of(cls, columns: Columns, scaling: Scaling, table: Float, model: Float, *, pairs: bool) -> "_Question":
        center = table.mean(axis=0)
        rows = table - center
        directions = np.linalg.svd(rows @ model, full_matrices=False)[2]
        weights = model @ directions.T
        length = _quantile(np.linalg.norm(rows, axis=1))
        per_row = RADIUS / length
        clipped = rows * np.minimum(1.0, length / np.maximum(np.linalg.norm(rows, axis=1), length))[:, None]
        per_label = RADIUS / _quantile(np.linalg.norm(clipped @ weights, axis=1))
        longest = float(np.linalg.norm(weights, axis=0).max(initial=0.0)) * per_label / per_row * 2.0**FRACTION
        per_label /= max(1.0, 2 * longest / MAX_WEIGHTS)
        whole_weights = np.rint(weights * (per_label / per_row * 2.0**FRACTION)).astype(np.int64)
        second, units = (PAIRS if pairs else SQUARES), np.full(len(center), per_row)
        request = AskClippedMoments(columns, scaling, center, units, whole_weights, second)
        return cls(request, per_row, per_label, directions)

    def moments(self, parts: dict[str, Any], power: int) -> MomentSums:
        """Sums in units of encoded columns, or with power 2 their variances."""
        n, second = len(parts["sums"]), parts["second"].astype(np.float64)
        return MomentSums(
            max(0.0, float(parts["count"][0]) / RADIUS**power),
            parts["sums"] / self.per_row**power,
            (second if len(second) == n and self.request.second == SQUARES else square(second, n))
            / self.per_row ** (2 * power),
            parts["products"] / (self.per_row * self.per_label) ** power,
        )


def _with_values(total: ClippedMoments, values: Float) -> dict[str, Any]:
    """The blocks of another vector of the same kind."""
    return ClippedMoments(total.n_sites, total.features, total.second, values).parts()  # type: ignore[arg-type]


def _quantile(lengths: Float) -> float:
    """The length that most labeled rows stay below; rows without any are of no use, and any radius will do."""
    return float(np.quantile(lengths, UNCLIPPED)) or float(lengths.max()) or 1.0


def _implausible(scales: Int, max_rows: int) -> Callable[[str, Request, Any], str | None]:
    """An observer that refuses what so many clipped rows, and the agreed noise, do not give."""

    def why(_client: str, request: Request, reply: Any) -> str | None:
        if not isinstance(request, AskClippedMoments):
            return None
        parts = reply.parts()
        room = {
            name: ROOM * np.sqrt(reply.n_sites) * part
            for name, part in _with_values(reply, scales.astype(np.float64)).items()
        }
        rows = float(parts["count"][0] + room["count"][0]) / RADIUS
        if rows < 0 or parts["count"][0] > max_rows * reply.n_sites * RADIUS + room["count"][0]:
            return f"claims about {reply.n_rows} rows; agreed are at most {max_rows} for a site (max_rows), and noise."
        largest = {"sums": rows * RADIUS, "second": rows * RADIUS**2, "products": rows * RADIUS**2}
        if any(np.any(np.abs(parts[name]) > most + room[name]) for name, most in largest.items()):
            return "sent sums beyond those of its rows, clipped and with the agreed noise."
        return None

    return why
