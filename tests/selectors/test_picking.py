"""Columns are picked as scikit-learn's `SelectorMixin` picks them, which is loaded only then."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fedsieve.selectors.picking import PicksColumns

X = np.array([[1.0, 0.0, 3.0, 4.0], [5.0, 6.0, 0.0, 8.0], [9.0, 1.0, 2.0, 0.0]])
FRAME = pd.DataFrame(X, columns=["age", "dose", "pulse", "weight"])
MASKS = [[True, False, True, False], [False, False, False, True], [True] * 4, [False] * 4]


class Picking(BaseEstimator):
    """What both have in common: a mask that `fit` learns by heart."""

    def __init__(self, mask):
        self.mask = mask

    def fit(self, X, _=None):
        validate_data(self, X, accept_sparse="csr")
        self.support_ = np.array(self.mask)
        return self

    def learned(self):
        check_is_fitted(self)
        return self.support_


class Ours(PicksColumns, Picking):
    _get_support_mask = Picking.learned


class Theirs(SelectorMixin, Picking):
    _get_support_mask = Picking.learned


def told(what, selector):
    """What a call gives: its value, warnings and error in words."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            value = what(selector)
        except Exception as error:
            value = (type(error), str(error).replace("Theirs", "Ours"))
    shown = [(one.category, str(one.message).replace("Theirs", "Ours")) for one in heard]
    return value, shown


CALLS = {
    "mask": lambda s: s.get_support(),
    "indices": lambda s: s.get_support(indices=True),
    "array": lambda s: s.transform(X),
    "integers": lambda s: s.transform(X.astype(np.int32)),
    "frame": lambda s: s.transform(FRAME),
    "CSR": lambda s: s.transform(sparse.csr_array(X)),
    "CSC matrix": lambda s: s.transform(sparse.csc_matrix(X)),
    "fit and transform": lambda s: s.fit_transform(X),
    "as pandas": lambda s: s.set_output(transform="pandas").transform(FRAME),
    "as polars": lambda s: s.set_output(transform="polars").transform(FRAME),
    "inverse": lambda s: s.inverse_transform(X[:, : max(1, sum(s.mask))]),
    "inverse of CSR": lambda s: s.inverse_transform(sparse.csr_array(X[:, : max(1, sum(s.mask))])),
    "inverse of too many": lambda s: s.inverse_transform(np.hstack([X, X])),
    "names": lambda s: s.get_feature_names_out(),
    "other names": lambda s: s.get_feature_names_out(["a", "b", "c", "d"]),
    "fewer columns": lambda s: s.transform(X[:, :3]),
    "columns in another order": lambda s: s.transform(FRAME[["dose", "age", "pulse", "weight"]]),
    "gaps": lambda s: s.transform(np.where(X > 5, np.nan, X)),
    "text": lambda s: s.transform(FRAME.astype(object).assign(age="old")),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fitted_on", [None, X, FRAME], ids=["unfitted", "array", "frame"])
@pytest.mark.parametrize("mask", MASKS, ids=str)
def test_it_picks_as_scikit_learn_s_mixin_does(mask, fitted_on, call):
    ours, theirs = Ours(mask), Theirs(mask)
    if fitted_on is not None:
        ours.fit(fitted_on), theirs.fit(fitted_on)
    (value, heard), (expected, expected_heard) = told(CALLS[call], ours), told(CALLS[call], theirs)
    assert heard == expected_heard
    assert type(value) is type(expected)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(value, expected)
    elif hasattr(expected, "equals"):
        assert value.equals(expected)
    elif sparse.issparse(expected):
        assert value.dtype == expected.dtype
        assert_array_equal(value.toarray(), expected.toarray())
    elif isinstance(expected, np.ndarray):
        assert value.dtype == expected.dtype
        assert_array_equal(value, expected)
    else:
        assert value == expected


def test_importing_a_selector_loads_little_beside_scikit_learn_s_base():
    """What importing both loads is what each does, taken together."""
    code = """if True:
        import sys
        import sklearn.base
        before = set(sys.modules)
        from fedsieve import SSFMLFS, Sieve
        print(*sorted(set(sys.modules) - before))"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    loaded = run.stdout.split()
    assert "fedsieve.selectors.base" in loaded
    assert [module for module in loaded if not module.startswith("fedsieve")] == []
    assert [module for module in loaded if module.startswith(("fedsieve.messages", "fedsieve.methods"))] == []


@pytest.mark.parametrize(
    "code",
    [
        "from sklearn.feature_selection import SelectorMixin; from fedsieve import Sieve; s = Sieve()",
        pytest.param(
            "from fedsieve import Sieve; from sklearn.feature_selection import SelectorMixin; "
            "s = Sieve(1, n_trees=2).fit([[0, 1], [1, 1], [0, 2], [1, 2]], [0, 1, 0, 1]); s.get_support()",
            marks=pytest.mark.full,
        ),
    ],
)
def test_a_selector_is_of_the_mixins_kind(code):
    code = f"{code}; print(isinstance(s, SelectorMixin), isinstance(object(), SelectorMixin))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert run.stdout.split() == ["True", "False"]
