"""Trees alone, as a control: what they split by, and that they take their seed and their number."""

import numpy as np
import pytest

from fedsieve.errors import ParameterError
from fedsieve.kernels import tree_importances
from fedsieve.rivals import ExtraTrees


def test_features_are_ranked_by_what_the_trees_split_by(rng):
    X = rng.random((80, 5))
    Y = np.column_stack([X[:, 3] > 0.5, X[:, 1] > 0.7]).astype(float)
    model = ExtraTrees(n_trees=30, random_state=4).fit(X, Y)
    assert set(model.order_[:2]) == {1, 3}
    np.testing.assert_array_equal(model.scores_, tree_importances(X, Y, 30, 4))
    other = ExtraTrees(n_trees=30, random_state=np.random.RandomState(0)).fit(X, Y)
    assert not np.array_equal(other.scores_, model.scores_)


def test_there_is_a_tree(rng):
    with pytest.raises(ParameterError, match=r"ExtraTrees: n_trees must be .* got 0"):
        ExtraTrees(n_trees=0).fit(rng.random((9, 2)), rng.integers(0, 2, (9, 1)))
