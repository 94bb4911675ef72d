"""What a server guesses that is told nothing: of each column the most frequent value of its own rows."""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.value_counts import usual_value


def usual_row(own: Float) -> Float:
    """One row of the most frequent values.

    >>> usual_row(np.array([[0.0, 3.0], [0.0, 5.0], [1.0, 5.0]]))
    array([0., 5.])
    """
    return np.array([usual_value(column).value for column in own.T])
