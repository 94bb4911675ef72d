"""`python -m benchmarks.federation`: ten TLS sites beside an empty app; memory and bytes at 1000 features."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.committed import Comparison
from benchmarks.federation.processes import PeakMemory, server, sites, until
from benchmarks.federation.wire import CountingForwarder
from benchmarks.row import Row
from fedsieve import kernels
from fedsieve.deployment.agreement import check_address
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.membership import create
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.runs import labeled_for_runs, new_run
from fedsieve.transport import in_process
from fedsieve.transport.flower import control
from fedsieve.transport.flower.engine import free_port

if TYPE_CHECKING:  # as in processes.py
    from fedsieve.deployment.server_folder import ServerFolder

EMPTY_APP = Path(__file__).parent / "empty_app"
RESULTS = Path(__file__).parent / "results.json"
TURNS, REPEATS = 2, 2


def federation(place: Path, n_sites: int, n_features: int, n_rows: int) -> ServerFolder:
    rng = np.random.default_rng(0)
    names = [f"site-{number:02d}" for number in range(n_sites)]
    features = [f"feature_{number:04d}" for number in range(n_features)]
    address = f"127.0.0.1:{free_port()}"
    folder = create(
        place / "federation",
        agreement_text("bench", address, names, features, ["l0", "l1"], method="SSFMLFS"),
        names,
        address,
    )
    folder.write_labeled(rng.normal(size=(50, n_features)), rng.integers(0, 2, (50, 2)).astype(float))
    for name in names:
        site = folder.site(name)
        site.write_rows(tuple(features), rng.normal(size=(n_rows, n_features)))
        ConsentRecord(site.path).join(site.agreement(), read_policy(site), {"rows": n_rows})
    return folder


def our_seconds(folder: ServerFolder) -> tuple[float, dict]:
    run = new_run(folder, list(folder.agreement().sites), [])
    start = time.perf_counter()
    with control.Control(folder) as engine:
        engine.start(run.id)
    until(lambda: run.failure() or any(event["event"] == "finished" for event in run.events()), 600)
    record = run.result()
    if record is None:
        raise RuntimeError(run.failure())
    return time.perf_counter() - start, record


def floor_seconds(folder: ServerFolder, number: int) -> float:
    done = folder.server / f"empty-{number}"
    start = time.perf_counter()
    with control.Control(folder) as engine:
        engine.start(str(done.absolute()), app=EMPTY_APP)
    until(done.exists, 600)
    return time.perf_counter() - start


def ten_sites(place: Path) -> list[Row]:
    folder = federation(place, n_sites=10, n_features=100, n_rows=400)
    ours, floor = [], []
    with server(folder):
        for turn in range(TURNS):  # in turns, so that a busy moment of the machine hits both
            with sites(folder, guarded=True):
                ours += [our_seconds(folder)[0] for _ in range(REPEATS)]
            with sites(folder, guarded=False):
                floor += [floor_seconds(folder, turn * REPEATS + number) for number in range(REPEATS)]
    print(f"ten sites, 4 rounds: ours {sorted(ours)} s, an empty app {sorted(floor)} s")
    return [
        Row("ten sites", float(np.median(ours)), "s", "less"),
        Row("an empty app", float(np.median(floor)), "s", "less"),
        Row("ten sites, times the empty app", float(np.median(ours) / np.median(floor)), "x", "less", 1.3),
    ]


def thousand_features(place: Path) -> list[Row]:
    folder = federation(place, n_sites=3, n_features=1000, n_rows=3000)
    _, port = check_address(folder.agreement().address)
    with server(folder), PeakMemory(str(folder.path)) as memory:
        wire = CountingForwarder(port)
        with sites(folder, guarded=True, port=wire.port):
            seconds, record = our_seconds(folder)
        wire.close()
    counted = sum(entry["n_bytes"] for entry in record["transcript"])
    agreement = folder.agreement()
    tables = {name: folder.site(name).rows() for name in agreement.sites}
    labeled = labeled_for_runs(folder, agreement.method, agreement.fingerprint)
    here = in_process.select(agreement.method, labeled, tables)
    assert list(record["scores"].values()) == list(here.selection.scores), "the network changed the result"
    sent = sum(wire.n_bytes.values())
    print(f"1000 features: transcript {counted:,} bytes, on the wire {dict(wire.n_bytes)}, memory {memory.megabytes}")
    peaks = {kind: peak for kind, peak in memory.megabytes.items() if peak >= 1}
    return [
        Row("1000 features", seconds, "s", "less"),
        Row("bytes of the transcript", counted / 1e6, "MB", "less"),
        Row("bytes on the wire", sent / 1e6, "MB", "less"),
        Row("bytes on the wire, times the transcript's", sent / counted, "x", "less", 1.05),
        *[Row(f"peak memory of {kind}", peak, "MB", "less") for kind, peak in peaks.items()],
    ]


def main() -> None:
    kernels.warm_up()
    found = list[Row]()
    for part in (thousand_features, ten_sites):
        with tempfile.TemporaryDirectory(prefix="fedsieve-") as place:
            found += part(Path(place))
    comparison = Comparison()
    comparison.add("federation", found, RESULTS)
    comparison.conclude()


if __name__ == "__main__":
    main()
