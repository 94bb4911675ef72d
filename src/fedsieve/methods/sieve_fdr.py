"""Sieve with a stated error rate: what `fdr` found, per feature and in words, and what speaks against its promise."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log10
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.errors import listed
from fedsieve.sieve.doubts import COPIES
from fedsieve.sieve.error_rate import MANY, ROUNDING, Contest, ErrorRate, smallest_rate
from fedsieve.text import counted

# docs/error-rate.md says where the bounds come from.
FEW_LABELED = 50  # rows, with fewer of which next to nothing was found, however few columns there were
FEW_CARRIERS = 15  # rows with a label, or without it: of labels with fewer next to nothing was found
MOST_PAIRS = 4  # that a doubt names
MANY_MISSING = 0.2  # of a column's values
NO_RATE = "No fdr selects from so few: leave it out, and give n_features_to_select."


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
    missing: Mapping[str, float],
    n_clipped: int,
) -> FdrFindings:
    """What was found of units, for their features; `columns` are the names of the encoded columns' features.

    `missing` are the shares of missing values, of features that miss any; clipped values, as far as known, are no
    longer Gaussian.
    """
    return FdrFindings(
        found.q,
        found.selected[unit_of],
        against.margin.mean(axis=0)[unit_of],
        found.e_value[unit_of],
        found.enough,
        found.thresholds,
        against.exact and not n_clipped,
        _words(found, against, unit_of),
        (*_little_to_find(found, against, columns), *_not_sure(against, columns, missing)),
    )


def _words(found: ErrorRate, against: Contest, unit_of: Int) -> str:
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
    return (
        f"{nothing}the labeled rows do not tell enough features from chance. A selection at this rate has "
        f"{_at_least(found)} in most draws."
    )


def _little_to_find(found: ErrorRate, against: Contest, columns: Sequence[str]) -> Iterator[str]:
    """Why nothing, or next to nothing, can be selected; the rate holds all the same."""
    n_units = int(against.varies.sum())
    if found.least > n_units:
        smallest = smallest_rate(n_units) if n_units else inf
        way_out = f"Use a larger fdr, from {_rounded_up(smallest)} on." if smallest < 1 else NO_RATE
        yield f"at fdr={found.q:g} nothing can be selected: a selection has {_at_least(found)}, of {n_units}. {way_out}"
    if against.n_labeled < FEW_LABELED:
        yield (
            f"little can be found: {counted(against.n_labeled, 'labeled row')}; with fewer than {FEW_LABELED} next to "
            "nothing is. Label more rows."
        )
    few = int((against.rarer < FEW_CARRIERS).sum())
    if 2 * few > len(against.rarer):
        yield (
            f"little can be found: {few} of {counted(len(against.rarer), 'label')} that vary have fewer than "
            f"{FEW_CARRIERS} labeled rows with the label, or without. Label more rows, or leave rare labels out."
        )
    if pairs := list(dict.fromkeys((columns[one], columns[other]) for one, other in against.copies)):
        named = "; ".join(listed(pair) for pair in pairs[:MOST_PAIRS])
        more = f" and {counted(len(pairs) - MOST_PAIRS, 'more pair')}" if len(pairs) > MOST_PAIRS else ""
        yield (
            f"little can be found of features that cannot be told from each other (|correlation| above {COPIES:g}): "
            f"{named}{more}. Neither may be selected, though both help; put them into one group, or leave one out."
        )


def _not_sure(against: Contest, columns: Sequence[str], missing: Mapping[str, float]) -> Iterator[str]:
    """What speaks against the promise."""
    n_others, p = against.n_all - against.n_labeled, against.n_coordinates
    if p and not against.exact and n_others <= 2 * p + 1:
        yield (
            f"the error rate is not sure: {n_others} unlabeled rows are few for {counted(p, 'column')}, with those of "
            "codes; more than twice as many would do."
        )
    if shifted := _named(columns, against.shifted):
        yield (
            f"the error rate is not sure: the labeled rows lie elsewhere than all rows in {listed(shifted)}. Where "
            "sites are shifted, center='sites' compares within them."
        )
    if wider := _named(columns, against.wider):
        yield (
            f"the error rate is not sure: the labeled rows spread wider than all rows in {listed(wider)}, so that "
            "false features may be selected. center='sites' takes deviations from the labeled rows."
        )
    if peaked := _named(columns, against.peaked):
        yield f"the error rate is not sure: far from Gaussian, nearly constant or with far outliers: {listed(peaked)}."
    if gaps := [name for name, share in missing.items() if share > MANY_MISSING]:
        yield (
            f"the error rate is not sure: more than {100 * MANY_MISSING:g} % of the values are missing in "
            f"{listed(gaps)}; what stands in for them is no Gaussian. Leave such columns out."
        )


def _at_least(found: ErrorRate) -> str:
    return f"at least {counted(found.least, 'feature')}" if found.least < MANY else "over a million features"


def _rounded_up(rate: float) -> str:
    """To two digits, so that the rate is enough.

    >>> _rounded_up(2 / 3), _rounded_up(4 / 120), _rounded_up(0.2)
    ('0.67', '0.034', '0.2')
    """
    unit = 10.0 ** (floor(log10(rate)) - 1)
    return f"{ceil(rate / unit - ROUNDING) * unit:.2g}"


def _named(columns: Sequence[str], marked: Bool) -> list[str]:
    return list(dict.fromkeys(name for name, mark in zip(columns, marked, strict=True) if mark))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
