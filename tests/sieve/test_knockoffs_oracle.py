"""Our knockoffs, thresholds and e-values are those of another package, hidimstat, where both have the same thing."""

import numpy as np
import pytest
from hidimstat import ModelXKnockoff
from hidimstat.samplers import GaussianKnockoffs
from hidimstat.statistical_tools.multiple_testing import fdr_threshold
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import EmpiricalCovariance

from fedsieve.sieve.error_rate import e_selected, e_values, threshold
from fedsieve.sieve.knockoffs import Knockoffs

# Away from rates at which rounding decides whether a share is below them.
RATES = st.sampled_from([0.07, 0.13, 0.21, 0.34])
MARGINS = st.lists(st.integers(-9, 9).filter(bool), min_size=1, max_size=40).map(lambda some: np.array(some, float))


@settings(max_examples=60, deadline=None)
@given(MARGINS, RATES)
def test_thresholds_and_e_values_of_a_draw(margin, q):
    theirs, ours = ModelXKnockoff.knockoff_threshold(margin, fdr=q), threshold(margin, q)
    assert ((margin >= ours) == (margin >= theirs)).all()
    if np.isfinite(ours):
        assert e_values(margin, ours) == pytest.approx(ModelXKnockoff._empirical_knockoff_eval(margin, ours))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 200), min_size=2, max_size=30), RATES)
def test_what_e_values_select(values, q):
    e = np.array(values)
    selected, enough = e_selected(e, q)
    if np.isfinite(enough):  # hidimstat selects the largest e-value even where it is not enough
        assert (selected == (e >= fdr_threshold(e, fdr=q, method="ebh"))).all()


def test_means_and_covariances_of_gaussian_knockoffs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) @ (np.eye(5) + 0.08 * rng.standard_normal((5, 5)))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = GaussianKnockoffs(cov_estimator=EmpiricalCovariance(assume_centered=True)).fit(X)
    R = np.corrcoef(X.T)
    assert np.linalg.eigvalsh(R)[0] > 0.5  # so that the equicorrelated distances, theirs, are 1
    ours = Knockoffs(X, R, np.ones(5), None)
    assert ours.expected == pytest.approx(theirs.mu_tilde_, abs=1e-6)
    root = theirs.sigma_tilde_decompose_
    assert ours.root @ ours.root == pytest.approx(root @ root.T, abs=1e-6)
