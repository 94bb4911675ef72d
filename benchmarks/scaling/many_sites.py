"""Many sites: what the server holds while replies come, and what checking a reply costs beside computing it.

Sites are made when they are asked, and forgotten, so that the memory is that of the server's side.
"""

import json
import sys
import time

import numpy as np

from benchmarks.row import Row
from benchmarks.scaling.processes import measured

MODULE = "benchmarks.scaling.many_sites"
ROWS, COLUMNS = 60, 500
WIDTHS = (200, 500, 2000)
CHECKED_ROWS = (200, ROWS)


def rows() -> list[Row]:
    few, many = measured(MODULE, "100"), measured(MODULE, "1000")
    graph, shares = measured(MODULE, "1000", "SSFMLFS"), measured(MODULE, "check")
    return [
        Row("1,000 sites, d = 500: most memory of the process", many["megabytes"], "MB", "less", 500),
        Row("the same, of 100 sites' memory", many["megabytes"] / few["megabytes"], "x", "less"),
        Row("1,000 sites, d = 500: time", many["seconds"], "CPU s", "less"),
        Row("the same, of 100 sites' time and ten sites for each", many["seconds"] / few["seconds"] / 10, "x", "less"),
        Row("SSFMLFS, 1,000 sites, d = 500: most memory of the process", graph["megabytes"], "MB", "less", 500),
        Row("SSFMLFS, 1,000 sites, d = 500: time", graph["seconds"], "CPU s", "less"),
        *(
            Row(
                f"checking covariances of d = {d}{', 60 rows' if n == ROWS else ''}, of computing them",
                *(shares[f"{d}, {n}"], "x", "less", 1.0),
            )
            for n in CHECKED_ROWS
            for d in WIDTHS
        ),
    ]


def _run(n_sites: int, name: str) -> None:
    import resource

    from fedsieve.methods import SieveMethod, SSFMLFSMethod
    from fedsieve.protocol import Labeled
    from fedsieve.protocol.influence import KeptReplies
    from fedsieve.tables import Table
    from fedsieve.transport import in_process

    names = tuple(f"x{place}" for place in range(COLUMNS))

    class Made(Table):
        """A site whose rows are drawn whenever they are read."""

        def __init__(self, seed: int) -> None:
            self.names, self.n_rows, self._seed = names, ROWS, seed

        def read(self, columns, start, stop):
            X = np.random.default_rng(self._seed).normal(size=(ROWS, COLUMNS))
            return X[start:stop] if tuple(columns) == names else X[start:stop][:, [names.index(c) for c in columns]]

    rng = np.random.default_rng(0)
    labeled = Labeled(rng.normal(size=(100, COLUMNS)), rng.integers(0, 2, (100, 3)).astype(np.float64))
    method: SieveMethod | SSFMLFSMethod = SSFMLFSMethod(names, wire="statistics", ranges="robust")
    if name == "Sieve":
        method = SieveMethod(names, n_features_to_select=20, ranges="robust", n_trees=8, n_bootstraps=2)
    start = time.process_time()
    in_process.select(
        method, labeled, {f"site-{place:04d}": Made(place) for place in range(n_sites)}, kept=KeptReplies()
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"seconds": time.process_time() - start, "megabytes": peak}))


def _check(d: int, n_rows: int) -> float:
    """The median of some ratios, each of one answer and its check."""
    from fedsieve import messages as m
    from fedsieve.messages.base import Known
    from fedsieve.messages.covariances import AskCovariances
    from fedsieve.tables import ArrayTable

    names = tuple(f"x{place}" for place in range(d))
    table = ArrayTable(names, np.random.default_rng(0).normal(size=(n_rows, d)))
    columns = m.Columns(names, (), "mean")
    ask, ratios = AskCovariances(columns, m.AskRanges(columns).answer(table).scaling), []
    for _ in range(9):
        start = time.process_time()
        reply = ask.answer(table)
        middle = time.process_time()
        assert ask.why_refused(reply, Known()) is None
        ratios.append((time.process_time() - middle) / (middle - start))
    return float(np.median(ratios))


if __name__ == "__main__":
    if sys.argv[1] == "check":
        print(json.dumps({f"{d}, {n}": _check(d, n) for n in CHECKED_ROWS for d in WIDTHS}))
    else:
        _run(int(sys.argv[1]), (*sys.argv, "Sieve")[2])
