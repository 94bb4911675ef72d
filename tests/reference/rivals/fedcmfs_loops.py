"""FedCMFS: sites test conditional independence; every label gets its parents and children, mended and then pruned."""

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .basics import is_constant

Float = NDArray[np.float64]
PValue = Callable[[int, int, tuple[int, ...]], float]
Residuals = Callable[[int, tuple[int, ...]], Float | None]
Association = Callable[[int, int], float]


def fedcmfs_loops(
    sites: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    alpha: float | None = None,
    max_conditioning: int = 2,
    max_pool: int = 10,
    combine: str = "p-values",
) -> dict[str, Any]:
    """The features of every label as found, as recovered, as kept (sets), and the order of all features."""
    tables = [np.column_stack([np.array(X, dtype=np.float64), np.array(Y, dtype=np.float64)]) for X, Y in sites]
    n_labels = np.array(sites[0][1]).shape[1]
    d = tables[0].shape[1] - n_labels
    n = sum(len(table) for table in tables)
    if alpha is None:
        alpha = 0.01 if n > 5000 else 0.05
    if combine == "pooled":
        tables = [np.vstack(tables)]
    leave = {id(table): residuals(table) for table in tables}

    def varies(table: Float, v: int) -> bool:
        return not is_constant(table[:, v])

    @functools.cache
    def p(x: int, y: int, given: tuple[int, ...]) -> float:
        able = [t for t in tables if len(t) - len(given) - 3 > 0 and varies(t, x) and varies(t, y)]
        if not able:
            return math.nan  # neither dependent nor independent: all comparisons fail
        values = [p_value(correlation_of(leave[id(t)], x, y, given), len(t), len(given)) for t in able]
        if combine == "votes":
            against = sum(len(t) for t, value in zip(able, values, strict=True) if value > alpha)
            return 1.0 if 2 * against > sum(len(t) for t in able) else 0.0
        return math.fsum(len(t) * value for t, value in zip(able, values, strict=True)) / sum(len(t) for t in able)

    @functools.cache
    def assoc(x: int, y: int) -> float:
        return round(math.fsum(len(t) / n * abs(correlation_of(leave[id(t)], x, y, ())) for t in tables), 10)

    def search(target: int, candidates: Iterable[int]) -> tuple[list[int], dict[int, tuple[int, ...]]]:
        return parents_and_children(target, candidates, p, assoc, alpha, max_conditioning, max_pool)

    labels = range(d, d + n_labels)
    found: dict[int, list[int]] = {}
    sepsets: dict[int, dict[int, tuple[int, ...]]] = {}
    for label in labels:
        found[label], sepsets[label] = search(label, [v for v in range(d + n_labels) if v != label])

    recovered = {label: list(found[label]) for label in labels}
    for label in labels:
        for z, sepset in sepsets[label].items():
            blockers = [m for m in sepset if m >= d]
            if z < d and blockers:
                dependent = p(z, label, tuple(v for v in sepset if v < d)) <= alpha
                if dependent and any(z in found[m] for m in blockers):
                    recovered[label].append(z)

    kept: dict[int, set[int]] = {}
    for label in labels:
        kept[label] = set()
        for z in recovered[label]:
            if z < d and label in search(z, [label] + [v for v in recovered[label] if v < d and v != z])[0]:
                kept[label].add(z)

    order = sorted(
        range(d),
        key=lambda f: (-sum(f in kept[label] for label in labels), -max(assoc(f, label) for label in labels), f),
    )
    return {
        "found": [{v for v in found[label] if v < d} for label in labels],
        "recovered": [{v for v in recovered[label] if v < d} for label in labels],
        "kept": [kept[label] for label in labels],
        "order": order,
    }


def parents_and_children(
    target: int, candidates: Iterable[int], p: PValue, assoc: Association, alpha: float, deepest: int, max_pool: int
) -> tuple[list[int], dict[int, tuple[int, ...]]]:
    """Those no set of the others makes independent of the target, strongest first, and what made the rest so."""
    pc = [z for z in candidates if p(z, target, ()) <= alpha]
    pc.sort(key=lambda z: (-assoc(z, target), z))
    sepset: dict[int, tuple[int, ...]] = {}
    for size in range(1, deepest + 1):
        if len(pc) <= size:
            break
        pool = pc[:max_pool]
        removed: set[int] = set()
        for z in reversed(pc):
            for given in itertools.combinations([v for v in pool if v != z], size):
                if not removed.intersection(given) and p(z, target, given) > alpha:
                    removed.add(z)
                    sepset[z] = given
                    break
        pc = [z for z in pc if z not in removed]
    return pc, sepset


def residuals(table: Float) -> Residuals:
    """What least squares on the given columns and a constant leave of a column; `None` where nothing is left."""

    @functools.cache
    def left(v: int, given: tuple[int, ...]) -> Float | None:
        column = table[:, v]
        if is_constant(column):
            return None
        design = np.column_stack([np.ones(len(table)), table[:, list(given)]])
        residual = column - design @ np.linalg.lstsq(design, column, rcond=None)[0]
        return None if residual.var() <= 1e-10 * column.var() else residual - residual.mean()

    return left


def correlation_of(left: Residuals, x: int, y: int, given: tuple[int, ...]) -> float:
    """The correlation of what is left of x and of y; 0 where nothing is left of one."""
    a, b = left(x, given), left(y, given)
    if a is None or b is None:
        return 0.0
    return float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))


def partial_correlation(table: Float, x: int, y: int, given: Sequence[int]) -> float:
    """Of two columns of a table, given others."""
    return correlation_of(residuals(table), x, y, tuple(given))


def p_value(r: float, n: int, n_given: int) -> float:
    """Two-sided, by Fisher's z.

    >>> p_value(0.0, 10, 2), p_value(1.0, 10, 2)
    (1.0, 0.0)
    """
    if abs(r) >= 1:
        return 0.0
    return math.erfc(math.sqrt(n - n_given - 3) * math.atanh(abs(r)) / math.sqrt(2))
