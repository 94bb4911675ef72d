"""How long a run takes on the engine, with real servers and TLS sites, beside what it took before and an empty app.

Seconds of the clock: what was saved is waiting and starting. Before and after, one after the other, in one run.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.federation.__main__ import federation, floor_seconds, our_seconds
from benchmarks.federation.processes import server, sites
from benchmarks.row import Row
from benchmarks.scaling.before import measured, package_before

SITES = (3, 10)
REPEATS = 1


def rows() -> list[Row]:
    found = []
    with package_before() as before:
        for n in SITES:
            old = measured("benchmarks.scaling.rounds", n, "floor", source=before)
            new = measured("benchmarks.scaling.rounds", n, "floor")
            found += [
                Row(f"{n} sites: a run of SSFMLFS", new["ours"], "s", "less"),
                Row(f"{n} sites: the same before", old["ours"], "s", "less"),
                Row(f"{n} sites: an empty app with as many rounds", old["floor"], "s", "less"),
                Row(f"{n} sites: the empty app, with the package of now", new["floor"], "s", "less"),
                Row(f"{n} sites: a run, times that empty app", new["ours"] / new["floor"], "x", "less"),
                Row(f"{n} sites: share of the time before", new["ours"] / old["ours"], "x", "less", 0.5),
            ]
    return found


def seconds(n_sites: int, *, floor: bool) -> dict[str, float]:
    """The median of some runs, of which the first is not counted; of an empty app too."""
    with tempfile.TemporaryDirectory(prefix="fedsieve-") as place:
        folder = federation(Path(place), n_sites, n_features=100, n_rows=400)
        with server(folder):
            with sites(folder, guarded=True):
                our_seconds(folder)
                found = {"ours": float(np.median([our_seconds(folder)[0] for _ in range(REPEATS)]))}
            if floor:
                with sites(folder, guarded=False):
                    found["floor"] = float(np.median([floor_seconds(folder, number) for number in range(REPEATS)]))
    return found


if __name__ == "__main__":
    print(json.dumps(seconds(int(sys.argv[1]), floor="floor" in sys.argv)))
