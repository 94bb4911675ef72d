"""A Parquet file larger than the memory it may take: every pass of Sieve beside reading the file with pyarrow alone.

Makes a file of 3 GB in a temporary folder, and deletes it. Each pass runs in a process of its own, whose largest
resident memory is told. `FEDSIEVE_BENCH_GB` makes it larger.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.row import Row

COLUMNS, GROUP = 50, 250_000
GIGABYTES = float(os.environ.get("FEDSIEVE_BENCH_GB", "3"))
MOST_MEGABYTES = 1000
PASSES = ("pyarrow", "ranges", "histograms", "moments", "covariances", "projections")
TWICE = ("covariances", "projections", "moments")  # which look at the site's own ranges first, in a pass of its own


def rows() -> list[Row]:
    folder = Path(tempfile.mkdtemp(prefix="fedsieve-bench-"))
    try:
        if shutil.disk_usage(folder).free < 3e9 * GIGABYTES:
            raise SystemExit(f"{folder}: too little room for {GIGABYTES:g} GB.")
        file = folder / "rows.parquet"
        write_file(file)
        size = file.stat().st_size / 1e9
        found = {name: _measured(name, file) for name in PASSES}
    finally:
        shutil.rmtree(folder)
    alone = found["pyarrow"]["seconds"]
    told = [Row("size of the file, d = 50, float64, snappy", size, "GB", "more", GIGABYTES)]
    told.append(Row("pyarrow alone", alone, "CPU s", "less"))
    for name in PASSES[1:]:
        n_passes = 2 if name in TWICE else 1
        speed = n_passes * alone / found[name]["seconds"]
        told.append(Row(f"{name}: speed per pass, of pyarrow's", speed, "x", "more", 1 / 3))
    memory = max(found[name]["megabytes"] for name in PASSES[1:])
    return [*told, Row("most memory of any pass", memory, "MB", "less", MOST_MEGABYTES)]


def write_file(file: Path) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    rng, names = np.random.default_rng(0), [f"x{place}" for place in range(COLUMNS)]
    schema = arrow.schema([(name, arrow.float64()) for name in names])
    with parquet.ParquetWriter(file, schema, compression="snappy", use_dictionary=False) as writer:
        while not file.exists() or file.stat().st_size < GIGABYTES * 1e9:
            columns = [arrow.array(rng.normal(size=GROUP)) for _ in names]
            writer.write_table(arrow.table(columns, schema=schema))


def _measured(name: str, file: Path) -> dict[str, float]:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scaling.larger_than_memory", name, str(file)],
        env={**os.environ, **threads},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def _pass(name: str, file: Path) -> None:
    """One pass, in CPU seconds of reading and computing, without starting up."""
    import resource
    import time

    from pyarrow import parquet

    from fedsieve import messages as m
    from fedsieve.datasets.streamed_file import open_table
    from fedsieve.kernels import counts_in_bins
    from fedsieve.messages.columns import Bins
    from fedsieve.messages.covariances import AskCovariances
    from fedsieve.messages.histograms import AskHistograms
    from fedsieve.messages.moments import AskMoments
    from fedsieve.messages.projections import AskProjections

    counts_in_bins(np.zeros((1, 1)), [np.array([0.0, 1.0])])  # compiled before the clock starts
    if name == "pyarrow":
        start = time.process_time()
        for _ in parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False).iter_batches(batch_size=41_943):
            pass
    else:
        table = open_table(file)
        columns = m.Columns(table.names, (), "mean")
        scaling = m.Scaling(np.full(COLUMNS, -8.0), np.full(COLUMNS, 8.0))
        bins = Bins.of([np.linspace(-3, 3, 33)] * COLUMNS)
        request = {
            "ranges": m.AskRanges(columns),
            "histograms": AskHistograms(columns, bins),
            "moments": AskMoments(columns, scaling),
            "covariances": AskCovariances(columns, scaling),
            "projections": AskProjections(columns, scaling, np.ones((COLUMNS, 3))),
        }[name]
        start = time.process_time()
        request.answer(table)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"seconds": seconds, "megabytes": peak}))


if __name__ == "__main__":
    _pass(sys.argv[1], Path(sys.argv[2]))
