"""A run's folder at the server: what was asked for, what happened, the replies of every round, and the result."""

import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fedsieve.deployment.folders import ServerFolder, make_private, write_json
from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import DataError, ProtocolError
from fedsieve.files import holder, only_one, write_atomically
from fedsieve.messages.columns import ROBUST
from fedsieve.methods import Method
from fedsieve.methods.ranges import bins_of
from fedsieve.protocol import Labeled
from fedsieve.reading import read_json, read_json_lines
from fedsieve.selection_file import JSON, read_selection, selection_text, write_selection_json

KEEPS = "keep-replies"  # a file that says so
SHIFT, CHECK = "shift.json", "check.json"  # kept aside


@dataclass(frozen=True)
class RunFolder:
    """One run. Its id is in every log and in the result."""

    path: Path

    @property
    def id(self) -> str:
        """The run's id."""
        return self.path.name

    def settings(self) -> dict[str, Any]:
        """What the run was started with: its sites, those that were absent, the agreement's fingerprint."""
        kinds = {"id": str, "sites": list[str], "absent": list[str], "agreement": str}
        settings: dict[str, Any] = read_json(self.path / "run.json", kinds, way_out="Start a new run.")
        return settings

    @property
    def is_check(self) -> bool:
        """Whether it is to end after its first rounds, without a selection."""
        return self.settings().get("check") is True

    @property
    def has_ended(self) -> bool:
        """Whether what it was started for is there: a selection, or the findings of a check."""
        return (self.path / (CHECK if self.is_check else JSON)).is_file()

    @contextmanager
    def lead(self) -> Iterator[None]:
        """Only one process leads a run at a time."""
        with only_one(self.path / "lead.lock", ProtocolError(f"run {self.id} is led by another process already.")):
            self.tell("started", pid=os.getpid())
            yield

    def leader(self) -> int | None:
        """The pid of the process that leads the run now, if there is one."""
        return holder(self.path / "lead.lock")

    def tell(self, event: str, **details: Any) -> None:
        """Add an event to the run; whoever follows it sees it at once."""
        line = json.dumps({"time": time.time(), "event": event, **details}, allow_nan=False)
        with (self.path / "events.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def events(self) -> list[dict[str, Any]]:
        """What happened so far."""
        file = self.path / "events.jsonl"
        way_out = "Remove the line; nothing but the story of the run is lost with it."
        return read_json_lines(file, {"event": str, "time": float}, way_out=way_out) if file.is_file() else []

    def finish(self, record: dict[str, Any]) -> None:
        """Keep the result."""
        write_selection_json(selection_text(record), self.path)

    def keep_aside(self, name: str, content: dict[str, Any]) -> None:
        """Keep what is for the operator, and in no result that sites are sent."""
        write_json(self.path / name, content, mode=PRIVATE)

    def aside(self, name: str, fields: dict[str, Any]) -> dict[str, Any] | None:
        """What was kept of it, an object with these fields, if anything was."""
        file = self.path / name
        kept: dict[str, Any] | None = read_json(file, fields, way_out=f"Remove {file}.") if file.is_file() else None
        return kept

    def fail(self, reason: str) -> None:
        """Keep the reason why there is no result."""
        write_json(self.path / "failed.json", {"reason": reason})

    def result(self) -> dict[str, Any] | None:
        """The result, if there is one."""
        return read_selection(self.path / JSON, whole=True) if (self.path / JSON).is_file() else None

    def failure(self) -> str | None:
        """Why the run failed, if it did."""
        file = self.path / "failed.json"
        return str(read_json(file, {"reason": str}, way_out=f"Remove {file}.")["reason"]) if file.is_file() else None

    def forget_failure(self) -> None:
        """Before another attempt."""
        (self.path / "failed.json").unlink(missing_ok=True)

    def keep(self, number: int, content: bytes) -> None:
        """Keep a round's replies, in one step, for the server's eyes only."""
        folder = make_private(self.replies)
        write_atomically(folder / f"{number:05d}", lambda file: file.write_bytes(content), mode=PRIVATE)

    def kept(self, number: int) -> bytes | None:
        """What was kept of a round."""
        file = self._round(number)
        return file.read_bytes() if file.is_file() else None

    def set_aside(self, number: int) -> Path:
        """Put what was kept of a round out of the way, for people to look at; returns where it lies now."""
        file = self._round(number)
        return file.replace(file.with_suffix(".damaged"))

    @property
    def replies(self) -> Path:
        """Where the replies of all rounds lie: deleted at the end, unless `keep_replies` was called."""
        return self.path / "rounds"

    def keep_replies(self) -> None:
        """Keep the replies beyond the end of the run, on purpose."""
        (self.path / KEEPS).touch(mode=PRIVATE)

    def end_replies(self) -> None:
        """Delete the replies of a run that has its result, unless they are kept on purpose."""
        if not (self.path / KEEPS).exists() and self.replies.is_dir():
            shutil.rmtree(self.replies)

    def purge_replies(self) -> None:
        """Delete the replies whatever was meant before; refused while a process leads the run."""
        with only_one(self.path / "lead.lock", self._busy()):
            shutil.rmtree(self.replies)

    @property
    def totals(self) -> Path:
        """Where the totals over all sites lie, for `fedsieve rerank`; kept until they are purged."""
        return self.path / "totals.bin"

    def purge_totals(self) -> None:
        """Delete the totals; the result stays as it is. Refused while a process leads the run."""
        with only_one(self.path / "lead.lock", self._busy()):
            self.totals.unlink()

    def _busy(self) -> ProtocolError:
        return ProtocolError(f"run {self.id} is led by a process now. Wait for its end, or end it.")

    def _round(self, number: int) -> Path:
        return self.replies / f"{number:05d}"


def labeled_for_runs(folder: ServerFolder, method: Method, agreement: str, labeled: Labeled | None = None) -> Labeled:
    """The labeled rows, with the bins of the first run under an agreement: sites answer about no others."""
    rows = folder.labeled() if labeled is None else labeled
    if method.ranges != ROBUST:
        return rows
    return replace(rows, bins=folder.bins(agreement, lambda: bins_of(method, rows)))


def new_run(folder: ServerFolder, sites: list[str], absent: list[str], *, check: bool = False) -> RunFolder:
    """Start a run's folder for these sites; a check is a run that ends after its first rounds."""
    now = time.time()
    name = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now)) + f"-{int(now % 1 * 1000):03d}{secrets.token_hex(2)}"
    run = RunFolder(make_private(folder.server / "runs" / name))
    fingerprint = folder.agreement().fingerprint
    settings = {"id": name, "sites": sites, "absent": absent, "agreement": fingerprint}
    write_json(run.path / "run.json", {**settings, "check": True} if check else settings)
    return run


def find_run(folder: ServerFolder, name: str | None = None) -> RunFolder:
    """The run of that id, or the latest."""
    runs = sorted(path for path in (folder.server / "runs").glob("*") if (path / "run.json").is_file())
    chosen = [path for path in runs if name is None or path.name == name]
    if not chosen:
        known = f" Known: {', '.join(path.name for path in runs[-5:])}." if runs else ""
        raise DataError(f"{folder.path}: has no run{f' {name!r}' if name else ''} yet.{known}")
    return RunFolder(chosen[-1])
