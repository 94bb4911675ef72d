"""Full rankings of the paper's datasets by every rival; as a module it is the process that is measured."""

import json
import sys
import time

import numpy as np

from benchmarks.speed.timing import in_fresh_process
from fedsieve.experiments.runner import peak_megabytes, reset_peak

SUPERVISED_SECONDS = {"emotions": 30.0, "cal500": 30.0, "yeast": 30.0, "enron": 120.0, "corel5k": 180.0}
GRMFS_SECONDS = {**SUPERVISED_SECONDS, "corel5k": 600.0}
OTHER_SECONDS = 120.0  # semi-supervised and federated methods, each dataset
MEGABYTES = 4000.0
TRAIN, LABELED, N_CLIENTS = 0.7, 0.2, 10


def rows() -> list[dict]:
    """Seconds and peak memory of each method on each dataset, each in a process of its own."""
    from fedsieve import registry

    result = []
    for dataset in SUPERVISED_SECONDS:
        for name, entry in registry().items():
            if entry.control or name in ("Sieve", "SSFMLFS"):
                continue
            target = OTHER_SECONDS
            if entry.supervision == "supervised" and not entry.federated:
                target = (GRMFS_SECONDS if name == "GRMFS" else SUPERVISED_SECONDS)[dataset]
            measured = in_fresh_process("benchmarks.rivals.whole_ranking", name, dataset)
            result.append({"what": f"{name}, {dataset}", **measured, "target_s": target, "target_mb": MEGABYTES})
            print(json.dumps(result[-1]), flush=True)
    return result


def main(name: str, dataset: str) -> None:
    from fedsieve import datasets, registry
    from fedsieve.values import dense

    data = datasets.load(dataset)
    train = np.random.default_rng(0).permutation(len(data.Y))[: round(TRAIN * len(data.Y))]
    entry = registry()[name]
    selector = entry.factory(random_state=0) if name == "MLACO" else entry.factory()
    small = np.random.default_rng(1)
    entry.factory().fit(small.random((12, 5)), small.integers(0, 2, (12, 3)))  # compile continuous kernels first
    entry.factory().fit(small.integers(0, 2, (12, 5)), small.integers(0, 2, (12, 3)))  # and those of 0/1 tables
    arguments = given(entry, dense(data.X)[train], data.Y[train])
    reset_peak()
    start = time.perf_counter()
    selector.fit(**arguments)
    print(json.dumps({"seconds": time.perf_counter() - start, "peak_mb": peak_megabytes()}))


def given(entry, X: np.ndarray, Y: np.ndarray) -> dict:
    """What a method is given of the training rows: all of them, a share with labels, or ten unlike clients."""
    from fedsieve import partition

    labeled, others = partition.labeled_split(Y, LABELED, 0)
    if entry.federated:
        parts = [others[part] for part in partition.dirichlet(Y[others], N_CLIENTS, 0.5, 0)]
        return {"X": X[labeled], "Y": Y[labeled], "clients": [(X[part], Y[part]) for part in parts]}
    if entry.supervision == "semi-supervised":
        Y = Y.copy()
        Y[others] = -1
    return {"X": X, "y": Y}


if __name__ == "__main__":
    main(*sys.argv[1:])
