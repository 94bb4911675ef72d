"""Sieve's mathematics: arrays in, arrays out; who holds which rows plays no part here."""

from fedsieve.sieve.choice import Choice
from fedsieve.sieve.combination import Correction, Moments, correction
from fedsieve.sieve.ranking import UnitRanking, rank_units
from fedsieve.sieve.screening import Screening, screen, screening_weights

__all__ = [
    "Choice",
    "Correction",
    "Moments",
    "Screening",
    "UnitRanking",
    "correction",
    "rank_units",
    "screen",
    "screening_weights",
]
