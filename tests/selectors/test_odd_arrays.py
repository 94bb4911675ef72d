"""Arrays that numpy would turn into numbers silently, and that are none: refused, as labeled rows and at clients."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fedsieve import Sieve
from fedsieve.errors import DataError, ParameterError

RNG = np.random.default_rng(1)
X, Z = RNG.normal(size=(30, 3)), RNG.normal(size=(40, 3))
Y = (X[:, :2] > 0).astype(int)
SELECTOR = Sieve(2, n_trees=3, n_bootstraps=0)
ODD = {
    "dates": (lambda rows: rows.astype("i8").astype("M8[D]"), r"holds dates \(datetime64\[D\]\).*name the columns in"),
    "spans": (
        lambda rows: rows.astype("m8[s]"),
        r"holds spans of time \(timedelta64\[s\]\).*in one unit",
    ),
    "complex": (lambda rows: rows + 1j, r"holds complex numbers \(complex128\).*pass real and imaginary parts"),
    "complex, sparse": (lambda rows: sparse.csr_array(rows + 1j), "holds complex numbers"),
    "complex, in lists": (lambda rows: (rows + 1j).tolist(), "holds complex numbers"),
    "masked": (lambda rows: np.ma.masked_greater(rows, 1), r"is a masked array.*filled\(np\.nan\)"),
}


@pytest.mark.parametrize(("made", "said"), ODD.values(), ids=ODD)
def test_what_holds_no_numbers_is_refused(made, said):
    for clients in (None, [Z, Z]):
        with pytest.raises(DataError, match=f"^Sieve: X {said}") as refused:
            SELECTOR.fit(made(X), Y, clients=clients)
        assert f"{X[0, 0]:.3f}" not in str(refused.value)
    with pytest.raises(DataError, match=f"^client 'a' {said}"):
        SELECTOR.fit(X, Y, clients={"a": made(Z), "b": Z})


@pytest.mark.parametrize("kind", [bool, object, np.float32, np.int8])
def test_numbers_of_all_kinds_are_read(kind):
    whole = (3 * Z).astype(kind)
    expected = SELECTOR.fit(X, Y, clients=[whole.astype(float), Z]).scores_
    np.testing.assert_array_equal(SELECTOR.fit(X, Y, clients=[whole, Z]).scores_, expected)
    SELECTOR.fit((3 * X).astype(kind), Y, clients=[Z, Z])


def test_two_columns_of_one_name_are_refused():
    X = pd.DataFrame(np.ones((4, 3)), columns=["dose", "age", "dose"])
    with pytest.raises(ParameterError, match=r"Sieve: columns of X must have different names; 'dose' occurs twice\."):
        Sieve(1).fit(X, np.eye(4, 2))
