"""Sieve with a stated error rate: what `fdr` found, per feature and in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.methods.sieve_fdr_doubts import at_least, little_to_find, named_in, not_sure
from fedsieve.sieve.error_rate import Contest, ErrorRate
from fedsieve.text import counted


@dataclass(frozen=True, eq=False)
class FdrFindings:
    """Per feature, what was found of its unit: whether it is selected, its margin over its knockoff, its e-value."""

    q: float
    selected: Bool
    margin: Float  # W, the mean over draws
    e_value: Float
    threshold: float  # of e-values; infinite where none is enough
    draw_thresholds: Float  # of margins, per draw; infinite where none was enough
    exact: bool
    words: str
    doubts: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        """Plain values for a record; per feature a record has columns."""
        return {
            "q": self.q,
            "threshold": _finite(self.threshold),
            "draw_thresholds": [_finite(value) for value in self.draw_thresholds.tolist()],
            "exact": self.exact,
            "words": self.words,
            "doubts": list(self.doubts),
        }

    def attributes(self) -> dict[str, Any]:
        """For people who fit a selector."""
        return {
            "q": self.q,
            "selected": np.flatnonzero(self.selected),
            "W": self.margin,
            "e_values": self.e_value,
            "threshold": self.threshold,
            "draw_thresholds": self.draw_thresholds,
            "exact": self.exact,
            "words": self.words,
            "doubts": self.doubts,
        }


def fdr_findings(
    found: ErrorRate,
    against: Contest,
    unit_of: Int,
    columns: Sequence[str],
    missing: Float,
    n_clipped: int,
) -> FdrFindings:
    """What was found of units, for their features; `columns` are the names of the encoded columns' features.

    `missing` are, per column, the shares of missing values; clipped values, as far as known, are no longer Gaussian.
    """
    return FdrFindings(
        found.q,
        found.selected[unit_of],
        against.margin.mean(axis=0)[unit_of],
        found.e_value[unit_of],
        found.enough,
        found.thresholds,
        against.exact and not n_clipped and _may_be_gaussian(against, missing),
        _words(found, against, unit_of, columns),
        (*little_to_find(found, against, columns), *not_sure(against, columns, missing)),
    )


def _may_be_gaussian(against: Contest, missing: Float) -> bool:
    """No column is far from it, has two values only, as codes do, or a mean in place of some."""
    return not (against.doubts.peaked.any() or against.doubts.two_valued.any() or missing.any())


def _words(found: ErrorRate, against: Contest, unit_of: Int, columns: Sequence[str]) -> str:
    n_units, n_selected = int(against.varies.sum()), int(found.selected.sum())
    if n_selected:
        n_features = int(found.selected[unit_of].sum())
        grouped = int(against.varies[unit_of].sum()) > n_units
        of_features = f" ({counted(n_features, 'feature')})" if grouped else ""
        return (
            f"At a false discovery rate of {found.q:g}, {n_selected} of "
            f"{counted(n_units, 'unit' if grouped else 'feature')}{of_features} "
            f"{'is' if n_selected == 1 else 'are'} selected: on average at most {100 * found.q:g} % of such a "
            "selection tell nothing of the labels that the other features do not."
        )
    nothing = f"At a false discovery rate of {found.q:g} no feature is selected. This is an answer: "
    if not n_units:
        return f"{nothing}no feature varies in the rows that it is told from."
    n_following = len(named_in(columns, against.follows))
    if n_following and n_following == int(against.varies[unit_of].sum()):
        return f"{nothing}all {n_following} features follow from others, so that none is told from them."
    follow = "follows" if n_following == 1 else "follow"
    others = f", and {n_following} {follow} from others" if n_following else ""
    return (
        f"{nothing}the labeled rows do not tell enough features from chance{others}. A selection at this rate has "
        f"{at_least(found)} in most draws."
    )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
