"""`python -m benchmarks.privacy_budget`: measure what is missing, then print the table and draw the figure.

`--again` measures everything anew. `--only NAME ...` measures these datasets only; the table has what there is.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.privacy_budget import cost, pages
from benchmarks.rules.records import Records

RESULTS = Path(__file__).with_name("results.json")
MORE_ROWS = "more-rows"
FIGURE = Path(__file__).parents[2] / "docs" / "privacy_budget.png"


def jobs(names: list[str]) -> Iterator[tuple[str, str, float, int]]:
    """What is measured: all datasets with one seed, then with the next."""
    for seed in cost.SEEDS:
        for share in cost.SHARES:
            for name in names:
                yield f"{name} {share:g} {seed}", name, share, seed


def main() -> None:
    records = Records(RESULTS)
    arguments = sys.argv[1:]
    if "--again" in arguments:
        records.forget_all()
    chosen = arguments[arguments.index("--only") + 1 :] if "--only" in arguments else list(cost.DATASETS)
    for seed in cost.SEEDS:
        for name in cost.MORE_ROWS:
            key = f"{MORE_ROWS} {name} {seed}"
            if key not in records:
                records.add(key, cost.with_more_rows(name, seed))
                print(f"measured: {key}", flush=True)
    for key, name, share, seed in jobs(chosen):
        if key not in records:
            records.add(key, cost.measured(name, share, seed))
            print(f"measured: {key}", flush=True)
    found = {name: trials for name in cost.DATASETS if (trials := records.of(name))}
    print(pages.table(found))
    print(pages.more_rows_table(records.of(MORE_ROWS)))
    pages.draw(found, FIGURE)
    print(f"Kept in {RESULTS.name}; drawn in {FIGURE.name}.")


if __name__ == "__main__":
    main()
