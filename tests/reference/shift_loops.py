"""The median of the others, party by party and column by column."""

import numpy as np

from fedsieve.arrays import Float


def median_of_others(values: Float) -> Float:
    found = np.full(values.shape, np.nan)
    for party in range(values.shape[0]):
        for column in range(values.shape[1]):
            others = [v for place, v in enumerate(values[:, column]) if place != party and not np.isnan(v)]
            if others:
                found[party, column] = np.median(others)
    return found
