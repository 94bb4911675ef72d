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
    assert not definite.has_negative_direction(np.triu(products), scale, room, products.tobytes())
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
    assert definite.has_negative_direction(np.triu(lie), scale, room, lie.tobytes())


@settings(max_examples=15)
@given(n_columns=WIDTHS, seed=st.integers(0, 10**6))
def test_what_is_found_is_no_lower_than_the_smallest_eigenvalue(n_columns: int, seed: int) -> None:
    """A verdict has a witness: the spread along a direction that there is."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n_columns, n_columns))
    matrix = (matrix + matrix.T) / 2
    least = float(np.linalg.eigvalsh(matrix)[0])
    found = definite._smallest(np.triu(matrix), np.ones(n_columns), rng.normal(size=n_columns))
    assert least - 1e-9 <= found < 0.7 * least
