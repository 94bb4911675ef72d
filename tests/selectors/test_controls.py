"""The controls: they know nothing of labels, and are what they say."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve.catalog import registry
from fedsieve.errors import ParameterError
from fedsieve.selectors import AllFeatures, LargestDeviation, RandomFeatures


@parametrize_with_checks([AllFeatures(), LargestDeviation(1), RandomFeatures(random_state=0)])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def test_all_features_keeps_all_in_their_order(rng):
    fitted = AllFeatures(2).fit(rng.random((5, 7)))
    assert list(fitted.order_) == list(range(7))
    assert fitted.support_.all()


def test_largest_deviation_is_measured_after_scaling():
    X = np.array([[0.0, 100.0, 0.0], [0.0, 101.0, 0.0], [10.0, 102.0, 0.0], [0.0, 103.0, 0.0]])
    fitted = LargestDeviation(1).fit(X)
    assert list(fitted.order_) == [0, 1, 2]
    np.testing.assert_allclose(fitted.scores_, [np.std([0, 0, 1, 0]), np.std([0, 1 / 3, 2 / 3, 1]), 0])


def test_random_features_follow_their_seed(rng):
    X = rng.random((5, 30))
    first, again, other = (RandomFeatures(random_state=seed).fit(X).order_ for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert sorted(first) == list(range(30))


def test_too_many_features_are_refused(rng):
    with pytest.raises(
        ParameterError, match=r"^LargestDeviation: n_features_to_select must be .* n_fea.*=3\].* got 4\.$"
    ):
        LargestDeviation(4).fit(rng.random((5, 3)))


def test_the_registry_lists_methods_with_what_must_be_known_of_them():
    import fedsieve

    methods = fedsieve.registry()
    assert methods == registry()
    assert {entry.fidelity for entry in methods.values()} <= {"code", "text", "our reading"}
    assert {entry.supervision for entry in methods.values()} <= {"none", "semi-supervised", "supervised"}
    assert methods["SSFMLFS"].federated
    assert methods["SSFMLFS"].factory is fedsieve.SSFMLFS
    assert [name for name, entry in methods.items() if entry.control] == [
        "extra-trees",
        "all features",
        "random",
        "largest deviation",
    ]
