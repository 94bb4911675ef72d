"""`select`, `check` and `apply` on a file that they stream: the most memory of each, in a process of its own.

The Parquet file is that of `larger_than_memory`; `FEDSIEVE_BENCH_GB` makes it larger. The CSV file has 1 GB.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.row import Row
from benchmarks.scaling.larger_than_memory import COLUMNS, GIGABYTES, MOST_MEGABYTES, write_file
from benchmarks.scaling.processes import measured

MODULE = "benchmarks.scaling.streamed_commands"
CSV_GIGABYTES, CSV_ROWS = 1.0, 50_000


def rows() -> list[Row]:
    folder = Path(tempfile.mkdtemp(prefix="fedsieve-bench-"))
    try:
        if shutil.disk_usage(folder).free < 3e9 * GIGABYTES:
            raise SystemExit(f"{folder}: too little room for {GIGABYTES:g} GB.")
        write_file(folder / "large.parquet")
        _write_csv(folder / "large.csv")
        _write_small(folder / "labeled.csv", with_labels=True)
        _write_small(folder / "small.csv")
        parquet, csv = _on(folder, "large.parquet"), _on(folder, "large.csv")
    finally:
        shutil.rmtree(folder)
    return [*_told(f"a Parquet file of {GIGABYTES:g} GB", parquet), *_told(f"a CSV file of {CSV_GIGABYTES:g} GB", csv)]


def _on(folder: Path, large: str) -> dict[str, dict[str, float]]:
    """What each command takes, by its name."""
    labeled, sites = str(folder / "labeled.csv"), (str(folder / large), str(folder / "small.csv"))
    out, less = str(folder / f"{large}-result"), str(folder / f"less-{large}")
    select = ("select", "--labeled", labeled, "--labels", "y,z", "--client", sites[0], "--client", sites[1])
    typed = {
        "select": (*select, "-k", "10", "--out", out),
        "check": ("check", *sites, "--labeled", labeled),
        "apply": ("apply", "--selection", f"{out}/selection.json", sites[0], "--out", less),
    }
    return {name: measured(MODULE, *words) for name, words in typed.items()}


def _told(file: str, found: dict[str, dict[str, float]]) -> list[Row]:
    told = []
    for name, one in found.items():
        what = f"fedsieve {name}, {file}"
        told.append(Row(f"{what}: most memory", one["megabytes"], "MB", "less", MOST_MEGABYTES))
        told.append(Row(f"{what}: time", one["seconds"], "CPU s", "less"))
    return told


def _write_csv(file: Path) -> None:
    import pyarrow as arrow
    from pyarrow import csv

    rng, names = np.random.default_rng(0), [f"x{place}" for place in range(COLUMNS)]
    schema = arrow.schema([(name, arrow.float64()) for name in names])
    with csv.CSVWriter(file, schema) as writer:
        while file.stat().st_size < CSV_GIGABYTES * 1e9:
            columns = [arrow.array(rng.normal(size=CSV_ROWS)) for _ in names]
            writer.write_table(arrow.table(columns, schema=schema))


def _write_small(file: Path, *, with_labels: bool = False) -> None:
    rng, names = np.random.default_rng(1), [f"x{place}" for place in range(COLUMNS)]
    X = rng.normal(size=(200, COLUMNS))
    if with_labels:
        names, X = [*names, "y", "z"], np.hstack([X, X[:, :2] + X[:, 2:4] > 0])
    np.savetxt(file, X, delimiter=",", header=",".join(names), comments="", fmt="%.17g")


def main(words: list[str]) -> None:
    from fedsieve.cli import main as fedsieve
    from fedsieve.experiments.runner import peak_megabytes

    done = (None, 0, 1) if words[0] == "check" else (None, 0)  # 1: something looks wrong
    sys.argv = ["fedsieve", *words, "--quiet"]
    try:
        fedsieve()
    except SystemExit as end:
        if end.code not in done:
            raise
    print()
    print(json.dumps({"megabytes": peak_megabytes(), "seconds": time.process_time()}))


if __name__ == "__main__":
    main(sys.argv[1:])
