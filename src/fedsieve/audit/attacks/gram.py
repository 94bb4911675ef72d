"""What covariances say in raw units: for each two columns the sum of their products, with a column of ones before them.

Sieve and FedCMFS send sums of columns that were shifted and scaled by ranges which the server knows; this undoes it.
"""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.messages.columns import square
from fedsieve.messages.covariances import AskCovariances, Covariances

WHOLE = 1e-4  # how far rounding may take a sum of whole numbers from a whole number


@dataclass(frozen=True, eq=False)
class Gram:
    """(1 + columns, 1 + columns) sums of products; the first line are the columns' sums, and the number of rows."""

    names: tuple[str, ...]
    products: Float

    def whole(self) -> tuple[Int, Int]:
        """The part of it that holds whole numbers only, the ones included, and its places."""
        rounded = np.round(self.products)
        near = np.abs(self.products - rounded) <= WHOLE
        places = np.flatnonzero(np.diagonal(near) & near[0])
        while not near[np.ix_(places, places)].all():  # leave out the column that fits worst
            places = np.delete(places, np.argmin(near[np.ix_(places, places)].sum(axis=0)))
        return rounded[np.ix_(places, places)].astype(np.int64), places


def gram_of(request: AskCovariances, reply: Covariances) -> Gram:
    """From one site's covariances, with labels where it sent some; in units of its own ranges where it keeps these."""
    width, middle = _units(request, reply)
    sums = width * reply.sums
    products = np.outer(width, width) * square(reply.upper, len(sums))
    products += np.outer(middle, sums) + np.outer(sums, middle) + reply.n_rows * np.outer(middle, middle)
    raw_sums = sums + reply.n_rows * middle
    whole = np.block([[np.full((1, 1), float(reply.n_rows)), raw_sums[None, :]], [raw_sums[:, None], products]])
    return Gram((*reply.features, *reply.labels), whole)


def _units(request: AskCovariances, reply: Covariances) -> tuple[Float, Float]:
    """How wide each column is in raw units, and where its middle lies."""
    n_labels = len(reply.labels)
    if request.scaling.low is None:  # each site's own ranges: from 0 to 1, whatever that is
        width, middle = np.ones(len(reply.features)), np.full(len(reply.features), 0.5)
    else:
        encoding = request.encoding()
        number = encoding.numbers
        low, high = encoding.low[encoding.owner], encoding.high[encoding.owner]
        width = np.where(number & (low < high), high - low, 1.0)
        middle = np.where(number, (low + high) / 2, 0.0)
    return np.append(width, np.ones(n_labels)), np.append(middle, np.zeros(n_labels))
