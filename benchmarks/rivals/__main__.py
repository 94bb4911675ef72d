"""Speed of the rivals, printed and kept as JSON: part of `make bench`; needs the paper's datasets."""

import json
import platform
from pathlib import Path

from benchmarks.rivals import information, sparse_regression, whole_ranking
from fedsieve.kernels import thread_count
from fedsieve.versions import versions

RESULTS = Path(__file__).with_name("results.json")


def main() -> None:
    ratios = [*information.rows(), *sparse_regression.rows()]
    for row in ratios:
        print(f"{row['what']:40} {row['ratio']:8.1f}x {row['peer']} (target {row['target']})", flush=True)
    whole = whole_ranking.rows()
    missed = [row["what"] for row in whole if row["seconds"] > row["target_s"] or row["peak_mb"] > row["target_mb"]]
    print(f"{len(whole) - len(missed)} of {len(whole)} rankings within time and memory; missed: {missed or 'none'}")
    machine = {"machine": platform.machine(), "system": platform.system(), "threads": thread_count(), **versions()}
    RESULTS.write_text(json.dumps({"machine": machine, "ratios": ratios, "whole": whole}, indent=1) + "\n")


if __name__ == "__main__":
    main()
