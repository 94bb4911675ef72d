"""Two hundred virtual sites in Flower's simulation, on the bundled digits: the scores of one process to the last bit.

Seconds of the clock, and the whole command's: most of it is starting Ray and passing messages. Where there is no Ray,
its rows are left out.
"""

import json
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.row import Row
from fedsieve.datasets import load_digits, partition
from fedsieve.methods import SieveMethod
from fedsieve.protocol import Labeled
from fedsieve.protocol.outcome import Outcome
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process

N_SITES, SEED = 200, 3


def rows() -> list[Row]:
    if find_spec("ray") is None:
        print("simulated_sites: no Ray here (pip install 'fedsieve[simulation]'), so that the simulation is left out.")
        return []
    start = time.perf_counter()
    simulated = _simulated()
    seconds = time.perf_counter() - start
    start = time.process_time()
    expected = _in_one_process()
    here = time.process_time() - start
    furthest = max(abs(a - b) for a, b in zip(simulated["scores"].values(), expected.selection.scores, strict=True))
    same = simulated["transcript"] == [entry._asdict() for entry in expected.transcript]
    shape = f"{N_SITES} simulated sites"
    return [
        Row(f"{shape}: scores differ from one process by at most", float(furthest), "", "less", 0.0),
        Row(f"{shape}: the transcript is that of one process", float(same), "", "more", 1.0),
        Row(f"{shape}: the whole command", seconds, "s", "less"),
        Row(f"{shape}: the same in one process", here, "CPU s", "less"),
    ]


def _simulated() -> dict:
    with tempfile.TemporaryDirectory(prefix="fedsieve-") as place:
        result = Path(place) / "result"
        options = ["--clients", str(N_SITES), "--seed", str(SEED), "--out", str(result)]
        command = [str(Path(sys.executable).parent / "fedsieve"), "federation", "simulate", *options]
        subprocess.run(command, check=True, capture_output=True, timeout=3600)
        found: dict = json.loads((result / "selection.json").read_text())
    return found


def _in_one_process() -> Outcome:
    """With the rows dealt out as the command deals them."""
    digits = load_digits()
    labeled, others = partition.labeled_split(digits.Y, 0.2, SEED)
    parts = partition.dirichlet(digits.Y[others], N_SITES, 0.5, SEED)
    tables = {
        f"site-{number:04d}": ArrayTable(digits.feature_names, digits.X[others[part]])
        for number, part in enumerate(parts, start=1)
    }
    own = Labeled(digits.X[labeled], digits.Y[labeled].astype(np.float64))
    return in_process.select(SieveMethod(digits.feature_names, ranges="robust"), own, tables)
