"""A direction of negative spread is found in wide matrices, and never in those of an honest table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.arrays import Float
from fedsieve.messages import definite

WIDTHS = st.integers(definite.EXACT + 1, definite.EXACT + 200)


def covariances(n_rows: int, n_columns: int, share: float, copies: int, seed: int) -> Float:
    """Of 0/1 rows like words in documents, or of numbers, some of them given several times."""
    rng = np.random.default_rng(seed)
    rows = rng.random((n_rows, n_columns))
    rows = np.repeat(rows if share == 1 else (rows < share).astype(float), copies, axis=0)
    sums = rows.sum(axis=0)
    return np.asarray(rows.T @ rows - np.outer(sums, sums) / len(rows))


def drawn(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 1])


def scale_of(products: Float) -> Float:
    spread = np.maximum(np.diag(products), 0.0)
    return np.asarray(np.divide(1, np.sqrt(spread), out=np.zeros(len(spread)), where=spread > 1e-9))


@settings(max_examples=40)
@given(
    n_rows=st.integers(1, 40),
    n_columns=WIDTHS,
    share=st.sampled_from([0.02, 0.1, 0.5, 1.0]),
    copies=st.integers(1, 4),
    seed=st.integers(0, 10**6),
)
def test_a_few_honest_rows_of_many_columns_are_never_refused(
    n_rows: int, n_columns: int, share: float, copies: int, seed: int
) -> None:
    """Fewer rows than columns: most directions have spread 0, where rounding alone could look like a lie."""
    products = covariances(n_rows, n_columns, share, copies, seed)
    scale = scale_of(products)
    room = 1e-8 * n_columns
    assert not definite.has_negative_direction(
        np.triu(products), np.zeros(n_columns), scale, room, n_rows * copies, drawn(seed)
    )
    assert np.linalg.eigvalsh(products * scale * scale[:, None])[0] > -room  # the exact twin says so, too


@pytest.mark.parametrize("depth", [0.01, 0.3, 5.0])
@settings(max_examples=15)
@given(n_rows=st.integers(8, 30), n_columns=WIDTHS, seed=st.integers(0, 10**6))
def test_one_direction_below_zero_is_found(depth: float, n_rows: int, n_columns: int, seed: int) -> None:
    """Among few rows, where all other spreads are 0 or large; the exact twin sees it as well."""
    products = covariances(n_rows, n_columns, 1.0, 1, seed)
    scale = scale_of(products)
    direction = np.random.default_rng(seed + 1).normal(size=n_columns)
    direction /= np.linalg.norm(direction)
    lie = products - depth * np.outer(direction / scale, direction / scale)
    room = 1e-8 * n_columns
    assert np.linalg.eigvalsh(lie * scale * scale[:, None])[0] < -room
    assert definite.has_negative_direction(np.triu(lie), np.zeros(n_columns), scale, room, n_rows, drawn(seed))


@settings(max_examples=15)
@given(n_columns=WIDTHS, seed=st.integers(0, 10**6))
def test_what_is_found_is_no_lower_than_the_smallest_eigenvalue(n_columns: int, seed: int) -> None:
    """A verdict has a witness: the spread along a direction that there is."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n_columns, n_columns))
    matrix = (matrix + matrix.T) / 2
    least = float(np.linalg.eigvalsh(matrix)[0])
    found = definite._smallest(definite._Scaled(np.triu(matrix), np.ones(n_columns)), rng.normal(size=n_columns))
    assert least - 1e-9 <= found < 0.7 * least


@pytest.mark.parametrize(("n_rows", "share"), [(2, 1.0), (20, 1.0), (40, 0.1), (40, 1.0)])
def test_a_few_honest_rows_have_a_factor_which_is_all_that_is_looked_for(n_rows: int, share: float) -> None:
    n_columns = 320
    products = covariances(n_rows, n_columns, share, 1, 0)
    matrix = definite._Scaled(np.triu(products), scale_of(products))
    assert definite._has_factor(matrix, n_rows - 1, definite.CERTAIN * 1e-8 * n_columns, drawn(0))
    assert n_rows == 2 or not definite._has_factor(matrix, n_rows // 2, 0.01, drawn(0))  # not one of fewer rows


def test_who_foresees_the_directions_can_hide_a_lie_between_them() -> None:
    """So they are drawn by the server when it looks, and follow from nothing that a site knows."""
    n_rows, n_columns = 20, 2 * definite.EXACT
    half = covariances(n_rows, n_columns // 2, 1.0, 1, 0)
    products = np.block([[half, half], [half, half]])  # the factor is made of the first half
    scale, room = scale_of(products), 1e-8 * n_columns
    foreseen = drawn(5).normal(size=(definite.COMPARED, n_columns))[:, n_columns // 2 :]
    hidden = np.random.default_rng(2).normal(size=n_columns // 2)
    hidden -= np.linalg.lstsq(foreseen.T, hidden, rcond=None)[0] @ foreseen  # at right angles to all of them
    lie = products.copy()
    hidden /= scale[n_columns // 2 :]
    lie[n_columns // 2 :, n_columns // 2 :] -= 1e-3 * np.outer(hidden, hidden)
    assert np.linalg.eigvalsh(lie * scale * scale[:, None])[0] < -1000 * room
    asked = np.triu(lie), np.zeros(n_columns), scale, room, n_rows
    assert not definite.has_negative_direction(*asked, drawn(5))
    assert definite.has_negative_direction(*asked, drawn(6))
