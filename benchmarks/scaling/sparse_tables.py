"""A sparse table is made dense in blocks only: what a site's answers take besides it, and a product beside a dense one.

As a module it is the process that is measured: `python -m benchmarks.scaling.sparse_tables 400 20000`, or `product`.
"""

import json
import sys
import time
import tracemalloc

import numpy as np
from scipy import sparse

from benchmarks.row import Row
from benchmarks.scaling.processes import measured

MODULE = "benchmarks.scaling.sparse_tables"
WIDE, TALL = (400, 20_000), (200_000, 500)


def rows() -> list[Row]:
    product = measured(MODULE, "product")
    found = []
    for n_rows, n_features in (WIDE, TALL):
        peaks, shape = measured(MODULE, str(n_rows), str(n_features)), _said(n_rows, n_features)
        most, dense = max(peaks, key=lambda name: peaks[name]), 8 * n_rows * n_features / 1e6
        found.append(Row(f"{shape}: most memory of an answer besides the table", peaks[most], "MB", "less", dense))
        found.append(Row(f"{shape}: the same, of the dense table", peaks[most] / dense, "x", "less"))
    shape = _said(*WIDE)
    return [
        *found,
        Row(f"{shape}: one product in vectors", product["seconds"], "CPU s", "less"),
        Row(f"{shape}: the same, of a dense table's time", product["ratio"], "x", "less", 1.0),
        Row(f"{shape}: the same, share by which the dense one differs", product["off"], "x", "less"),
    ]


def _said(n_rows: int, n_features: int) -> str:
    return f"{n_rows:,} x {n_features:,}, 1 % entries"


def _table(n_rows: int, n_features: int) -> sparse.csr_array:
    return sparse.random_array((n_rows, n_features), density=0.01, rng=np.random.default_rng(0), format="csr")


def _memory(n_rows: int, n_features: int) -> dict[str, float]:
    """Megabytes at most, of each answer of a site."""
    from fedsieve import messages as m
    from fedsieve.messages.columns import Bins
    from fedsieve.messages.covariances import AskCovariances
    from fedsieve.messages.histograms import AskHistograms
    from fedsieve.messages.means import AskMeans
    from fedsieve.messages.moments import AskMoments
    from fedsieve.messages.pair_sums import AskPairSums
    from fedsieve.messages.products import AskProducts
    from fedsieve.messages.projections import AskProjections
    from fedsieve.messages.relation import Relation
    from fedsieve.protocol.parties import RunMemory
    from fedsieve.tables import ArrayTable

    d, names = n_features, tuple(f"x{place}" for place in range(n_features))
    table, columns = ArrayTable(names, _table(n_rows, d)), m.Columns(names, (), "mean")
    whole = m.Columns(names, (), "error")
    unit = m.Scaling(np.full(d, -0.5), np.full(d, 1.0))
    relation = Relation(whole, unit, np.full(d, 0.1), "distance", max_pairs=n_rows)
    asked: dict[str, m.Request] = {
        "ranges": m.AskRanges(columns),
        "histograms": AskHistograms(columns, Bins.of([np.linspace(0, 1, 9)] * d)),
        "moments": AskMoments(whole, unit),
        "means": AskMeans(columns, unit),
        "projections": AskProjections(columns, unit, np.ones((d, 3))),
        "products": AskProducts(relation, np.ones(d)),
    }
    if n_features <= 1000:  # of more columns these are larger than the table
        asked |= {"covariances": AskCovariances(columns, unit), "pair sums": AskPairSums(relation)}
    peaks = {}
    for name, request in asked.items():
        tracemalloc.start()
        request.answer_in_run(table, RunMemory())
        peaks[name] = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return peaks


def _product() -> dict[str, float]:
    """One product of all row pairs, as a site makes it in `vectors`, from entries and from dense rows."""
    from fedsieve.kernels import product_from_rows
    from fedsieve.messages.columns import scaled, scaled_rows

    n_rows, d = WIDE
    low, high, nominal = np.full(d, -0.5), np.full(d, 1.0), np.zeros(d, dtype=bool)
    X, radius, vector = _table(n_rows, d), np.full(d, 0.1), np.random.default_rng(1).random(d)
    thin, full = scaled_rows(X, low, high, nominal), scaled(X.toarray(), low, high, nominal)[0]
    product_from_rows(thin.head(9), radius, vector)  # compiles
    product_from_rows(full[:9], radius, vector)
    start = time.process_time()
    from_entries = product_from_rows(thin, radius, vector)
    middle = time.process_time()
    from_rows = product_from_rows(full, radius, vector)
    seconds, dense_seconds = middle - start, time.process_time() - middle
    off = float(np.abs(from_rows / from_entries - 1).max())
    return {"seconds": seconds, "ratio": seconds / dense_seconds, "off": off}


if __name__ == "__main__":
    print(json.dumps(_product() if sys.argv[1] == "product" else _memory(int(sys.argv[1]), int(sys.argv[2]))))
