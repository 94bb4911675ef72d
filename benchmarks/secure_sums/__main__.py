"""`python -m benchmarks.secure_sums`: what secure sums cost, beside what they may cost."""

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.secure_sums import one_run, one_site
from fedsieve.versions import versions

RESULTS = Path(__file__).with_name("results.json")
REPEATS = 3
TARGETS = {
    "seconds per site": 0.3,
    "seconds at the server, three of ten lost": 0.5,
    "bytes per site, times a plain run's": 1.05,
}


def main() -> None:
    console = Console()
    runs = [one_run.measured() for _ in range(REPEATS)]
    ten = {name: min(run[name] for run in runs) for name in runs[0]}
    by_size = {str(n): one_site.measured(n) for n in (10, 100, 1000)}
    RESULTS.write_text(json.dumps({"versions": versions(), "ten sites": ten, "one site of": by_size}, indent=1) + "\n")
    table = Table("ten sites, 500,499 numbers", "measured", "at most")
    for name, value in ten.items():
        table.add_row(name, f"{value:.3g}", f"{TARGETS[name]:g}" if name in TARGETS else "-")
    console.print(table)
    table = Table("one site of", *by_size, title=f"{one_site.N_SUMS} sums prepared, one of {one_site.SIZE:,} numbers")
    for name in by_size["10"]:
        table.add_row(name, *(f"{cost[name]:,.3g}" for cost in by_size.values()))
    console.print(table)
    missed = [name for name, most in TARGETS.items() if ten[name] > most]
    console.print(f"Missed: {', '.join(missed)}." if missed else "All within their targets.")


if __name__ == "__main__":
    main()
