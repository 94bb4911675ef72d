"""A run's folder at the server: what was asked for, what happened, the replies of every round, and the result."""

import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from fedsieve.deployment.folders import make_private, write_json
from fedsieve.deployment.keys import PRIVATE
from fedsieve.deployment.run_story import timing
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import DataError, ProtocolError
from fedsieve.files import holder, only_one, write_atomically
from fedsieve.messages.columns import ROBUST
from fedsieve.methods import Method
from fedsieve.methods.ranges import bins_of
from fedsieve.protocol import Labeled
from fedsieve.protocol.follow_up import name_at_sites, run_followed
from fedsieve.reading import read_json, read_json_lines
from fedsieve.selection_file import FAILED, JSON, read_failure, read_selection, selection_text, write_selection_json

KEEPS = "keep-replies"  # a file that says so
SHIFT, CHECK, PAIRS, FOUND = "shift.json", "check.json", "pairs.json", "found.json"  # kept aside; the last after a run
HANDED = "handed.json"  # whose rows the operator has, of what followed a run
AFTER, MODEL = "after", "model.bin"  # the folder of what follows runs; a model that goes to the sites


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
    def follows(self) -> str:
        """The run that this one follows; empty for a run by itself."""
        return str(self.settings().get("follows") or "")

    @property
    def has_ended(self) -> bool:
        """Whether what it was started for is there: a selection, or the findings of a check or of what follows."""
        return (self.path / (FOUND if self.follows else CHECK if self.is_check else JSON)).is_file()

    @contextmanager
    def lead(self) -> Iterator[None]:
        """Only one process leads a run at a time."""
        with self.held():
            self.tell("started", pid=os.getpid())
            yield

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the block runs, this process leads the run."""
        with only_one(self.path / "lead.lock", ProtocolError(f"run {self.id} is led by another process already.")):
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
        write_json(self.path / FAILED, {"reason": reason})

    def result(self) -> dict[str, Any] | None:
        """The result, if there is one."""
        return read_selection(self.path / JSON, whole=True) if (self.path / JSON).is_file() else None

    def failure(self) -> str | None:
        """Why the run failed, if it did."""
        return read_failure(self.path)

    def forget_failure(self) -> None:
        """Before another attempt."""
        (self.path / FAILED).unlink(missing_ok=True)

    @property
    def rows(self) -> Path:
        """Where rows that sites send after a run lie until they are handed to the operator."""
        return self.path / "rows"

    def purge_rows(self) -> None:
        """Delete what sites sent so far. Refused while a process leads it."""
        with only_one(self.path / "lead.lock", self._busy()):
            shutil.rmtree(self.rows)

    def keep_file(self, number: int, write: Callable[[Path], object]) -> None:
        """Keep a round's replies, which `write` writes, in one step, for the server's eyes only."""
        write_atomically(make_private(self.replies) / f"{number:05d}", write, mode=PRIVATE)

    def kept_file(self, number: int) -> Path | None:
        """Where the replies of a round lie, if they were kept."""
        file = self._round(number)
        return file if file.is_file() else None

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


def operators_record(run: RunFolder) -> dict[str, Any] | None:
    """A run's result, if there is one, with what only the operator is told: shift, pairs, seconds."""
    record = run.result()
    if record is not None:
        shift = run.aside(SHIFT, {"sites": dict})
        record["shift"] = None if shift is None else shift["sites"]
        record["pairs"] = run.aside(PAIRS, {"measure": str, "features": list[str], "values": list})
        record["timing"] = timing(run.events())
    return record


def labeled_for_runs(folder: ServerFolder, method: Method, agreement: str, labeled: Labeled | None = None) -> Labeled:
    """The labeled rows, with the bins of the first run under an agreement: sites answer about no others."""
    rows = folder.labeled() if labeled is None else labeled
    if method.ranges != ROBUST:
        return rows
    return replace(rows, bins=folder.bins(agreement, lambda: bins_of(method, rows)))


def new_run(
    folder: ServerFolder, sites: list[str], absent: list[str], *, check: bool = False, name: str = ""
) -> RunFolder:
    """Start a run's folder for these sites; a check is a run that ends after its first rounds.

    An edge server's run has a name already, that of the run above.
    """
    name = name or _next_name(folder.server / "runs")
    run = RunFolder(make_private(folder.server / "runs" / name))
    fingerprint = folder.agreement().fingerprint
    settings = {"id": name, "sites": sites, "absent": absent, "agreement": fingerprint}
    write_json(run.path / "run.json", {**settings, "check": True} if check else settings)
    return run


def _next_name(runs: Path) -> str:
    """Of this millisecond, or of the one after the latest run's: by name it is the last, whatever the clock did."""
    moment = datetime.now(UTC)
    for run in runs.glob("*"):
        with suppress(ValueError, OverflowError):  # of another name, it has no place in this order
            begun = datetime.strptime(run.name[:19], "%Y%m%d-%H%M%S-%f").replace(tzinfo=UTC)
            moment = max(moment, begun + timedelta(milliseconds=1))
    return f"{moment:%Y%m%d-%H%M%S}-{moment.microsecond // 1000:03d}{secrets.token_hex(2)}"


def next_number(folder: ServerFolder, run: RunFolder, what: str) -> int:
    """The first that no follow-up of a run has yet."""
    return next(n for n in count() if not (folder.server / AFTER / name_at_sites(run.id, what, n)).exists())


def latest_after(folder: ServerFolder, run: RunFolder, what: str) -> RunFolder | None:
    """The last that followed a run in this way, if any did."""
    begun = next_number(folder, run, what)
    return RunFolder(folder.server / AFTER / name_at_sites(run.id, what, begun - 1)) if begun else None


def what_follows(
    folder: ServerFolder, run: RunFolder, what: str, sites: list[str], *, number: int = 0, **more: Any
) -> RunFolder:
    """The folder of what follows a run with these of its sites; begun anew, or gone on with.

    One that a process leads now, whose command was interrupted, stays as it is.
    """
    name = name_at_sites(run.id, what, number)
    this = RunFolder(make_private(folder.server / AFTER / name))
    if (this.path / "run.json").is_file() and this.leader() is not None:
        return this
    with only_one(this.path / "lead.lock", this._busy()):
        settings = {"id": name, "sites": sites, "absent": [], "agreement": folder.agreement().fingerprint}
        write_json(this.path / "run.json", {**settings, "follows": run.id, "what": what, **more})
        this.forget_failure()
        (this.path / FOUND).unlink(missing_ok=True)
    return this


def find_run(folder: ServerFolder, name: str | None = None) -> RunFolder:
    """The run of that id, or the latest; by its own name also what follows one."""
    if name is not None and run_followed(name)[1] and (folder.server / AFTER / name / "run.json").is_file():
        return RunFolder(folder.server / AFTER / name)
    runs = sorted(path for path in (folder.server / "runs").glob("*") if (path / "run.json").is_file())
    chosen = [path for path in runs if name is None or path.name == name]
    if not chosen:
        if not runs:
            raise DataError(f"{folder.path}: has no run yet. Start one: fedsieve federation run {folder.path}")
        latest = ", ".join(path.name for path in runs[-5:])
        raise DataError(f"{folder.path}: has no run {name!r}. Known: {latest}.")
    return RunFolder(chosen[-1])
