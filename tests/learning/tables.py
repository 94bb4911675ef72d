"""Random training tables, queries and labels for the tests of neighbors and ML-kNN."""

import numpy as np
from hypothesis import strategies as st

KINDS = ("continuous", "integers", "binary", "duplicates", "offset", "outlier", "huge", "tiny")


@st.composite
def searches(draw, min_rows=2, max_rows=30):
    """Rows, queries (some of them rows) and a number of neighbors; most kinds have many equal distances."""
    kind = draw(st.sampled_from(KINDS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(min_rows, max_rows)), draw(st.integers(1, 6))
    X = rng.normal(size=(n_rows + 5, n_features))
    if kind == "integers":
        X = rng.integers(-2, 3, X.shape).astype(float)
    elif kind == "binary":
        X = (rng.random(X.shape) < 0.4).astype(float)
    elif kind == "duplicates":
        X = X[rng.integers(0, 3, len(X))]
    elif kind == "offset":  # the squares of these differ only in digits that float64 does not have
        X = 1e8 + rng.integers(-2, 3, X.shape)
    elif kind == "outlier":
        X = rng.integers(-2, 3, X.shape) * 1e-3
        X[0] = 1e9
    elif kind == "huge":  # squares overflow
        X = rng.integers(-2, 3, X.shape) * 1e160
    elif kind == "tiny":  # squares underflow
        X = rng.integers(-2, 3, X.shape) * 1e-161
    rows = X[:n_rows]
    queries = np.vstack([X[n_rows:], rows[rng.integers(0, n_rows, 4)]])
    return rows, queries, draw(st.integers(1, n_rows - 1))


@st.composite
def classifications(draw):
    """A search with labels for its rows, some labels being constant, and a smoothing."""
    X, queries, k = draw(searches(min_rows=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Y = (rng.random((len(X), draw(st.integers(1, 5)))) < rng.random()).astype(int)
    return X, Y, queries, k, draw(st.sampled_from([1.0, 0.5, 3.0, 0.125]))
