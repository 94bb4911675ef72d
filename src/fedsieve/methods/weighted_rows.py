"""The server's own replies where its rows have weights: a row of weight 2 counts like two equal rows.

Only the server weighs rows, in what it adds to a total itself; a site's rows count once each.
"""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.messages.columns import upper_of
from fedsieve.messages.covariances import AskCovariances, Covariances
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.means import SITES
from fedsieve.messages.projections import AskProjections, Projections
from fedsieve.tables import ArrayTable, Table
from fedsieve.values import dense

MOST_VALUES = 1 << 24  # of copies of rows


def own_covariances(request: AskCovariances, table: Table, weights: Float | None) -> Covariances:
    """Sums, and sums of products, of the table's rows."""
    if weights is None:
        return request.answer(table)
    encoding, rows = _encoded(request, table, weights)
    products = rows.T @ (weights[:, None] * rows)
    upper = upper_of(products)
    reply = Covariances(_number(weights), encoding.names, (), weights @ rows, upper)
    return reply.within() if request.center == SITES else reply


def own_projections(request: AskProjections, table: Table, weights: Float | None) -> Projections:
    """Sums, and sums of products with the server's model."""
    if weights is None:
        return request.answer(table)
    encoding, rows = _encoded(request, table, weights)
    sums, model = weights @ rows, request.weights
    products = rows.T @ (weights[:, None] * (rows @ model))
    reply = Projections(_number(weights), encoding.names, sums, weights @ rows**2, sums @ model, products)
    return reply.within() if request.center == SITES else reply


def counted_rows(table: Table, weights: Float | None) -> Table:
    """The rows as they count in robust ranges and in means that fill gaps: those of whole weights so many times.

    Totals that travel to sites are counts of rows, so that with other weights each row counts once. Very large weights
    count in proportion, so that memory holds the rows.
    """
    if weights is None or not np.array_equal(weights, np.round(weights)):
        return table
    most = max(table.n_rows, MOST_VALUES // max(len(table.names), 1))
    times = weights if weights.sum() <= most else np.maximum(np.round(weights * (most / weights.sum())), 1)
    return ArrayTable(table.names, np.repeat(dense(table.whole(table.names)), times.astype(np.int64), axis=0))


def _encoded(request: AskCovariances | AskProjections, table: Table, weights: Float) -> tuple[Encoding, Float]:
    """The rows in encoded columns, from the middle of the ranges, as replies have them."""
    encoding, X = request.encoding(), dense(table.whole(request.columns.features))
    if np.isnan(X).any():
        encoding = request.filled_at(counted_rows(table, weights), encoding)
    return encoding, encoding.table(X) - encoding.midpoint


def _number(weights: Float) -> int:
    """As how many rows they count; it stays on the server, where it need not be whole."""
    total: int = weights.sum()
    return total
