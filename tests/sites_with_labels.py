"""Sites that hold rows and labels, for methods that need labels everywhere; the first is the server's.

Values are multiples of 1/1024, so that ranges and the edges of a few bins are exact.
"""

from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Table: TypeAlias = NDArray[np.float64]
Sites: TypeAlias = list[tuple[Table, Table]]

KINDS = ("noise", "of a label", "of a feature", "few", "0/1", "constant", "one odd", "copy", "a label")


def fit(selector: Any, sites: Sites) -> Any:
    """The selector, fitted with the first site as the server's."""
    (X, Y), *others = sites
    return selector.fit(X, Y, clients=others)


def split(X: Table, Y: Table, sizes: list[int]) -> Sites:
    """The rows dealt out in their order."""
    ends = np.cumsum(sizes)[:-1]
    return list(zip(np.split(X, ends), np.split(Y, ends), strict=True))


def pooled(sites: Sites) -> tuple[Table, Table]:
    """All rows in one place."""
    return np.vstack([X for X, _ in sites]), np.vstack([Y for _, Y in sites])


def dyadic(x: Table) -> Table:
    """Rounded to multiples of 1/1024."""
    return np.round(x * 1024) / 1024


@st.composite
def sites_with_labels(
    draw: st.DrawFn,
    *,
    max_sites: int = 4,
    min_rows: int = 2,
    max_rows: int = 30,
    max_features: int = 7,
    kinds: tuple[str, ...] = KINDS,
) -> Sites:
    """Features and labels that are related or do not, at three or more sites, some of very few rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = st.integers(min_rows, min_rows + 3) | st.integers(min_rows, max_rows)
    sizes = draw(st.lists(size, min_size=3, max_size=max_sites))
    labels = _labels(rng, sum(sizes), draw(st.integers(2, 4)))
    features: list[Table] = []
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=max_features)):
        features.append(_column(rng, kind, features, labels))
    return split(np.stack(features, axis=1), np.stack(labels, axis=1), sizes)


def _labels(rng: np.random.Generator, n_rows: int, n_labels: int) -> list[Table]:
    labels = [(rng.random(n_rows) < 0.5).astype(float)]
    for _ in range(n_labels - 1):
        flipped = rng.random(n_rows) < rng.choice([0.1, 0.2, 0.5])
        labels.append(np.abs(labels[-1] - flipped))
    return labels


def _column(rng: np.random.Generator, kind: str, features: list[Table], labels: list[Table]) -> Table:
    n_rows = len(labels[0])
    label = labels[rng.integers(len(labels))]
    before = features[rng.integers(len(features))] if features else label
    one_odd = np.full(n_rows, 0.1)
    one_odd[rng.integers(n_rows)] = 0.5
    noise = rng.normal(size=n_rows)
    values = {
        "noise": noise,
        "of a label": label + noise * rng.choice([0.3, 1.0]),
        "of a feature": before + noise * rng.choice([0.3, 1.0]),
        "few": rng.integers(0, 5, n_rows) / 4,
        "0/1": (rng.random(n_rows) < 0.3).astype(float),
        "constant": np.full(n_rows, 0.1),
        "one odd": one_odd,
        "copy": before * rng.choice([1.0, 3.0, -7.0]),
        "a label": label,
    }[kind]
    return dyadic(values)
