"""`python -m benchmarks.rules`: measure what is missing, then print all tables; `--again` measures everything anew."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

from benchmarks.rules import cost, guard_time, liar, pages, search
from benchmarks.rules.federations import SEEDS
from benchmarks.rules.records import RESULTS, Records

N_PROCESSES = 2
TIME = "time"


def jobs() -> Iterator[tuple[str, Callable[..., Any], str, int]]:
    """What is measured, the longest first."""
    for seed in SEEDS:
        for name in reversed(cost.DATASETS):
            yield f"cost {name} {seed}", cost.measured, name, seed
        for name in liar.DATASETS:
            yield f"liar {name} {seed}", liar.measured, name, seed
        for name in search.DATASETS:
            yield f"search {name} {seed}", search.searched, name, seed
    for seed in range(SEEDS[0], SEEDS[0] + liar.N_HONEST):
        for name in liar.DATASETS:
            yield f"honest {name} {seed}", liar.honest, name, seed


def main() -> None:
    records = Records()
    if "--again" in sys.argv[1:]:
        records.forget_all()
    with ProcessPoolExecutor(N_PROCESSES, get_context("spawn")) as pool:
        waiting: dict[Future[Any], str] = {
            pool.submit(measure, name, seed): key for key, measure, name, seed in jobs() if key not in records
        }
        for done in as_completed(waiting):
            records.add(waiting[done], done.result())
            print(f"measured: {waiting[done]}", flush=True)
    if TIME not in records:  # alone, after all others
        records.add(TIME, guard_time.measured())
    print("\n## What the rules cost\n\n" + pages.cost_pages(records.of("cost")))
    print("\n## One liar of ten\n\n" + pages.lies_page(records.of("liar")))
    print("\n## The worst lie that a search finds\n\n" + pages.lies_page(records.of("search")))
    print("\n## Thresholds\n\n" + pages.alarms_page(records.of("honest"), records.of("liar")))
    print("\n## What the guard costs\n\n" + pages.time_page(records.of(TIME)[""][0]))
    print(f"Kept in {RESULTS.name}.")


if __name__ == "__main__":
    main()
