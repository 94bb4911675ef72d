"""Damage and lie at random, print and keep what became of it; exit code 1 if anything got through or crashed."""

import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from benchmarks.robustness.damage import damaged, resealed
from benchmarks.robustness.lies import NEITHER, told
from fedsieve.messages import REPLIES, REQUESTS
from fedsieve.versions import versions

RESULTS = Path(__file__).with_name("results.json")
N_DAMAGED, N_RESEALED, N_LIES = 100_000, 20_000, 10_000
N_PARTS = 100  # of the lies, so that progress shows and both processes have work to the end
N_PROCESSES = 2


def main() -> int:
    console = Console()
    kinds = [*REQUESTS, *REPLIES]
    start = time.perf_counter()
    with ProcessPoolExecutor(N_PROCESSES, get_context("spawn")) as pool:
        parts = [pool.submit(told, N_LIES // N_PARTS, seed) for seed in range(N_PARTS)]
        broken = {kind: pool.submit(damaged, kind, N_DAMAGED, seed) for seed, kind in enumerate(kinds)}
        mended = {kind: pool.submit(resealed, kind, N_RESEALED, seed) for seed, kind in enumerate(kinds)}
        waiting = [*parts, *broken.values(), *mended.values()]
        for job in track(waiting, "dishonest and damaged messages", console=console):
            job.result()
    lies: dict[str, Counter[str]] = {}
    for part in parts:
        for kind, counts in part.result().items():
            lies.setdefault(kind, Counter()).update(counts)
    damage = {kind: dict(job.result()) for kind, job in broken.items()}
    mending = {kind: dict(job.result()) for kind, job in mended.items()}
    seconds = time.perf_counter() - start
    console.print(_damage_table(damage, mending))
    console.print(_lies_table(lies))
    results = {
        "versions": versions(),
        "seconds": round(seconds, 1),
        "damaged": damage,
        "damaged, digest made right": mending,
        "dishonest": {kind: dict(counts.most_common()) for kind, counts in lies.items()},
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    console.print(f"Kept in {RESULTS.relative_to(Path.cwd())}; {seconds:.0f} s.")
    failed = any(set(counts) != {"refused"} for counts in damage.values())
    failed |= any(set(counts) - {"refused", "accepted"} for counts in mending.values())
    failed |= any(fate == NEITHER or fate.startswith("CRASHED") for counts in lies.values() for fate in counts)
    if failed:
        console.print("[bold red]FAILED: see above.")
    return int(failed)


def _damage_table(damage: dict[str, dict[str, int]], mending: dict[str, dict[str, int]]) -> Table:
    table = Table(
        "damaged", "refused", "got through", "digest made right: refused", "read as another message", "crashed"
    )
    for kind, counts in damage.items():
        mended = mending[kind]
        through = sum(counts.values()) - counts.get("refused", 0)
        crashed = sum(mended.values()) - mended.get("refused", 0) - mended.get("accepted", 0)
        numbers = (counts.get("refused", 0), through, mended.get("refused", 0), mended.get("accepted", 0), crashed)
        table.add_row(kind, *(f"{number:,}" for number in numbers))
    return table


def _lies_table(lies: dict[str, Counter[str]]) -> Table:
    table = Table("dishonest", "what became of it", "replies")
    for kind, counts in lies.items():
        for fate, count in counts.most_common():
            table.add_row(kind, escape(fate), f"{count:,}")
        table.add_section()
    return table


if __name__ == "__main__":
    sys.exit(main())
