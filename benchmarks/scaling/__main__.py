"""Run the benchmarks of scale, say what got worse since the committed run, and keep the new one: `make bench`.

Compared is with what git has, so that a second run does not take the first for committed; without git, with the file.

`python -m benchmarks.scaling` runs every file of this folder that has `rows()`; names after it run only those.
"""

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks.scaling as folder
from benchmarks.scaling.row import RESULTS, Row


def main(names: list[str]) -> None:
    console, worse, absent = Console(), list[str](), list[str]()
    for name in names or _topics():
        rows = importlib.import_module(f"benchmarks.scaling.{name}").rows()
        file = RESULTS / f"{name}.json"
        before = {row["what"]: row for row in _committed(file)}
        console.print(_table(name, rows, before))
        worse += [
            f"{name}: {row.what}" for row in rows if row.what in before and row.is_worse_than(before[row.what]["value"])
        ]
        absent += [f"{name}: {what}" for what in before if what not in {row.what for row in rows}]
        file.write_text(json.dumps([row.as_dict() for row in rows], indent=1) + "\n")
        console.print(f"Kept in {file.relative_to(Path.cwd())}.")
    console.print("Worse than committed, beyond noise:" if worse else "Nothing is worse than committed, beyond noise.")
    console.print("\n".join(worse), highlight=False)
    if absent:
        console.print("Committed, and not measured now:", *absent, sep="\n", highlight=False)


def _committed(file: Path) -> list[dict]:
    shown = subprocess.run(["git", "show", f"HEAD:./{file.name}"], cwd=RESULTS, capture_output=True, text=True)
    if shown.returncode == 0:
        return json.loads(shown.stdout)
    return json.loads(file.read_text()) if file.exists() else []


def _topics() -> list[str]:
    found = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    return [name for name in found if hasattr(importlib.import_module(f"benchmarks.scaling.{name}"), "rows")]


def _table(name: str, rows: list[Row], before: dict[str, dict]) -> Table:
    table = Table("what", "measured", "target", "committed", "", title=name.replace("_", " "))
    for row in rows:
        old = before.get(row.what)
        committed = "-" if old is None else f"{old['value']:.4g}"
        note = "WORSE than committed" if old is not None and row.is_worse_than(old["value"]) else ""
        target = "-" if row.target is None else f"{row.sign} {row.target:g} {'met' if row.is_met else 'MISSED'}"
        table.add_row(row.what, f"{row.value:.4g} {row.unit}", target, committed, note)
    return table


if __name__ == "__main__":
    main(sys.argv[1:])
