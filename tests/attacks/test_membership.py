"""Is this row among the site's rows? Covariances of few rows say so, the total of many sites hardly."""

import numpy as np
import pytest

from fedsieve.audit.attacks.gram import Gram
from fedsieve.audit.attacks.membership import nearness_to_moments
from fedsieve.audit.attacks.patterns import certain_rows
from fedsieve.audit.curves import area_under_curve


def gram(X):
    ones = np.hstack([np.ones((len(X), 1)), X])
    return Gram(tuple(map(str, range(X.shape[1]))), ones.T @ ones)


@pytest.mark.parametrize(("n_sites", "least", "most"), [(1, 0.9, 1.0), (40, 0.45, 0.6)])
def test_members_are_told_from_others_by_one_site_and_not_by_many(rng, n_sites, least, most):
    inside, outside = rng.normal(size=(n_sites * 60, 30)), rng.normal(size=(500, 30))
    known = gram(inside)
    assert (
        least <= area_under_curve(nearness_to_moments(known, inside[:60]), nearness_to_moments(known, outside)) <= most
    )


def test_as_many_rows_as_columns_are_certain_and_five_times_as_many_are_not(rng):
    few, many = ((rng.random((n, 5)) < 0.5).astype(float) for n in (5, 25))
    assert len(certain_rows(gram(few).products, few)) == 5
    assert len(certain_rows(gram(many).products, many)) == 0
