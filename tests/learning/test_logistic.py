"""All labels at once are as good as one scikit-learn regression per label."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fedsieve.learning import logistic
from fedsieve.learning.logistic import LogisticPerLabel


@pytest.mark.parametrize(("n_rows", "n_columns"), [(120, 6), (40, 60)])
def test_the_models_are_those_of_one_label_at_a_time(rng, monkeypatch, n_rows, n_columns):
    X = rng.normal(size=(n_rows, n_columns)) * rng.uniform(0.1, 9, n_columns) + rng.normal(size=n_columns)
    X[:, 0] = 4.0  # constant
    Y = (X[:, 1:5] + rng.normal(size=(n_rows, 4)) > [0, 1, 2, -1]).astype(int)
    Z = X / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    alone = [LogisticRegression(tol=1e-12, max_iter=10_000).fit(Z, y).predict_proba(Z)[:, 1] for y in Y.T]
    for tolerance, close in ((1e-9, 1e-6), (logistic.TOLERANCE, 3e-3)):
        monkeypatch.setattr(logistic, "TOLERANCE", tolerance)
        found = LogisticPerLabel().fit(X, Y).predict_proba(X)
        np.testing.assert_allclose(found, np.column_stack(alone), atol=close)


def test_labels_that_do_not_vary_are_certain(rng):
    X, Y = rng.random((20, 2)), np.tile([0, 1], (20, 1))
    assert LogisticPerLabel().fit(X, Y).predict_proba(X[:3]).tolist() == [[0, 1]] * 3


def test_rows_far_from_all_others_are_as_certain_as_numbers_can_be(rng):
    """A column that hardly varies where it was learned from has large coefficients: no overflow, and no warning."""
    X = rng.random((40, 2))
    model = LogisticPerLabel().fit(X, (X[:, :1] > 0.5).astype(int))
    assert model.predict_proba(np.array([[1e6, 0.0], [-1e6, 0.0]])).tolist() == [[1.0], [0.0]]
