"""The server's own replies where its rows have weights: a row of weight 2 counts like two equal rows.

Only the server weighs rows, in what it adds to a total itself; a site's rows count once each.
"""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.messages.covariances import AskCovariances, Covariances
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.projections import AskProjections, Projections
from fedsieve.tables import Table, dense


def own_covariances(request: AskCovariances, table: Table, weights: Float | None) -> Covariances:
    """Sums, and sums of products, of the table's rows."""
    if weights is None:
        return request.answer(table)
    encoding, rows = _encoded(request, table)
    products = rows.T @ (weights[:, None] * rows)
    upper = products[np.triu_indices(len(products))]
    return Covariances(_number(weights), encoding.names, (), weights @ rows, upper)


def own_projections(request: AskProjections, table: Table, weights: Float | None) -> Projections:
    """Sums, and sums of products with the server's model."""
    if weights is None:
        return request.answer(table)
    encoding, rows = _encoded(request, table)
    sums, model = weights @ rows, request.weights
    products = rows.T @ (weights[:, None] * (rows @ model))
    return Projections(_number(weights), encoding.names, sums, weights @ rows**2, sums @ model, products)


def _encoded(request: AskCovariances | AskProjections, table: Table) -> tuple[Encoding, Float]:
    """The rows in encoded columns, from the middle of the ranges, as replies have them."""
    encoding = Encoding.of(request.columns, request.scaling)
    return encoding, encoding.table(dense(table.whole(request.columns.features))) - encoding.midpoint


def _number(weights: Float) -> int:
    """As how many rows they count; it stays on the server, where it need not be whole."""
    total: int = weights.sum()
    return total
