"""Figures beside those of the committed run: shown, kept, and at the end what got worse.

Compared is with what git has, so that a second run does not take the first for committed; without git, with the file.
"""

import json
import subprocess
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.row import Row


class Comparison:
    """All topics of one run."""

    def __init__(self) -> None:
        self._console = Console()
        self._worse, self._absent = list[str](), list[str]()

    def add(self, topic: str, rows: list[Row], file: Path) -> None:
        """Show the figures of a topic and keep them in its file."""
        before = {row["what"]: row for row in _committed(file)}
        self._console.print(_table(topic, rows, before))
        self._worse += [
            f"{topic}: {row.what}"
            for row in rows
            if row.what in before and row.is_worse_than(before[row.what]["value"])
        ]
        self._absent += [f"{topic}: {what}" for what in before if what not in {row.what for row in rows}]
        file.write_text(json.dumps([row.as_dict() for row in rows], indent=1) + "\n", encoding="utf-8")
        self._console.print(f"Kept in {file.relative_to(Path.cwd())}.")

    def conclude(self) -> None:
        """Say what got worse, and what was committed and is not there now."""
        heading = (
            "Worse than committed, beyond noise:" if self._worse else "Nothing is worse than committed, beyond noise."
        )
        self._console.print(heading)
        self._console.print("\n".join(self._worse), highlight=False)
        if self._absent:
            self._console.print("Committed, and not measured now:", *self._absent, sep="\n", highlight=False)


def _committed(file: Path) -> list[dict]:
    shown = subprocess.run(["git", "show", f"HEAD:./{file.name}"], cwd=file.parent, capture_output=True, text=True)
    if shown.returncode == 0:
        return json.loads(shown.stdout)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def _table(topic: str, rows: list[Row], before: dict[str, dict]) -> Table:
    table = Table("what", "measured", "target", "committed", "", title=topic.replace("_", " "))
    for row in rows:
        old = before.get(row.what)
        committed = "-" if old is None else f"{old['value']:.4g}"
        note = "WORSE than committed" if old is not None and row.is_worse_than(old["value"]) else ""
        target = "-" if row.target is None else f"{row.sign} {row.target:g} {'met' if row.is_met else 'MISSED'}"
        table.add_row(row.what, f"{row.value:.4g} {row.unit}", target, committed, note)
    return table
