"""All features of four datasets on their official splits: values measured once with an independent implementation.

ML-kNN with k = 10 and s = 1, metrics by the paper's convention. "scaled" is min-max by the training rows: their
ranges become [0, 1], test rows may lie outside and are not clipped. 0/1 features need no scaling.
"""

import os

import numpy as np
import pytest
from scipy import sparse

from fedsieve import MLkNN, datasets, metrics

pytestmark = pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")

EXPECTED = {  # average precision, coverage, ranking loss
    ("emotions", "scaled"): (0.7965, 1.8762, 0.1586),
    ("emotions", "raw"): (0.6938, 2.4901, 0.2829),
    ("yeast", "scaled"): (0.7574, 6.3642, 0.1707),
    ("yeast", "raw"): (0.7585, 6.4144, 0.1715),
    ("enron", "raw"): (0.6232, 13.2055, 0.0938),
    ("corel5k", "raw"): (0.2692, 112.83, 0.1292),
}


@pytest.mark.parametrize(("name", "scaling"), EXPECTED, ids="-".join)
def test_all_features_give_the_measured_values(name, scaling):
    data = datasets.load(name)
    X, Y = data.X[data.train], data.Y[data.train]
    queries, truth = data.X[data.test], data.Y[data.test]
    assert sparse.issparse(X) == (name in ("enron", "corel5k"))
    if scaling == "scaled":
        low, width = X.min(axis=0), np.ptp(X, axis=0)
        X, queries = (X - low) / width, (queries - low) / width
    probabilities = MLkNN(n_neighbors=10, smoothing=1.0).fit(X, Y).predict_proba(queries)
    precision, coverage, loss = EXPECTED[name, scaling]
    assert metrics.average_precision(truth, probabilities) == pytest.approx(precision, abs=5e-4)
    assert metrics.coverage(truth, probabilities) == pytest.approx(coverage, abs=1e-2)
    assert metrics.ranking_loss(truth, probabilities) == pytest.approx(loss, abs=5e-4)
