"""`python -m benchmarks.ranges`: what robust ranges cost and save, on seeds and sets of their own.

`--design` compares the rules that the present one was chosen among, on other seeds; it keeps no record.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.loaded import DESIGN, PAPER
from benchmarks.ranges.trials import Rule, measured

RESULTS = Path(__file__).with_name("results.json")
USUAL = Rule()
ROBUST, EXACT = "robust", "exact"
RULES = {
    "outermost edge at half a span": USUAL._replace(outer=(0.25, 0.5)),
    "outermost edge at a whole span": USUAL._replace(outer=(0.5, 1.0)),
    "tail 0.2 %": USUAL._replace(tail=0.002),
    "tail 0.1 %, half a span": USUAL._replace(tail=0.001, outer=(0.25, 0.5)),
    "quantiles from 1 %": USUAL._replace(inner=tuple(np.linspace(0.01, 0.99, 25))),
    "quantiles from 5 %, half a span": USUAL._replace(inner=tuple(np.linspace(0.05, 0.95, 25)), outer=(0.25, 0.5)),
}
SHARES = (0.2, 0.05)
SEEDS, DESIGN_SEEDS = range(700, 710), range(3)
NUMBERS = ("cal500", "emotions", "yeast", "Arts1500", "human3106", "scene")  # the others are 0/1 throughout
ZERO_ONE = ("enron", "corel5k", "medical")
FEW = 3  # seeds for tables of 0 and 1, where nothing may differ at all


def main() -> None:
    design = "--design" in sys.argv[1:]
    rules = {ROBUST: USUAL, **(RULES if design else {})}
    jobs = [
        (name, seed, share, rules)
        for share in SHARES
        for name in (NUMBERS if design else (*PAPER, *DESIGN))
        for seed in (DESIGN_SEEDS if design else SEEDS[:FEW] if name in ZERO_ONE else SEEDS)
    ]
    found = []
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for (name, seed, share, _), one in zip(jobs, pool.map(measured, *zip(*jobs, strict=True)), strict=True):
            found.append({"dataset": name, "seed": seed, "labeled": share, **one})
            print(f"measured: {name}, seed {seed}, {share:.0%} labeled", flush=True)
    if not design:
        lines = ",\n".join(map(json.dumps, found))
        RESULTS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print("\n".join(table(found, rules)))


def table(found: list[dict[str, Any]], rules: Iterable[str]) -> Iterator[str]:
    """Differences in average precision to exact ranges, with 95 % intervals over seeds."""
    yield "| dataset | labeled | rule | values as they are | with typing errors |"
    yield "|---|---|---|---|---|"
    names = list(dict.fromkeys(one["dataset"] for one in found))
    for title, some in [*((name, {name}) for name in names), ("all with numbers", set(NUMBERS))]:
        for share in SHARES:
            here = [one for one in found if one["dataset"] in some and one["labeled"] == share]
            for rule in rules if here else ():
                told = (
                    interval([one[state][rule] - one[state][EXACT] for one in here]) for state in ("honest", "typos")
                )
                yield f"| {title} | {share:.0%} | {rule} | {' | '.join(told)} |"


def interval(differences: list[float]) -> str:
    """The mean, and where it lies in 95 of 100 cases."""
    values = np.array(differences)
    if not values.any():
        return "the same"
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():+.4f} ({values.mean() - half:+.4f} to {values.mean() + half:+.4f})"


if __name__ == "__main__":
    main()
