"""What looking for risky columns costs in CPU seconds: in a whole selection, and by itself in a wide table."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fedsieve import Sieve
from fedsieve.arrays import Float
from fedsieve.kernels import near_copies
from fedsieve.privacy import SITE, held_back
from fedsieve.tables import ArrayTable

N_SITES, N_ROWS, N_COLUMNS = 10, 1000, 100
WIDE_ROWS, WIDE_COLUMNS, DENSITY = 5000, 1000, 0.05
REPEATS = 3


def measured() -> dict[str, float]:
    """Seconds of the fastest of several runs, after one that compiles; CPU time, so that a busy machine counts less."""
    rng = np.random.default_rng(0)
    sites = [rng.normal(size=(N_ROWS, N_COLUMNS)) for _ in range(N_SITES)]
    X, Y = rng.normal(size=(200, N_COLUMNS)), rng.integers(0, 2, (200, 5))
    found = {}
    for policy in ("library", "site"):
        selector = Sieve(n_features_to_select=20, ranges="robust")
        found[f"Sieve.fit, policy={policy!r}"] = _seconds(lambda s=selector, p=policy: s.fit(X, Y, sites, policy=p))
    continuous = rng.normal(size=(WIDE_ROWS, WIDE_COLUMNS))
    sparse = (rng.random((WIDE_ROWS, WIDE_COLUMNS)) < DENSITY).astype(np.float64)
    for title, wide in {"continuous": continuous, f"0/1, {DENSITY:.0%} ones": sparse}.items():
        found[f"near_copies, {title}"] = _seconds(lambda X=wide: near_copies(X, SITE.min_cell - 1))
        found[f"held_back, {title}"] = _seconds(lambda X=wide: _guard(X))
    return found


def _guard(X: Float) -> Any:
    return held_back(ArrayTable(tuple(f"x{i}" for i in range(X.shape[1])), X), (), SITE.min_cell)


def _seconds(work: Callable[[], Any]) -> float:
    work()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)
