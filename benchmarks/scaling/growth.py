"""How whole fits of Sieve and SSFMLFS grow with each size alone: CPU seconds, memory, bytes on the wire.

Columns d, rows n of a site, labeled rows s, labels L, and sites. As a module it is the process that is measured:
`python -m benchmarks.scaling.growth Sieve s 5000`.
"""

import json
import sys
import time

import numpy as np

from benchmarks.row import Row
from benchmarks.scaling.processes import measured

MODULE = "benchmarks.scaling.growth"
USUAL = {"d": 100, "n": 200, "s": 1_000, "L": 10, "sites": 10}
SIZES = {
    "d": (300, 1_000, 3_000, 10_000),
    "n": (200, 2_000, 20_000, 100_000),
    "s": (2_500, 5_000, 10_000, 20_000),
    "L": (10, 30, 100, 300),
    "sites": (10, 30, 100, 300),
}
MOST = 1.15  # time's exponent, where it is to be linear; of d that is for many features, of n beyond the pairs' cap
LINEAR = ("s", "L", "sites")
METHODS = ("Sieve", "SSFMLFS")
KINDS = {"time": "CPU s", "memory": "MB", "bytes": "bytes"}


def rows() -> list[Row]:
    found = []
    for method in METHODS:
        for what, sizes in SIZES.items():
            several = [measured(MODULE, method, what, str(size)) for size in sizes]
            for kind, unit in KINDS.items():
                found += [
                    Row(f"{method}, {what} = {size:,}: {kind}", one[kind], unit, "less")
                    for size, one in zip(sizes, several, strict=True)
                ]
            if what in LINEAR:
                grown = np.polyfit(np.log(sizes), np.log([one["time"] for one in several]), 1)[0]
                found.append(Row(f"{method}, exponent in {what}", float(grown), "exponent", "less", MOST))
    return found


def main(method: str, what: str, size: int) -> None:
    import fedsieve
    from fedsieve.experiments.runner import peak_megabytes
    from fedsieve.kernels import warm_up

    warm_up()
    of = {**USUAL, what: size}
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(20, of["d"]))

    def table(n: int) -> np.ndarray:
        return rng.normal(size=(n, 20)) @ mixing / 2 + rng.normal(size=(n, of["d"]))

    X, clients = table(of["s"]), [table(of["n"]) for _ in range(of["sites"])]
    wanted = X @ rng.normal(size=(of["d"], of["L"]))
    Y = (wanted > np.quantile(wanted, 0.8, axis=0)).astype(int)
    start = time.process_time()
    fitted = getattr(fedsieve, method)(10).fit(X, Y, clients=clients)
    seconds = time.process_time() - start
    n_bytes = sum(entry.n_bytes for entry in fitted.transcript_)
    print(json.dumps({"time": seconds, "memory": peak_megabytes(), "bytes": n_bytes}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
