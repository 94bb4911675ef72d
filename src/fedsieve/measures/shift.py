"""How far each party's columns lie from those of the others, and what looks like another unit.

A party is compared with the median of the others, number by number, so that one wrong table hides no other; what is
found counts only where the party differs so from more than half of the others by themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.measures.column_facts import NUMBERS, ColumnFacts
from fedsieve.measures.units import BOTH_WAYS, Conversion, in_words
from fedsieve.measures.unlikeness import by_chance, distance, is_unlike

LEAST_VALUES = 20  # of a party in a column: of fewer, chance makes anything
APART = 3.0  # deviations between two means that are no chance
TIMES = 5.0  # as much spread, in columns without long tails
TAILS = 7.0  # deviations from end to end, beyond which a tail is long
ENDS = 4.0  # deviations from end to end, where nothing else is told
HARDLY = 0.1  # of ranges or rows in common
MEAN_FITS = 1.0  # deviations between means that are the same after a conversion
SPREAD_FITS = np.log(2.0)
NONE = -1
WIDTH_FITS = np.log(4.0)  # ends are single values


class ShiftFinding(NamedTuple):
    """A party's column that looks wrong: by which conversion, or, without one, since it hardly overlaps."""

    party: str
    column: str
    conversion: Conversion | None

    @property
    def words(self) -> str:
        """For people; no value of the table is told."""
        return f"{self.party}, column {self.column!r}: its values {finding_words(self.conversion)}"


def finding_words(conversion: Conversion | None) -> str:
    """What is wrong with values, in words that follow "its values"."""
    if conversion is not None:
        return in_words(conversion)
    return "lie apart from nearly all of the others' (another unit or coding?)"


@dataclass(frozen=True, eq=False)
class Shift:
    """Per party and feature: how far the mean lies from the others', how often their spread its own is, what overlaps.

    Arrays are (n_parties, n_features), NaN where it is not told. `mean` is in deviations of the others; `overlap` is
    the share of rows in the same bins, or that of the ranges in common where no bins are told.
    """

    parties: tuple[str, ...]
    features: tuple[str, ...]
    mean: Float
    spread: Float
    overlap: Float
    findings: tuple[ShiftFinding, ...]


class _Numbers(NamedTuple):
    """Of some columns of one party, or of one column of some parties."""

    n_values: Float
    mean: Float
    deviation: Float
    low: Float
    high: Float
    ends_only: Float  # 1 where mean and deviation are those of the ends

    @property
    def width(self) -> Float:
        return self.high - self.low


def compare(facts: Mapping[str, ColumnFacts], numeric: Bool | None = None) -> Shift | None:
    """Every party beside the others; `None` of fewer than three, of whom nobody could say which one is odd.

    Conversions are looked for in `numeric` columns only: codes have no unit.
    """
    parties, told = tuple(facts), list(facts.values())
    if len(parties) < 3:
        return None
    features = told[0].features
    with np.errstate(all="ignore"):  # NaN where something is not told
        table = _known(told)
        enough = _Numbers(*(np.where(table.n_values >= LEAST_VALUES, numbers, np.nan) for numbers in table))
        usual = _Numbers(*(_median_of_others(numbers) for numbers in enough))
        overlap, unlike = _overlaps(told, table, usual)
        conversion = np.where(True if numeric is None else numeric, _conversions(enough, usual), NONE)
        apart = unlike | ((overlap <= HARDLY) & _distinct(enough, usual))
        findings = tuple(
            ShiftFinding(parties[party], features[column], BOTH_WAYS[place] if place >= 0 else None)
            for party, column in np.argwhere(apart | (conversion >= 0))
            for place in (conversion[party, column],)
            if _from_most(told, enough, party, column)
        )
        unit = np.where(usual.deviation > 0, usual.deviation, np.nan)
        mean, spread = (table.mean - usual.mean) / unit, table.deviation / unit
    return Shift(parties, features, mean, spread, overlap, findings)


def _known(facts: list[ColumnFacts]) -> _Numbers:
    """The numbers of all parties, (n_parties, n_features); where ends alone are told, they stand for the others."""
    n_values, mean, deviation, low, high = (np.array([getattr(party, name) for party in facts]) for name in NUMBERS)
    ends_only = np.broadcast_to(np.isnan(mean).all(axis=0), mean.shape)
    mean, deviation = np.where(ends_only, (low + high) / 2, mean), np.where(ends_only, (high - low) / ENDS, deviation)
    return _Numbers(n_values, mean, deviation, low, high, ends_only.astype(np.float64))


def _median_of_others(values: Float) -> Float:
    """Per party and column the median of the other parties' values; NaN are left out. From one sort for all."""
    order = np.argsort(values, axis=0, kind="stable")  # NaN last
    rank = np.argsort(order, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    known = np.count_nonzero(~np.isnan(values), axis=0)
    others = np.where(np.isnan(values), known, known - 1)

    def other(place: Int) -> Float:
        place = np.maximum(place, 0)
        found: Float = np.take_along_axis(ordered, np.minimum(place + (place >= rank), len(values) - 1), axis=0)
        return found

    return np.where(others > 0, (other((others - 1) // 2) + other(others // 2)) / 2, np.nan)


def _gap(own: _Numbers, others: _Numbers) -> Float:
    """How many deviations lie between two means: of the values, or of their logarithms were they log-normal."""
    plain = np.abs(own.mean - others.mean) / np.fmax(own.deviation, others.deviation)
    ratio = own.mean / others.mean
    relative = np.fmax(own.deviation / np.abs(own.mean), others.deviation / np.abs(others.mean))
    logarithmic = np.abs(np.log(np.where(ratio > 0, ratio, np.nan))) / np.sqrt(np.log1p(relative**2))
    gap: Float = np.fmax(plain, logarithmic)
    return gap


def _distinct(own: _Numbers, others: _Numbers) -> Bool:
    """Whether two differ more than chance and unlike patients make them: in their means, or in their spreads.

    Where tails are long, a few rows decide how wide a column spreads, and nothing follows. Of ends alone, nothing
    follows unless all of one lies beyond the other.
    """
    short = np.fmax(own.width / own.deviation, others.width / others.deviation) <= TAILS
    wider = np.abs(np.log(own.deviation / others.deviation)) >= np.log(TIMES)
    disjoint = (own.low > others.high) | (own.high < others.low)
    distinct: Bool = np.where(own.ends_only > 0, disjoint, (_gap(own, others) >= APART) | (short & wider))
    return distinct


def _conversions(own: _Numbers, others: _Numbers) -> Int:
    """The place in `BOTH_WAYS` of the conversion that the others' numbers fit best after; -1 where none is needed."""
    best = np.full(own.mean.shape, np.inf)
    chosen = np.full(own.mean.shape, NONE, dtype=np.int64)
    distinct = _distinct(own, others) & (own.deviation > 0) & (others.deviation > 0)
    for place, (factor, offset, _, least, most) in enumerate(BOTH_WAYS):
        deviation = factor * others.deviation
        mean = np.abs(own.mean - factor * others.mean - offset) / deviation
        spread = np.abs(np.log(own.deviation / deviation))
        width = np.abs(np.log(own.width / (factor * others.width)))
        fits = (mean <= MEAN_FITS) & (spread <= SPREAD_FITS) & ~(width > WIDTH_FITS) & distinct
        fits &= (least <= others.mean) & (others.mean <= most)
        better = fits & (mean + spread < best)
        best[better], chosen[better] = (mean + spread)[better], place
    return chosen


def _common(own: _Numbers, others: _Numbers) -> Float:
    """Which share of the narrower of two ranges lies in the other; of a single value, whether it does."""
    inside = np.minimum(own.high, others.high) - np.maximum(own.low, others.low)
    narrower = np.minimum(own.width, others.width)
    return np.where(narrower > 0, np.clip(inside / narrower, 0.0, 1.0), (inside >= 0).astype(np.float64))


def _overlaps(facts: list[ColumnFacts], own: _Numbers, others: _Numbers) -> tuple[Float, Bool]:
    """What each party has in common with the others, of ranges or of rows in bins; and where next to nothing is."""
    overlap = np.where(np.isnan(own.low), np.nan, _common(own, others))
    unlike = np.zeros(overlap.shape, dtype=bool)
    for column, parts in enumerate(zip(*(party.bins for party in facts), strict=True)):
        if any(part is None for part in parts):
            continue
        counts = np.array([part[1] for part in parts if part is not None])
        rest = counts.sum(axis=0) - counts
        shares, of_rest = (each / np.maximum(each.sum(axis=1, keepdims=True), 1) for each in (counts, rest))
        overlap[:, column] = 1 - 0.5 * np.abs(shares - of_rest).sum(axis=1)
        for party in np.flatnonzero(overlap[:, column] <= HARDLY):
            unlike[party, column] = _hardly_overlap(counts[party], rest[party])
    return overlap, unlike


def _hardly_overlap(own: Int, others: Int) -> bool:
    apart = distance(own, others)
    enough = min(own.sum(), others.sum()) >= LEAST_VALUES
    return bool(enough and 1 - apart <= HARDLY and is_unlike(apart, *by_chance(own, others)))


def _from_most(facts: list[ColumnFacts], table: _Numbers, party: int, column: int) -> bool:
    """Whether the party differs from more than half of the others, each by itself; one other could be the odd one."""
    here = _Numbers(*(numbers[:, column] for numbers in table))
    distinct, known = _distinct(_Numbers(*(numbers[party] for numbers in here)), here), ~np.isnan(here.mean)
    bins = [one.bins[column] for one in facts]
    own = bins[party]
    if own is not None:
        known |= np.array([part is not None and part[1].sum() >= LEAST_VALUES for part in bins])
        distinct |= np.array([part is not None and _hardly_overlap(own[1], part[1]) for part in bins])
    others = known & (np.arange(len(known)) != party)
    n_others = np.count_nonzero(others)
    return bool(n_others >= 2 and 2 * np.count_nonzero(distinct & others) > n_others)
