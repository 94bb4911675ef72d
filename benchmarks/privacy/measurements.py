"""What is measured: every attack over numbers of rows and columns, as shares of rows read, beside what chance gives."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from benchmarks.privacy import cases
from fedsieve.arrays import Bool, Float
from fedsieve.audit.attacks.binary_rows import rows_from_products
from fedsieve.audit.attacks.gram import Gram
from fedsieve.audit.attacks.membership import nearness_to_moments
from fedsieve.audit.attacks.patterns import certain_rows
from fedsieve.audit.attacks.projections import sparse_row
from fedsieve.audit.curves import area_under_curve
from fedsieve.audit.score import share_by_chance, share_of_rows
from fedsieve.datasets import load
from fedsieve.errors import ProtocolError
from fedsieve.privacy import LIBRARY, SITE
from fedsieve.values import dense

Record = dict[str, Any]


def _counts_by_chance(X: Float) -> float:
    """How many counts of common ones are what independent columns would have."""
    pairs, ones = np.triu_indices(X.shape[1], 1), X.sum(axis=0)
    return float(np.mean(np.round(np.outer(ones, ones) / len(X))[pairs] == (X.T @ X)[pairs]))


N_TABLES = 3  # drawn for each number
BY_CHANCE: dict[Callable[..., float], Callable[[Float], float]] = {
    cases.covariances_of_binary: share_by_chance,
    cases.pair_sums_of_binary: share_by_chance,
    cases.information_of_binary: share_by_chance,
    cases.products_of_binary: _counts_by_chance,
}
"""What a server reads that knows the columns' frequencies alone; of continuous values and of one row, nothing."""
GRIDS: dict[str, tuple[Callable[..., float], tuple[int, ...], tuple[int, ...]]] = {
    "covariances: a lone 1": (cases.covariances_of_lone, (100, 5000), (20,)),
    "covariances: two columns differ in one row": (cases.covariances_of_disagreement, (100, 5000), (20,)),
    "covariances: a lone label (FedCMFS)": (cases.covariances_of_lone_label, (100, 5000), (20,)),
    "covariances: 0/1 rows by a lattice": (cases.covariances_of_binary, (10, 20, 30, 50, 70, 100), (10, 30, 100, 200)),
    "covariances and extremes: continuous rows": (cases.covariances_of_continuous, (10, 12, 15, 20), (30, 150)),
    "pair sums: 0/1 rows": (cases.pair_sums_of_binary, (11, 20, 21, 31, 51, 91), (10, 30, 100)),
    "products: counts of 0/1 columns": (cases.products_of_binary, (11, 51), (6, 8, 10, 12, 16, 24)),
    "information: 0/1 rows": (cases.information_of_binary, (11, 20, 31, 51, 91), (10, 30, 60)),
    "projections: a lone 1, its row times the weights": (cases.projections_of_lone, (100, 5000), (40,)),
}


def everything() -> Iterator[tuple[str, Callable[[], Record]]]:
    """A name for each measurement, and what makes it."""
    for what, (case, rows, columns) in GRIDS.items():
        for n, d in product(rows, columns):
            yield f"{what}, n = {n}, d = {d}", lambda case=case, n=n, d=d: _case(case, n, d)
    for n in (10, 100, 200):
        yield f"covariances: lone values of Enron, n = {n}", lambda n=n: _enron(n)
    for n in (6, 12, 18, 30, 50):
        yield f"covariances: 0/1 rows in every possible table, n = {n}, d = 6", lambda n=n: _certain(n, 6)
    for n, per_column in product((50, 100), (1.2, 1.5, 2.0, 3.0)):
        yield (
            f"covariances: sparse columns that min_cell lets pass, n = {n}, {per_column:g} rows per column",
            lambda n=n, per_column=per_column: _sparse(n, per_column),
        )
    for n_labels, n_ones in product((14, 45, 100), (3, 6, 12)):
        yield (
            f"projections: a lone row of {n_ones} ones in 2,100 columns, {n_labels} labels",
            lambda n_labels=n_labels, n_ones=n_ones: _sparse_row(n_labels, n_ones),
        )
    yield "membership: a site of 193 rows of Yeast", lambda: _membership(193)
    yield "membership: the total of ten sites of Yeast", lambda: _membership(1930)


def _case(case: Callable[..., float], n: int, d: int) -> Record:
    shares = [case(n, d, LIBRARY, seed) for seed in range(N_TABLES)]
    guessing = BY_CHANCE.get(case, lambda _: 0.0)
    by_chance = [guessing(cases.binary_table(n, d, np.random.default_rng(seed))) for seed in range(N_TABLES)]
    return {"read": float(np.mean(shares)), "by chance": float(np.mean(by_chance)), "site": _under_rules(case, n, d)}


def _under_rules(case: Callable[..., float], n: int, d: int) -> float | str:
    """The same under the rules of a site: a share, or that it refused."""
    try:
        return case(n, d, SITE)
    except ProtocolError as refusal:
        return f"refused: {refusal}"


def _enron(n: int) -> Record:
    X = np.asarray(dense(load("enron").X), dtype=np.float64)
    rng = np.random.default_rng(0)
    shares = [cases.lone_values_of(X[rng.choice(len(X), n, replace=False)], LIBRARY) for _ in range(N_TABLES)]
    return {"read": float(np.mean(shares)), "by chance": 0.0}


def _certain(n: int, d: int) -> Record:
    shares = []
    for seed in range(N_TABLES):
        X = cases.binary_table(n, d, np.random.default_rng(seed))
        shares.append(share_of_rows(certain_rows(_gram(X).products, X), X))
    return {"read": float(np.mean(shares)), "by chance": 0.0}


def _sparse(n: int, per_column: float) -> Record:
    """Columns with 5 to 15 % ones; those that fail the rule of `min_cell` are left out, as a site does."""
    shares = []
    for seed in range(N_TABLES):
        X = cases.binary_table(n, 600, np.random.default_rng(seed), (0.05, 0.15))
        X = X[:, np.flatnonzero(_passes(X, SITE.min_cell))[: int(n / per_column)]]
        shares.append(share_of_rows(rows_from_products(_gram(X), n_shuffles=3), X))
    return {"read": float(np.mean(shares)), "by chance": share_by_chance(X), "columns": X.shape[1]}


def _passes(X: Float, min_cell: int) -> Bool:
    """The columns that differ from their most frequent value, and from each column before, in enough rows."""
    n = len(X)
    passes = np.minimum(X.sum(axis=0), n - X.sum(axis=0)) >= min_cell
    both, ones = X.T @ X, X.sum(axis=0)
    apart = ones[:, None] + ones - 2 * both
    for column in np.flatnonzero(passes):
        before = np.flatnonzero(passes[:column])
        passes[column] = np.all(np.minimum(apart[column, before], n - apart[column, before]) >= min_cell)
    return passes


def _sparse_row(n_labels: int, n_ones: int) -> Record:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(N_TABLES):
        weights, row = rng.normal(size=(2100, n_labels)), np.zeros(2100)
        row[rng.choice(2100, n_ones, replace=False)] = 1.0
        found.append(np.array_equal(sparse_row(weights, row @ weights), row))
    return {"read": float(np.mean(found)), "by chance": 0.0}


def _membership(n: int) -> Record:
    """How often a row of the first site scores above a row that is nowhere; by chance, a row against another."""
    X = np.asarray(load("yeast").X, dtype=np.float64)
    aucs, controls = [], []
    for seed in range(N_TABLES):
        rows = np.random.default_rng(seed).permutation(len(X))
        scores = nearness_to_moments(_gram(X[rows[:n]]), X)
        outside = scores[rows[1930:]]
        aucs.append(area_under_curve(scores[rows[:193]], outside))
        controls.append(area_under_curve(outside[::2], outside[1::2]))
    return {"read": float(np.mean(aucs)), "by chance": float(np.mean(controls)), "measure": "area under the ROC curve"}


def _gram(X: Float) -> Gram:
    """What covariances would tell, for what needs no site to answer."""
    ones = np.hstack([np.ones((len(X), 1)), X])
    return Gram(tuple(map(str, range(X.shape[1]))), ones.T @ ones)
