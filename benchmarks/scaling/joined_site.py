"""A site of a real federation whose Parquet file is larger than memory: the most memory that its processes take.

Three sites with their default rules, one of them with the large file, and a run of Sieve; as `federation try` starts
them. A fifth of the columns have few rare values or miss some, which takes the rules most work.
`FEDSIEVE_BENCH_GB` makes the file larger.
"""

import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.row import Row
from benchmarks.scaling.larger_than_memory import COLUMNS, GIGABYTES, GROUP, MOST_MEGABYTES
from benchmarks.scaling.processes import measured

RARE, WITH_GAPS = range(5), range(5, 10)
SMALL_ROWS, LABELED_ROWS = 2_000, 200
NAMES = [f"x{place}" for place in range(COLUMNS)]


def rows() -> list[Row]:
    large, small = (measured("benchmarks.scaling.joined_site", gigabytes) for gigabytes in (f"{GIGABYTES:g}", "0"))
    site = f"a site of {GIGABYTES:g} GB"
    return [
        Row(f"{site}: most memory of one of its processes", large["megabytes"], "MB", "less", MOST_MEGABYTES),
        Row(f"the same, of a site of {SMALL_ROWS:,} rows", small["megabytes"], "MB", "less"),
        Row(f"{site}: until it is connected", large["until_connected"], "s", "less"),
        Row(f"{site}: a run of Sieve", large["run"], "s", "less"),
    ]


def main(gigabytes: float) -> dict[str, float]:
    from benchmarks.federation.processes import PeakMemory
    from fedsieve.cli.federation.try_ import TrialFederation

    place = Path(tempfile.mkdtemp(prefix="fedsieve-bench-"))
    try:
        if shutil.disk_usage(place).free < 4e9 * gigabytes:
            raise SystemExit(f"{place}: too little room for {gigabytes:g} GB, twice.")
        others = [_small(place / f"small-{number}.csv", SMALL_ROWS, seed=number) for number in range(2)]
        first = _large(place / "large.parquet", gigabytes) if gigabytes else _small(place / "first.csv", SMALL_ROWS)
        labeled = _small(place / "labeled.csv", LABELED_ROWS, seed=9, with_labels=True)
        trial = TrialFederation(place, labeled, "y,z", [first, *others])
        trial.init(["-k", "10", "--max-rows", "100000000"])  # a row of this table is 400 bytes
        with PeakMemory(str(place / "siteA")) as memory:
            start = time.perf_counter()
            with trial.running(patience=3000):
                connected = time.perf_counter()
                trial.do("run", trial.federation, "--out", place / "result")
                done = time.perf_counter()
    finally:
        shutil.rmtree(place)
    print({kind: round(peak) for kind, peak in memory.megabytes.items()})
    return {
        "megabytes": max(memory.megabytes.values()),
        "until_connected": connected - start,
        "run": done - connected,
    }


def _made(n_rows: int, rng: np.random.Generator) -> np.ndarray:
    X = rng.normal(size=(n_rows, COLUMNS))
    X[:, RARE] = rng.random((n_rows, len(RARE))) < 0.02
    gaps = X[:, WITH_GAPS]
    gaps[rng.random(gaps.shape) < 0.05] = np.nan
    X[:, WITH_GAPS] = gaps
    return X


def _large(file: Path, gigabytes: float) -> Path:
    import pyarrow as arrow
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    schema = arrow.schema([(name, arrow.float64()) for name in NAMES])
    with parquet.ParquetWriter(file, schema, compression="snappy", use_dictionary=False) as writer:
        while not file.exists() or file.stat().st_size < gigabytes * 1e9:
            columns = [arrow.array(column, from_pandas=True) for column in _made(GROUP, rng).T]
            writer.write_table(arrow.table(columns, schema=schema))
    return file


def _small(file: Path, n_rows: int, *, seed: int = 0, with_labels: bool = False) -> Path:
    X, names = _made(n_rows, np.random.default_rng(seed)), NAMES
    if with_labels:
        names, X = [*NAMES, "y", "z"], np.hstack([X, X[:, 10:12] + X[:, 12:14] > 0])
    text = "\n".join(",".join(f"{value:.17g}" for value in row) for row in X)
    file.write_text(f"{','.join(names)}\n{re.sub('nan', '', text)}\n", encoding="utf-8")
    return file


if __name__ == "__main__":
    print(json.dumps(main(float(sys.argv[1]))))
