"""Sieve's mathematics: arrays in, arrays out; who holds which rows plays no part here."""

from fedsieve.sieve.choice import Choice
from fedsieve.sieve.ranking import UnitRanking, rank_units
from fedsieve.sieve.screening import Screening, screen, screening_weights

__all__ = ["Choice", "Screening", "UnitRanking", "rank_units", "screen", "screening_weights"]
