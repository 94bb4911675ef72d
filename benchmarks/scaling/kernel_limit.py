"""Near the limit: the pair-sum kernel beside a loop in C with vectors by hand, and beside scipy's `cdist`.

The C loop (`pair_sums.c`) is compiled when this runs; where there is no compiler, its rows are left out.
"""

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.row import Row
from benchmarks.speed.pair_sums import pair_relations
from fedsieve.kernels import continuous, pair_sums

N_FEATURES, N_ROWS = 103, 600  # of Yeast's width


def rows() -> list[Row]:
    """Shares of the C loop's rate, and times as fast as `cdist`."""
    X = np.random.default_rng(0).random((N_ROWS, N_FEATURES))
    radius = X.std(axis=0, ddof=1) / 1.2
    return [*_beside_c(X, radius), *_beside_cdist(X, radius)]


def _beside_c(X: np.ndarray, radius: np.ndarray) -> list[Row]:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        print("kernel_limit: no C compiler here, so that the loop in C is left out.")
        return []
    padded, length = (N_FEATURES + 3) // 4 * 4, continuous.CHUNK
    strip = np.random.default_rng(1).integers(0, 1 << 23, (padded, length)).astype(np.uint32)
    sums, peer = np.zeros((2, padded, padded), dtype=np.int64)
    with tempfile.TemporaryDirectory() as folder:
        add_strip = _compiled(compiler, Path(folder))
        times = _interleaved(
            {
                "c": lambda: add_strip(strip.ctypes.data, length, length, padded, peer.ctypes.data),
                "strip": lambda: continuous._add_strip(strip, length, padded, sums),
                "whole": lambda: pair_sums(X, radius, n_threads=1),
            },
            {"c": 50, "strip": 50},
            repeats=25,
        )
        sums[:], peer[:] = 0, 0
        continuous._add_strip(strip, length, padded, sums)
        add_strip(strip.ctypes.data, length, length, padded, peer.ctypes.data)
    assert np.array_equal(np.triu(sums), np.triu(peer)), "both loops add up the same"
    blocks = sum(padded - p for p in range(0, padded, 4)) * 4 * length
    without_doubles = blocks - padded // 4 * 6 * length  # the loop in C takes blocks on the diagonal whole
    unique = N_ROWS * (N_ROWS - 1) / 2 * N_FEATURES * (N_FEATURES + 1) / 2
    in_c, in_numba, whole = blocks / times["c"], without_doubles / times["strip"], unique / times["whole"]
    return [
        Row("loop in C, vectors by hand", in_c / 1e9, "G minima/s", "more"),
        Row("strip loop, share of the loop in C", in_numba / in_c, "x", "more", 0.7),
        Row("whole pair sums, d = 103, n = 600, one thread, share of the loop in C", whole / in_c, "x", "more", 0.7),
    ]


def _beside_cdist(X: np.ndarray, radius: np.ndarray) -> list[Row]:
    relations = pair_relations(X, radius)
    peers = {
        "cdist": lambda: cdist(relations, relations, "cityblock"),
        "ours": lambda: pair_sums(X, radius, n_threads=2),
    }
    loops = {"ours": 20}  # about as long as one of the other
    times, by_clock = (_interleaved(peers, loops, 5, clock) for clock in (time.process_time, time.perf_counter))
    # It visits every pair of features twice; and the CPU seconds of two threads pass at once.
    ratio = (times["cdist"] / 2) / (times["ours"] / 2)
    what = "pair sums on two threads, times as fast as cdist per unique pair"
    return [
        Row(what, ratio, "x", "more", 30),
        Row(f"{what}, by the clock", by_clock["cdist"] / 2 / by_clock["ours"], "x", "more", 30),  # of two quiet cores
    ]


def _compiled(compiler: str, folder: Path) -> Callable[..., None]:
    library, source = folder / "pair_sums.so", Path(__file__).with_name("pair_sums.c")
    command = [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    function = ctypes.CDLL(str(library)).add_strip
    function.argtypes = [ctypes.c_void_p, *[ctypes.c_int64] * 3, ctypes.c_void_p]
    function.restype = None
    return function


def _interleaved(
    works: dict[str, Callable[[], object]],
    loops: dict[str, int],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """The least seconds of each, of CPU unless said, in turns: what else the machine does strikes all alike."""
    for work in works.values():
        work()
    best = dict.fromkeys(works, np.inf)
    for _ in range(repeats):
        for name, work in works.items():
            start = clock()
            for _ in range(loops.get(name, 1)):
                work()
            best[name] = min(best[name], (clock() - start) / loops.get(name, 1))
    return best
