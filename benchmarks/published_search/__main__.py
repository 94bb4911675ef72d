"""`python -m benchmarks.published_search`: try all set-ups, keep a record of each, and write the page of results.

What is recorded is not tried again. Names of datasets after it limit what is tried; `--pages` only writes the page.
"""

import sys
from collections.abc import Iterator, Mapping
from itertools import chain, product
from pathlib import Path

from benchmarks.published_search.cases import case_of, has_split, scalings
from benchmarks.published_search.greedy import next_step
from benchmarks.published_search.pages import ALL, BY_LABELS, GREEDY, SELECTED, page
from benchmarks.published_search.setups import SETUPS, with_all_features
from fedsieve.experiments.records import Record, Records
from fedsieve.report.metric_tables import published_values

HERE = Path(__file__).parent
PUBLISHED = HERE.parent / "paper" / "published"
SEEDS = {name: range(5) for name in ("emotions", "cal500", "yeast", "enron", "corel5k")}
"""By dataset, the cheapest first."""
GREEDY_SEEDS = {"emotions": range(1), "yeast": range(1), "cal500": range(1), "enron": range(1), "corel5k": range(0)}
TRIED = {"enron": 10}  # of 1,001 features at each step; all of them, or corel5k's 499, would take hours


def main() -> None:
    records = Records(HERE / "results.jsonl")
    if "--pages" not in sys.argv[1:]:
        done = records.read()
        jobs = (make(name, done) for make in (_set_ups, _greedy) for name in sys.argv[1:] or SEEDS)
        for record in chain.from_iterable(jobs):
            records.append(record)
            print(f"measured: {record['key']}", flush=True)
    text = page(list(records.read().values()), published_values(PUBLISHED))
    (HERE / "results.md").write_text(text, encoding="utf-8")
    print(text)


def _set_ups(name: str, done: Mapping[str, Record]) -> Iterator[Record]:
    for seed, scaling, (title, set_up) in product(SEEDS[name], scalings(name), SETUPS.items()):
        for features in (SELECTED, ALL) if set_up.all_features else (SELECTED,):
            record = _named(name, title, features, scaling, seed)
            if record["key"] not in done and has_split(name, set_up.split):
                case = case_of(name, seed, set_up.split, scaling)
                yield {**record, "metrics": set_up.judge(with_all_features(case) if features == ALL else case)}


def _greedy(name: str, done: Mapping[str, Record]) -> Iterator[Record]:
    """A record for each step, which the next one goes on from."""
    for seed in GREEDY_SEEDS[name]:
        case = case_of(name, seed, "70/30", "scaled")
        chosen: list[int] = []
        while len(chosen) < case.k:
            title = f"{GREEDY}, {len(chosen) + 1} features"
            record = _named(name, title, BY_LABELS, "scaled", seed)
            if record["key"] not in done:
                feature, metrics = next_step(case, chosen, TRIED.get(name))
                record |= {"feature": feature, "metrics": metrics}
                yield record
            chosen.append(done.get(record["key"], record)["feature"])


def _named(dataset: str, title: str, features: str, scaling: str, seed: int) -> Record:
    parts = {"dataset": dataset, "set_up": title, "features": features, "scaling": scaling, "seed": seed}
    return {"key": " / ".join(map(str, parts.values())), **parts}


if __name__ == "__main__":
    main()
