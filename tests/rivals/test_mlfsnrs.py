"""MLFS-NRS: Fisher scores by hand, and what becomes of features that are no candidates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fedsieve.measures.scaling import unit_scaled
from fedsieve.ordering import ranked
from fedsieve.rivals.mlfsnrs import MLFSNRS, fisher_key, label_weights
from reference.rivals import mlfsnrs_loops


def order(X, Y, **parameters):
    return MLFSNRS(**parameters).fit(X, Y).order_.tolist()


def test_features_that_are_no_candidates_follow_by_fisher_score(rng):
    X, Y = rng.random((60, 6)), rng.integers(0, 2, (60, 3)).astype(float)
    by_fisher = ranked(fisher_key(unit_scaled(X), Y)).tolist()
    assert order(X, Y, keep=0.01) == by_fisher
    assert order(X, Y, keep=0.5)[3:] == by_fisher[3:]


@pytest.mark.parametrize("gain", [0.1, 0.3, 0.6])
def test_what_a_constant_label_gives_away_is_no_gain(gain):
    """All neighbors agree in it before any feature is picked, so that fewer features are worth picking."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, Y = rng.random((15, 5)).round(1), rng.integers(0, 2, (15, 2)).astype(float)
        Y[:, 1] = 1.0
        X[:, 2] = Y[:, 0] + (rng.random(15) < 0.3)
        assert order(X, Y, gain=gain) == mlfsnrs_loops.order(X, Y, gain=gain)


def test_fisher_scores_by_hand():
    X = np.array([[0.0, 1.0], [0.5, 1.0], [0.5, 1.0], [1.0, 1.0]])
    Y = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    # Means 0.25 and 0.75 around 0.5: between 4/16, within 4/16. The label that all carry has no weight.
    assert_allclose(fisher_key(X, Y), [np.log(2), 0.0], atol=1e-8)
    assert label_weights(Y).tolist() == [1.0, 0.0]
    assert label_weights(np.ones((3, 2))).tolist() == [0.5, 0.5]
