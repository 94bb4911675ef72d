"""SSFMLFS on many features: whole selections of ten sites of 200 rows, CPU seconds and memory, and the dense path.

As a module it is the process that is measured: `python -m benchmarks.scaling.many_features 5000`, or `ones` for 0/1
columns, or `site` for sites that guard themselves, or `sieve` for Sieve as it comes, at the largest width.
"""

import json
import sys
import time

import numpy as np

from benchmarks.row import Row
from benchmarks.scaling.processes import measured

MODULE = "benchmarks.scaling.many_features"
WIDTHS = (5_000, 10_000, 20_000, 50_000)
N_ROWS, N_CLIENTS = 200, 10


def rows() -> list[Row]:
    """Each width in a process of its own: the server and all ten sites."""
    return rows_of({name: measured(MODULE, name) for name in (*map(str, WIDTHS), "dense", "ones", "site", "sieve")})


def rows_of(found: dict[str, dict[str, float]]) -> list[Row]:
    """The figures, from what the processes printed."""
    widest = WIDTHS[-1]
    result = []
    for width in WIDTHS:
        shape, of = f"ten sites of 200 rows, d = {width:,}", found[str(width)]
        most = (600.0, 2048.0) if width == widest else (None, None)
        result.append(Row(f"SSFMLFS, {shape}", of["seconds"], "CPU s", "less", most[0]))
        result.append(Row(f"memory of server and sites in one process, {shape}", of["peak_mb"], "MB", "less", most[1]))
    seconds = [found[str(width)]["seconds"] for width in WIDTHS]
    exponent = float(np.polyfit(np.log(WIDTHS), np.log(seconds), 1)[0])
    dense, ones, site = found["dense"], found["ones"], found["site"]
    sieve, shape = found["sieve"], f"ten sites of 200 rows, d = {widest:,}"
    return [
        *result,
        Row("exponent in d, 5,000 to 50,000", exponent, "exponent", "less", 1.15),
        Row("places that differ from the dense path's order, d = 2,000", dense["n_moved"], "places", "less", 0.0),
        Row("ten products from the rows, times as fast as from pair sums, d = 2,000", dense["ratio"], "x", "more"),
        Row("memory, 0/1 columns, d = 10,000", ones["peak_mb"], "MB", "less", 2048.0),
        Row("memory, three sites that guard themselves, d = 6,000", site["peak_mb"], "MB", "less", 2048.0),
        Row(f"Sieve with its default k, {shape}", sieve["seconds"], "CPU s", "less", 290.0),
        Row(f"Sieve with its default k, {shape}: memory", sieve["peak_mb"], "MB", "less", 2048.0),
        Row(f"Sieve with its default k, {shape}: columns compared", sieve["n_compared"], "columns", "less", 2000.0),
    ]


def main(what: str) -> None:
    from fedsieve import SSFMLFS, Sieve
    from fedsieve.experiments.runner import peak_megabytes
    from fedsieve.kernels import warm_up

    warm_up()
    if what == "dense":
        print(json.dumps(_beside_dense()))
        return
    width = {"ones": 10_000, "site": 6_000, "sieve": WIDTHS[-1]}.get(what) or int(what)
    X, clients = _federation(width, ones=what == "ones")
    labels = (X[:, :10] > np.median(X[:, :10], axis=0)).astype(int)
    selector: SSFMLFS | Sieve = Sieve() if what == "sieve" else SSFMLFS(wire="vectors")
    policy = "library"
    if what == "site":  # rules of a site allow few rounds of so few rows, and no exact extremes
        selector, policy = SSFMLFS(wire="vectors", ranges="robust", max_iter=12, tol=1e-6), "site"
        clients = clients[:3]
    start = time.process_time()
    selector.fit(X, labels, clients=clients, policy=policy)
    found = {"seconds": time.process_time() - start, "peak_mb": peak_megabytes()}
    # Of Sieve's scores those of columns that were screened out are below 0.
    print(json.dumps({**found, "n_compared": int((selector.scores_ >= 0).sum())}))


def _federation(width: int, *, ones: bool = False) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(20, width))

    def table() -> np.ndarray:
        values = rng.normal(size=(N_ROWS, 20)) @ loadings / 2 + rng.normal(size=(N_ROWS, width))
        return (values > 1).astype(np.float64) if ones else values

    return table(), [table() for _ in range(N_CLIENTS)]


def _beside_dense() -> dict[str, float]:
    """At d = 2,000 both ways are possible: the same order, and the time of one site's products."""
    from fedsieve import SSFMLFS
    from fedsieve.kernels import costs, distance_product, pair_sums, product_from_rows

    X, clients = _federation(2000)
    labels = (X[:, :10] > 0).astype(int)
    dense = SSFMLFS(wire="statistics").fit(X, labels, clients=clients[:3])
    costs.ALWAYS_SUMS = costs.MOST_SUMS = 0  # so that sites multiply from their rows
    from_rows = SSFMLFS(wire="vectors").fit(X, labels, clients=clients[:3])
    unit = np.random.default_rng(1).normal(0.5, 0.15, (N_ROWS, 2000)).clip(0, 1)
    radius, vector = unit.std(axis=0, ddof=1) / 1.2, np.ones(2000)
    start = time.process_time()
    sums = pair_sums(unit, radius)
    for _ in range(10):
        distance_product(sums, vector)
    by_sums = time.process_time() - start
    start = time.process_time()
    product_from_rows(unit, radius, vector)
    by_rows = 10 * (time.process_time() - start)
    return {"n_moved": float((dense.order_ != from_rows.order_).sum()), "ratio": by_sums / by_rows}


if __name__ == "__main__":
    main(sys.argv[1])
