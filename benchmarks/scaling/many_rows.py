"""SSFMLFS on many rows: samples of row pairs beside all pairs, sites of a million rows, and many labeled rows.

As a module it is the process that is measured: `python -m benchmarks.scaling.many_rows 1000000`, or `labeled`; with
`fit` it is a whole one, of two sites.
"""

import json
import sys
import time

import numpy as np
from scipy.stats import kendalltau

from benchmarks.row import Row
from benchmarks.scaling.processes import measured
from fedsieve.kernels import MAX_PAIRS

N_FEATURES = 100
MODULE = "benchmarks.scaling.many_rows"
SAMPLES = (100_000, 1_000_000, 10_000_000)
SIZES = (20_000, 200_000, 1_000_000)


def rows() -> list[Row]:
    """Kendall's tau at 20,000 rows; CPU seconds of a site by its rows; the search for unlike label sets."""
    found = [*_beside_all_pairs()]
    seconds = []
    for size in SIZES:
        site = measured(MODULE, str(size))
        seconds.append(site["seconds"])
        target = 60.0 if size == SIZES[-1] else None
        found.append(
            Row(f"pair sums of one site, {size:,} x 100, 10^7 pairs", site["seconds"], "CPU s", "less", target)
        )
    beyond = float(np.polyfit(np.log(SIZES), np.log(seconds), 1)[0])
    found.append(Row("exponent in rows beyond the cap, 20,000 to 1,000,000", beyond, "exponent", "less", 0.15))
    labeled = measured(MODULE, "labeled")
    found.append(Row("unlike label sets, s = 50,000, L = 1,000", labeled["seconds"], "CPU s", "less", 60.0))
    found.append(Row("its whole process", labeled["peak_mb"], "MB", "less", 2048.0))
    return [*found, *_whole_fits()]


def _whole_fits() -> list[Row]:
    """What a user waits for: ranges, moments, pair sums, unlike label sets and the ranking."""
    large, labeled = measured(MODULE, str(SIZES[-1]), "fit"), measured(MODULE, "labeled", "fit")
    return [
        Row("a whole fit, two sites of 1,000,000 x 100", large["seconds"], "CPU s", "less", 60.0),
        Row("its whole process, 1.6 GB of it the rows", large["peak_mb"], "MB", "less"),
        Row("a whole fit, s = 50,000, L = 1,000, 100 columns", labeled["seconds"], "CPU s", "less", 60.0),
        Row("its whole process, 400 MB of it the labels", labeled["peak_mb"], "MB", "less", 2048.0),
    ]


def _beside_all_pairs() -> list[Row]:
    from fedsieve import SSFMLFS

    X, Y, clients = _federation(20_000)

    def fitted(max_pairs: int) -> tuple[SSFMLFS, float]:
        start = time.process_time()
        return SSFMLFS(max_pairs=max_pairs).fit(X, Y, clients=clients), time.process_time() - start

    fitted(SAMPLES[0])  # compiles
    exact, all_seconds = fitted(MAX_PAIRS)
    found = []
    for max_pairs in SAMPLES:
        one, seconds = fitted(max_pairs)
        tau = float(kendalltau(one.ranking_, exact.ranking_).statistic)
        off, said = np.abs(one.ranking_ - exact.ranking_), one.rank_error_
        shape = f"{max_pairs:,} pairs, two sites of 20,000 x 100"
        targets = {1_000_000: 0.985, 10_000_000: 0.995}
        found += [
            Row(f"Kendall's tau with all pairs: {shape}", tau, "", "more", targets.get(max_pairs)),
            Row(f"ranks within the places said: {shape}", float((off <= said).mean()), "share", "more", 1.0),
            Row(f"places said, median: {shape}", float(np.median(said)), "places", "less"),
            Row(f"places off, at most: {shape}", float(off.max()), "places", "less"),
            Row(f"times as fast as all pairs: {shape}", all_seconds / seconds, "x", "more"),
        ]
    return found


def _federation(n_rows: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(20, N_FEATURES)) / 3

    def table(n: int) -> np.ndarray:
        return rng.normal(size=(n, 20)) @ loadings + rng.normal(size=(n, N_FEATURES))

    X = table(200)
    return X, (X[:, :10] > 0).astype(int), [table(n_rows) for _ in range(2)]


def fit(what: str) -> None:
    from fedsieve import SSFMLFS
    from fedsieve.experiments.runner import peak_megabytes, reset_peak
    from fedsieve.kernels import warm_up

    warm_up()
    X, Y, clients = _federation(200 if what == "labeled" else int(what))
    if what == "labeled":
        rng = np.random.default_rng(1)
        X, Y = rng.normal(size=(50_000, N_FEATURES)), (rng.random((50_000, 1000)) < 0.01).astype(int)
    reset_peak()  # making tables takes more than they do
    start = time.process_time()
    SSFMLFS().fit(X, Y, clients=clients)
    print(json.dumps({"seconds": time.process_time() - start, "peak_mb": peak_megabytes()}))


def main(what: str) -> None:
    from fedsieve import kernels
    from fedsieve.experiments.runner import peak_megabytes

    rng = np.random.default_rng(0)
    if what == "labeled":
        Y = (rng.random((50_000, 1000)) < 0.01).astype(np.float64)
        kernels.different_rows(Y[:100], 3)
        start = time.process_time()
        kernels.different_rows(Y, 3)
    else:
        X, n_rows = rng.random((int(what), N_FEATURES)), int(what)
        radius = np.full(N_FEATURES, 0.24)
        kernels.pair_sums(X[:500], radius, sample=kernels.pair_sample(500, 1000, b""))
        start = time.process_time()
        sample = kernels.pair_sample(n_rows, 10_000_000, b"secret")
        kernels.pair_sums(X, radius, sample=sample)
    print(json.dumps({"seconds": time.process_time() - start, "peak_mb": peak_megabytes()}))


if __name__ == "__main__":
    (fit if "fit" in sys.argv else main)(sys.argv[1])
