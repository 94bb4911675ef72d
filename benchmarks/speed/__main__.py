"""Run all speed benchmarks, print them as tables and keep them as JSON: `make bench`."""

import json
import platform
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.speed import learning, pair_sums, sieve, whole_selection
from fedsieve.kernels import thread_count, warm_up
from fedsieve.versions import versions

RESULTS = Path(__file__).with_name("results.json")


def main() -> None:
    console = Console()
    warm_up()
    ratios = [*pair_sums.continuous_table(), *pair_sums.binary_table()]
    whole = whole_selection.rows()
    judges = {"ratios": [*learning.classifier_table(), *learning.metrics_table()], "whole": learning.whole_rows()}
    of_sieve = {"ratios": sieve.trees_table(), "whole": sieve.whole_rows()}
    console.print(_ratio_table("pair sums", ratios))
    console.print(_whole_table("whole selection, statistics", whole))
    console.print(_ratio_table("learning", judges["ratios"]))
    console.print(_whole_table("learning, fit and predict", judges["whole"]))
    console.print(_ratio_table("trees", of_sieve["ratios"]))
    console.print(_whole_table("Sieve", of_sieve["whole"]))
    machine = {"machine": platform.machine(), "system": platform.system(), "threads": thread_count(), **versions()}
    results = {"machine": machine, "ratios": ratios, "whole": whole, "learning": judges, "sieve": of_sieve}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    console.print(f"Kept in {RESULTS.relative_to(Path.cwd())}.")


def _ratio_table(what: str, rows: list[dict]) -> Table:
    table = Table(what, "peer", "peer, ms", "ours, ms", "ratio", "target", title="Best of several, one run")
    for row in rows:
        met = "-" if row["target"] is None else f"{row['target']}x {_verdict(row['ratio'] >= row['target'])}"
        table.add_row(
            row["what"],
            row["peer"],
            f"{row['peer_s'] * 1e3:.1f}",
            f"{row['ours_s'] * 1e3:.1f}",
            f"{row['ratio']:.1f}",
            met,
        )
    return table


def _whole_table(what: str, rows: list[dict]) -> Table:
    table = Table(what, "seconds", "target", "peak memory, MB", "target")
    for row in rows:
        memory = "-"
        if row["target_mb"] is not None:
            memory = f"< {row['target_mb']:.0f} {_verdict(row['peak_mb'] < row['target_mb'])}"
        time = f"< {row['target_s']:.0f} {_verdict(row['seconds'] < row['target_s'])}"
        table.add_row(row["what"], f"{row['seconds']:.2f}", time, f"{row['peak_mb']:.0f}", memory)
    return table


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


if __name__ == "__main__":
    main()
