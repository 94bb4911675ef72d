"""What each step of FedCMFS is for: one feature that another label hides, and one that only looks like a neighbor."""

import numpy as np
import pytest

from fedsieve.rivals.fedcmfs import FedCMFS
from reference.rivals.fedcmfs_loops import fedcmfs_loops
from sites_with_labels import fit, split

N = 600
SIZES = [200, 200, 200]


@pytest.fixture
def hidden(rng):
    """Feature 0 decides the first label, of which the second is a noisy copy; feature 1 is noise."""
    X = rng.normal(size=(N, 2))
    first = (X[:, 0] + 0.3 * rng.normal(size=N) > 0).astype(float)
    second = np.abs(first - (rng.random(N) < 0.1))
    return split(X, np.stack([first, second], axis=1), SIZES)


def test_a_feature_that_another_label_hid_is_recovered(hidden):
    found = fit(FedCMFS(), hidden)
    assert found.found_.tolist() == [[True, False], [False, False]]
    assert found.recovered_.tolist() == [[True, True], [False, False]]


def test_what_was_recovered_is_kept_since_other_labels_have_no_say_in_the_last_step(hidden):
    found = fit(FedCMFS(), hidden)
    assert found.kept_.tolist() == found.recovered_.tolist()
    assert found.n_kept_ == 1


def test_nothing_needs_to_be_recovered_where_nothing_is_given(hidden):
    found = fit(FedCMFS(max_conditioning=0), hidden)
    assert found.found_.tolist() == found.recovered_.tolist() == [[True, True], [False, False]]


def test_a_feature_that_is_no_neighbor_of_the_label_that_hid_it_is_not_recovered(rng):
    """Feature 1 is a noisy copy of feature 0, which separates it from the first label."""
    X = rng.normal(size=(N, 2))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    first = (X[:, 0] + 0.3 * rng.normal(size=N) > 0).astype(float)
    second = np.abs(first - (rng.random(N) < 0.1))
    found = fit(FedCMFS(), split(X, np.stack([first, second], axis=1), SIZES))
    assert found.found_.tolist() == [[True, False], [False, False]]
    assert found.recovered_.tolist() == [[True, True], [False, False]]


@pytest.fixture
def mistaken(rng):
    """The label follows feature 0, a little more than feature 1, of which feature 2 is a noisy copy."""
    X = rng.normal(size=(N, 3))
    X[:, 2] += X[:, 1]
    label = (1.3 * X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=N) > 0).astype(float)
    return split(X, label[:, None], SIZES)


def test_a_feature_that_has_the_label_not_among_its_own_neighbors_is_pruned(mistaken):
    """From the label only its strongest neighbor is given, feature 0; from feature 2 it is feature 1, which parts."""
    found = fit(FedCMFS(max_pool=1), mistaken)
    assert found.found_.ravel().tolist() == found.recovered_.ravel().tolist() == [True, True, True]
    assert found.kept_.ravel().tolist() == [True, True, False]


def test_with_more_in_the_pool_it_is_not_even_found(mistaken):
    assert fit(FedCMFS(), mistaken).found_.ravel().tolist() == [True, True, False]


@pytest.mark.parametrize("case", ["hidden", "mistaken"])
@pytest.mark.parametrize("max_pool", [1, 10])
def test_plain_loops_see_the_same_steps(request, case, max_pool):
    sites = request.getfixturevalue(case)
    found, slow = fit(FedCMFS(max_pool=max_pool), sites), fedcmfs_loops(sites, max_pool=max_pool)
    for step in ("found", "recovered", "kept"):
        mask = getattr(found, f"{step}_")
        assert [set(np.flatnonzero(mask[:, label])) for label in range(mask.shape[1])] == slow[step]
