"""A look at labeled rows as `rank_units` takes it, with the settings that these rows settle."""

import numpy as np

from fedsieve.sieve.views import per_deviation


def look(blend, covariance, unit, X, Y, ridge=0.3, **how):
    scale = per_deviation(np.diagonal(covariance))
    return blend(covariance, unit, tuning=blend.tuning(X, Y, None, scale, ridge), **how)
