"""Values from SSFMLFS's relation matrices: related rows fix each other up to shift and mirror, the mean the shift.

Which of the two mirror images it is, the server guesses from its own rows.
"""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.messages.moments import Moments
from fedsieve.messages.relation_matrices import AskRelations, Relations, chain_positions
from fedsieve.value_counts import usual_value


def values_of_relations(request: AskRelations, reply: Relations, moments: Moments, own: Float) -> Float:
    """Every value of every row, in raw units: (n_rows, n_features of the reply).

    `own` are the server's rows in the same columns; `moments` the site's. Rows that no chain links to the others are
    put at the server's most frequent value.
    """
    low, high = request.relation.scaling.low, request.relation.scaling.high
    assert low is not None
    assert high is not None
    place = [moments.features.index(name) for name in reply.features]
    mean, columns = moments.mean[place], []
    for p, matrix in enumerate(reply.values):
        width = max(high[p] - low[p], 1e-300)
        known = np.clip((own[:, p] - low[p]) / width, 0.0, 1.0)
        columns.append(low[p] + width * _column(matrix, float(mean[p]), known))
    return np.column_stack(columns)


def _column(matrix: Float, mean: float, known: Float) -> Float:
    """The scaled values of one column, in the order of the rows."""
    usual = usual_value(known).value
    values = np.full(len(matrix), usual)
    chains = chain_positions(matrix > 0, 1.0 - matrix)
    if chains is None:
        return values
    rows, line = max(chains, key=lambda chain: len(chain[0]))
    alone = (len(values) - len(rows)) * usual
    middle = (mean * len(values) - alone) / len(rows)  # exact where one chain holds all rows
    images = [middle + sign * (line - line.mean()) for sign in (1.0, -1.0)]
    misfits = [_misfit(image, known) for image in images]
    values[rows] = images[int(np.argmin(misfits))]
    return values


def _misfit(image: Float, known: Float) -> float:
    """How far the sorted values lie from the server's, and from the range that holds all values."""
    quantiles = np.linspace(0, 1, 50)
    apart = np.abs(np.quantile(image, quantiles) - np.quantile(known, quantiles)).mean()
    return float(apart + np.maximum(image - 1, 0).sum() + np.maximum(-image, 0).sum())
