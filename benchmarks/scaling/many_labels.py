"""Many labeled rows and many labels: CPU seconds, memory and bytes of whole fits, Sieve's and SSFMLFS's.

As a module it is the process that is measured: `python -m benchmarks.scaling.many_labels Sieve 5000 10`.
"""

import json
import sys
import time

import numpy as np

from benchmarks.row import Row
from benchmarks.scaling.processes import measured

MODULE = "benchmarks.scaling.many_labels"
N_FEATURES, N_CLIENTS, CLIENT_ROWS = 100, 10, 200
FEW_ROWS, FEW_LABELS = 1_000, 10
ROWS, LABELS = (2_500, 5_000, 10_000, 20_000), (10, 30, 100, 300)
METHODS = ("Sieve", "SSFMLFS")


def rows() -> list[Row]:
    found = []
    for method in METHODS:
        by_rows = {s: measured(MODULE, method, str(s), str(FEW_LABELS)) for s in ROWS}
        by_labels = {n: measured(MODULE, method, str(FEW_ROWS), str(n)) for n in LABELS}
        for what, several in (("s", by_rows), ("L", by_labels)):
            for size, one in several.items():
                found += [
                    Row(f"{method}, {what} = {size:,}: time", one["seconds"], "CPU s", "less"),
                    Row(f"{method}, {what} = {size:,}: memory", one["peak_mb"], "MB", "less"),
                ]
            seconds = [one["seconds"] for one in several.values()]
            exponent = float(np.polyfit(np.log(list(several)), np.log(seconds), 1)[0])
            found.append(Row(f"{method}, exponent in {what}", exponent, "exponent", "less", 1.15))
            grown = several[max(several)]["n_bytes"] / several[min(several)]["n_bytes"]
            found.append(Row(f"{method}, bytes at the largest {what}, of those at the smallest", grown, "x", "less"))
    return found


def main(method: str, n_rows: int, n_labels: int) -> None:
    import fedsieve
    from fedsieve.experiments.runner import peak_megabytes
    from fedsieve.kernels import warm_up

    warm_up()
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(20, N_FEATURES))

    def table(n: int) -> np.ndarray:
        return rng.normal(size=(n, 20)) @ mixing / 2 + rng.normal(size=(n, N_FEATURES))

    X, clients = table(n_rows), [table(CLIENT_ROWS) for _ in range(N_CLIENTS)]
    wanted = X @ rng.normal(size=(N_FEATURES, n_labels))
    Y = (wanted > np.quantile(wanted, 0.8, axis=0)).astype(int)
    start = time.process_time()
    fitted = getattr(fedsieve, method)(10).fit(X, Y, clients=clients)
    seconds = time.process_time() - start
    n_bytes = sum(entry.n_bytes for entry in fitted.transcript_)
    print(json.dumps({"seconds": seconds, "peak_mb": peak_megabytes(), "n_bytes": n_bytes}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
