"""Sieve's mathematics: arrays in, arrays out; who holds which rows plays no part here."""

from fedsieve.sieve.choice import Choice
from fedsieve.sieve.combination import Correction, MomentSums, correction
from fedsieve.sieve.complementary_pairs import PairStability
from fedsieve.sieve.error_rate import Contest, contest
from fedsieve.sieve.first_views import FirstViews
from fedsieve.sieve.label_model import label_varies
from fedsieve.sieve.ranking import UnitRanking, rank_units
from fedsieve.sieve.regression_views import RegressionViews
from fedsieve.sieve.screening import Screening, screen, screening_weights
from fedsieve.sieve.views import FeatureViews, Tuning

__all__ = [
    "Choice",
    "Contest",
    "Correction",
    "FeatureViews",
    "FirstViews",
    "MomentSums",
    "PairStability",
    "RegressionViews",
    "Screening",
    "Tuning",
    "UnitRanking",
    "contest",
    "correction",
    "label_varies",
    "rank_units",
    "screen",
    "screening_weights",
]
