"""Perform all attacks, print what they read, and keep it; goes on where it stopped."""

import json
import time
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.privacy.measurements import Record, everything
from fedsieve.versions import versions

RESULTS = Path(__file__).with_name("results.json")


def main() -> None:
    console = Console()
    kept: dict[str, Record] = json.loads(RESULTS.read_text())["attacks"] if RESULTS.exists() else {}
    for what, measure in track(list(everything()), "attacks", console=console):
        if what not in kept:
            start = time.perf_counter()
            kept[what] = measure()
            kept[what]["seconds"] = round(time.perf_counter() - start, 1)
            RESULTS.write_text(json.dumps({"versions": versions(), "attacks": kept}, indent=1) + "\n")
    table = Table("attack", "read", "by chance", "under site", title="Share of a site's rows (or as the name says)")
    for what, record in kept.items():
        table.add_row(what, f"{record['read']:.2f}", f"{record['by chance']:.2f}", str(record.get("site", "-"))[:40])
    console.print(table)
    console.print(f"Kept in {RESULTS.relative_to(Path.cwd())}; delete it to measure anew.")


if __name__ == "__main__":
    main()
