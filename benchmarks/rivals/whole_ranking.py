"""Full rankings of the paper's datasets by every supervised rival; as a module it is the process that is measured."""

import json
import sys
import time

import numpy as np

from benchmarks.speed.timing import in_fresh_process
from fedsieve.experiments.memory import peak_megabytes, reset_peak

SECONDS = {"emotions": 30.0, "cal500": 30.0, "yeast": 30.0, "enron": 120.0, "corel5k": 180.0}
GRMFS_SECONDS = {**SECONDS, "corel5k": 600.0}
MEGABYTES = 4000.0
TRAIN = 0.7


def rows() -> list[dict]:
    """Seconds and peak memory of each method on each dataset, each in a process of its own."""
    from fedsieve import registry

    methods = [name for name, entry in registry().items() if entry.supervision == "supervised"]
    result = []
    for dataset in SECONDS:
        for name in methods:
            target = (GRMFS_SECONDS if name == "GRMFS" else SECONDS)[dataset]
            measured = in_fresh_process("benchmarks.rivals.whole_ranking", name, dataset)
            result.append({"what": f"{name}, {dataset}", **measured, "target_s": target, "target_mb": MEGABYTES})
            print(json.dumps(result[-1]), flush=True)
    return result


def main(name: str, dataset: str) -> None:
    from fedsieve import datasets, registry
    from fedsieve.arrays import dense

    data = datasets.load(dataset)
    train = np.random.default_rng(0).permutation(len(data.Y))[: round(TRAIN * len(data.Y))]
    X, Y = dense(data.X)[train], data.Y[train]
    factory = registry()[name].factory
    selector = factory(random_state=0) if name == "MLACO" else factory()
    small = np.random.default_rng(1)
    factory().fit(small.random((12, 5)), small.integers(0, 2, (12, 3)))  # compile continuous kernels first
    factory().fit(small.integers(0, 2, (12, 5)), small.integers(0, 2, (12, 3)))  # and those of 0/1 tables
    reset_peak()
    start = time.perf_counter()
    selector.fit(X, Y)
    print(json.dumps({"seconds": time.perf_counter() - start, "peak_mb": peak_megabytes()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
