"""What a site computes of its encoded columns. Rows and a request in, a message out; the server does the same."""

import numpy as np

from fedsieve.arrays import Float, Rows
from fedsieve.errors import ProtocolError
from fedsieve.protocol import messages as m
from fedsieve.protocol.encoding import Encoding
from fedsieve.protocol.summaries import check_ranges_hold


def scaled_covariances_of(X: Rows, request: m.AskScaledCovariances) -> m.Covariances:
    """Means and sums of products of the encoded columns."""
    encoding = _encoding(X, request)
    return m.Covariances.of(encoding.names, (), encoding.table(X))


def projections_of(X: Rows, request: m.AskProjections) -> m.Projections:
    """How the encoded columns vary with the weighted sums; read in two passes, a few columns at a time."""
    encoding, weights = _encoding(X, request), request.weights
    if weights.ndim != 2 or len(weights) != len(encoding.names) or not np.isfinite(weights).all():
        raise ProtocolError(f"was sent weights that do not fit its {len(encoding.names)} columns.")
    sums: Float = np.zeros((X.shape[0], weights.shape[1]))
    means, m2, products = [], [], []
    first = 0
    for block in encoding.blocks(X):
        means.append(m.column_means(block))
        centered = block - means[-1]
        m2.append((centered**2).sum(axis=0))
        sums += centered @ weights[first : first + block.shape[1]]
        first += block.shape[1]
    for block, mean in zip(encoding.blocks(X), means, strict=True):
        products.append((block - mean).T @ sums)
    mean = np.concatenate(means)
    return m.Projections(X.shape[0], encoding.names, mean, np.concatenate(m2), mean @ weights, np.vstack(products))


def _encoding(X: Rows, request: m.AskScaledCovariances | m.AskProjections) -> Encoding:
    encoding = Encoding.of(request.columns, request.scaling)
    check_ranges_hold(encoding.low, encoding.high, X)
    return encoding
