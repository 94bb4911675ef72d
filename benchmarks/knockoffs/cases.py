"""Rows of which it is known which features help, and real rows among which some columns are known not to."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.datasets import load
from fedsieve.values import dense

N_LABELED, N_SITES, N_FEATURES, N_TRUE, N_LABELS = 100, 2000, 100, 20, 10
MOST_PLANTED = 60  # real columns, and as many permuted copies
REAL = ("emotions", "yeast", "cal500", "enron", "corel5k")


class Case(NamedTuple):
    """Labeled rows, the rows at sites, who holds which, and which features may be selected."""

    X: Float
    Y: Float
    sites: tuple[Float, ...]
    helps: Bool


class Shape(NamedTuple):
    """How simulated rows differ from the usual."""

    stream: int  # of its draws; that of Sieve's own draws of knockoffs is not free
    rows: Callable[[np.random.Generator, int], Float]
    n_labeled: int = N_LABELED
    n_sites: int = N_SITES
    n_true: int = N_TRUE
    n_candidates: int = N_FEATURES  # the first columns, of which any may help
    carried: float = 0.5  # share of rows with a label
    shift: float = 0.0  # of sites' means, and of their scales by exp of half of it, in deviations
    feels: Callable[[Float], Float] = np.asarray  # what labels follow of the columns
    labeled: Callable[[np.random.Generator, int], Float] | None = None  # if labeled rows are others
    wider: float = 1.0  # than those at sites are the labeled rows, by this factor
    missing: float = 0.0  # share of all values, at random


def simulated(name: str, seed: int) -> Case:
    """One draw of a shape: each true feature helps with three labels, by 0.5 to 1.5 of a deviation, up or down."""
    shape, rng = SHAPES[name], np.random.default_rng([seed, SHAPES[name].stream])
    X = (shape.labeled or shape.rows)(rng, shape.n_labeled)
    sites = [shape.rows(rng, shape.n_sites // 10) for _ in range(10)]
    true = rng.choice(shape.n_candidates, shape.n_true, replace=False)
    effects = np.zeros((N_FEATURES, N_LABELS))
    for feature in true:
        labels = rng.choice(N_LABELS, 3, replace=False)
        effects[feature, labels] = rng.choice([-1, 1], 3) * rng.uniform(0.5, 1.5, 3)
    felt = shape.feels(X)
    response = felt / np.maximum(felt.std(axis=0), 1e-9) @ effects + rng.standard_normal((len(X), N_LABELS))
    Y = (response > np.quantile(response, 1 - shape.carried, axis=0)).astype(np.float64)
    if shape.shift:
        moves = [rng.normal(0, shape.shift, N_FEATURES) for _ in sites]
        sites = [rows * np.exp(move[::-1] / 2) + move for rows, move in zip(sites, moves, strict=True)]
    if shape.missing:
        X, *sites = (np.where(rng.random(rows.shape) < shape.missing, np.nan, rows) for rows in (X, *sites))
    return Case(X * shape.wider, Y, tuple(sites), np.isin(np.arange(N_FEATURES), true))


def planted(name: str, seed: int) -> Case:
    """A fifth of a dataset's rows labeled; beside some of its columns, copies with their values dealt anew."""
    data, rng = load(name), np.random.default_rng(seed)
    X, Y = dense(data.X), np.asarray(data.Y, dtype=np.float64)
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    real = rng.choice(varying, min(MOST_PLANTED, len(varying)), replace=False)
    dealt = np.column_stack([rng.permutation(X[:, column]) for column in real])
    table, rows = np.column_stack([X[:, real], dealt]), rng.permutation(len(X))
    labeled, *sites = np.split(rows, np.linspace(len(X) // 5, len(X), 11).astype(int)[:-1])
    helps = np.arange(2 * len(real)) < len(real)
    return Case(table[labeled], Y[labeled], tuple(table[some] for some in sites), helps)


def _gaussian(correlations: Callable[[np.random.Generator], Float]) -> Callable[[np.random.Generator, int], Float]:
    """Rows of one covariance, the same for all rows of a case."""

    def rows(rng: np.random.Generator, n: int) -> Float:
        root = np.linalg.cholesky(correlations(np.random.default_rng(_KEY)))
        return np.asarray(rng.standard_normal((n, N_FEATURES)) @ root.T)

    return rows


_KEY = 7


def _ar(_rng: np.random.Generator, neighbors: float = 0.5) -> Float:
    place = np.arange(N_FEATURES)
    return np.asarray(neighbors ** np.abs(place[:, None] - place))


def _close_ar(rng: np.random.Generator) -> Float:
    return _ar(rng, 0.7)


def _blocks(_rng: np.random.Generator, within: float = 0.6) -> Float:
    block: Int = np.arange(N_FEATURES) // 5
    return np.where(block[:, None] == block, within, 0.0) + (1 - within) * np.eye(N_FEATURES)


def _close_blocks(rng: np.random.Generator) -> Float:
    return _blocks(rng, 0.9)


def _factors(rng: np.random.Generator) -> Float:
    loadings = rng.standard_normal((N_FEATURES, 5)) / np.sqrt(5)
    covariance = loadings @ loadings.T + np.eye(N_FEATURES)
    deviation = np.sqrt(np.diagonal(covariance))
    return np.asarray(covariance / np.outer(deviation, deviation))


def _discrete(rng: np.random.Generator, n: int) -> Float:
    """Four levels."""
    return np.digitize(_gaussian(_ar)(rng, n), [-0.7, 0.0, 0.7]).astype(np.float64)


def _rare_codes(rng: np.random.Generator, n: int) -> Float:
    """0 and 1, one in twenty."""
    return (_gaussian(_ar)(rng, n) > 1.645).astype(np.float64)


def _heavy(rng: np.random.Generator, n: int) -> Float:
    """Student's t with three degrees of freedom, rows of one scale."""
    return np.asarray(_gaussian(_ar)(rng, n) / np.sqrt(rng.chisquare(3, n) / 3)[:, None])


def _bent(rng: np.random.Generator, n: int) -> Float:
    """Evenly spread columns, and beside each its absolute value, with noise."""
    even = rng.uniform(-1, 1, (n, N_FEATURES // 2))
    return np.hstack([even, np.abs(even) + 0.1 * rng.standard_normal(even.shape)])


def _unrelated(rng: np.random.Generator, n: int) -> Float:
    return np.asarray(rng.standard_normal((n, N_FEATURES)))


def _with_sum(rng: np.random.Generator, n: int) -> Float:
    """The last column is the sum of the first ten."""
    rows = _gaussian(_ar)(rng, n)
    rows[:, -1] = rows[:, :10].sum(axis=1)
    return rows


SHAPES = {
    "AR(0.5)": Shape(5, _gaussian(_ar)),
    "blocks of 5, 0.6": Shape(6, _gaussian(_blocks)),
    "5 factors": Shape(11, _gaussian(_factors)),
    "4 levels": Shape(2, _discrete),
    "0/1, 5 % ones": Shape(0, _rare_codes),
    "heavy tails": Shape(7, _heavy),
    "shifted sites": Shape(10, _gaussian(_ar), shift=1.0),
    "rare labels, 5 %": Shape(9, _gaussian(_ar), carried=0.05),
    "40 labeled rows": Shape(3, _gaussian(_ar), n_labeled=40),
    "100 rows at sites": Shape(1, _gaussian(_ar), n_sites=100),
    "nothing helps": Shape(8, _gaussian(_ar), n_true=0),
    "labeled rows wider": Shape(12, _gaussian(_ar), wider=1.5),
    "bent copies": Shape(15, _bent, n_candidates=N_FEATURES // 2, feels=np.abs),
    "blocks in labeled rows only": Shape(16, _unrelated, n_labeled=300, labeled=_gaussian(_close_blocks)),
    "one column is a sum": Shape(14, _with_sum, n_candidates=N_FEATURES - 1),
    "AR(0.7), 15 % missing": Shape(13, _gaussian(_close_ar), n_labeled=300, missing=0.15),
}
