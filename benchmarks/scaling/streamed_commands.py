"""`select`, `check` and `apply` on a Parquet file that they stream: the most memory of each, in a process of its own.

The file is that of `larger_than_memory`; `FEDSIEVE_BENCH_GB` makes it larger.
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


def rows() -> list[Row]:
    folder = Path(tempfile.mkdtemp(prefix="fedsieve-bench-"))
    try:
        if shutil.disk_usage(folder).free < 3e9 * GIGABYTES:
            raise SystemExit(f"{folder}: too little room for {GIGABYTES:g} GB.")
        large, labeled, small = folder / "large.parquet", folder / "labeled.csv", folder / "small.csv"
        write_file(large)
        _write_small(labeled, with_labels=True)
        _write_small(small)
        sites, out = (str(large), str(small)), str(folder / "result")
        select = ("select", "--labeled", str(labeled), "--labels", "y,z", "--client", sites[0], "--client", sites[1])
        typed = {
            "select": (*select, "-k", "10", "--out", out),
            "check": ("check", *sites, "--labeled", str(labeled)),
            "apply": ("apply", "--selection", f"{out}/selection.json", sites[0], "--out", str(folder / "less.parquet")),
        }
        found = {name: measured(MODULE, *words) for name, words in typed.items()}
    finally:
        shutil.rmtree(folder)
    told = []
    for name, one in found.items():
        what = f"fedsieve {name}, a Parquet file of {GIGABYTES:g} GB"
        told.append(Row(f"{what}: most memory", one["megabytes"], "MB", "less", MOST_MEGABYTES))
        told.append(Row(f"{what}: time", one["seconds"], "CPU s", "less"))
    return told


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
