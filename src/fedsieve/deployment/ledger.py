"""What a site remembers across runs and joins: how often it answered, for which rows, and what must stay the same.

It lies outside `prepared/`, so that leaving and joining again changes nothing. Of rows it keeps keyed hashes: two
tables that differ in a few rows would give these rows away by subtraction, whatever was answered for in between.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.checks import is_number
from fedsieve.deployment.answered_rows import (
    DAMAGED,
    ENDING,
    HASH_BYTES,
    AnsweredRows,
    Hashes,
    damaged,
    digest_of,
    hashes_of,
)
from fedsieve.deployment.folders import make_private, write_json
from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import ProtocolError
from fedsieve.files import held_file, write_atomically
from fedsieve.messages.base import View
from fedsieve.messages.site_view import AS_OF
from fedsieve.privacy import Pins, Policy, Story, Told, Views
from fedsieve.reading import read_json
from fedsieve.tables import Table
from fedsieve.text import counted, is_or_are
from fedsieve.values import dense

DAY = 86_400  # seconds
KEY_BYTES = 32
OTHER_ROWS = (
    "its rows are not those that the run began with: two answers would give the difference away. Start a new run."
)
OTHER_AGREEMENT = "the run began under another agreement than it holds now. Start a new run."


@dataclass(frozen=True, eq=False)
class Changes:
    """How a table differs from those answered for: in how many rows from the nearest, and which rows are new to each.

    A table that was answered for itself is none of them.
    """

    least: int = 0
    new: tuple[Bool, ...] = ()


@dataclass(frozen=True)
class Ledger:
    """The ledger in a site's folder.

    `words` tells by which words text is read, if any is: rows whose codes mean something else are those of other
    columns, or an agreement with the words in another order would make every row seem new.
    """

    path: Path
    words: Callable[[], str] = str

    def admit(
        self,
        run: str,
        agreement: str,
        policy: Policy,
        rows: Table | None,
        now: float | None = None,
        consent: float | None = None,
    ) -> None:
        """Enter a run, once; raises `ProtocolError` where it is one too many, or the rows differ too little.

        One run is about one table and agreement: asked again for a run that is entered, it raises where these are
        others. `consent` tells consents apart: a run that goes on under a later one counts as one of that.
        """
        now = time.time() if now is None else now
        make_private(self.path)
        with held_file(self.path / "lock"):
            runs, hashes = self.runs(), None if rows is None else self.hashes(rows)
            digest = "" if hashes is None else digest_of(hashes)
            entered = next((entry for entry in runs if entry["run"] == run), None)
            if entered is not None:
                if entered.get("agreement") != agreement:
                    raise ProtocolError(OTHER_AGREEMENT)
                if entered.get("rows") != digest:
                    raise ProtocolError(OTHER_ROWS)
                if entered.get("consent") != consent:
                    self._write_runs([{**one, "consent": consent} if one is entered else one for one in runs])
                return
            recent = sum(entry["time"] > now - DAY for entry in runs)
            if policy.max_runs_per_day and recent >= policy.max_runs_per_day:
                raise ProtocolError(
                    f"has answered {counted(recent, 'run')} within a day; its policy allows {policy.max_runs_per_day} "
                    "(max_runs_per_day). Wait, or raise it in policy.toml."
                )
            if policy.max_runs and len(runs) >= policy.max_runs:
                raise ProtocolError(
                    f"has answered {counted(len(runs), 'run')}; its policy allows {policy.max_runs} in all (max_runs). "
                    "Raise it in policy.toml."
                )
            if rows is not None and hashes is not None:
                reason = self.why_too_alike(rows, hashes, policy)
                if reason:
                    raise ProtocolError(reason)
                self._answered(rows).add(hashes)
            entry = {"run": run, "time": now, "agreement": agreement, "rows": digest, "consent": consent}
            self._write_runs([*runs, entry])

    def runs(self) -> list[dict[str, Any]]:
        """The runs answered, oldest first: `run`, `time`, `agreement`, a digest of its `rows`, the last `consent`."""
        file = self.path / "runs.json"
        runs: list[dict[str, Any]] = _read(file, {"runs": list})["runs"] if file.is_file() else []
        for entry in runs:
            if not isinstance(entry, dict) or type(entry.get("run")) is not str or not is_number(entry.get("time")):
                raise damaged(file)
        return runs

    def runs_under(self, consent: float | None) -> set[str]:
        """The runs that were answered under a consent, whenever they began; not by the clock, which can be set back."""
        return {entry["run"] for entry in self.runs() if entry.get("consent") == consent}

    def _write_runs(self, runs: list[dict[str, Any]]) -> None:
        write_json(self.path / "runs.json", {"runs": runs}, mode=PRIVATE)

    def why_too_alike(self, rows: Table, hashes: Hashes, policy: Policy) -> str:
        """Why these rows are too like some answered for before; empty where they are the same, or differ enough."""
        least, own = policy.min_difference_rows, self._answered(rows)
        differences = own.n_different(hashes)
        if 0 in differences:
            return ""
        others = [AnsweredRows(file) for file in self.path.glob(f"*{ENDING}") if file != own.file]
        # of other columns only the number of rows can be compared
        differences += [abs(len(hashes) - n_rows) for tables in others for n_rows in tables.numbers()]
        few = [n_rows for n_rows in differences if 0 < n_rows < least]
        if not few:
            return ""
        return (
            f"its rows differ from those it answered for before in {min(few)}; its policy asks for {least} or none "
            f"(min_difference_rows): two answers would give these rows away by subtraction. {AS_OF}."
        )

    def changes(self, rows: Table) -> Changes:
        """How these rows differ from all tables of the same columns that were answered for."""
        hashes, tables = self.hashes(rows), self._answered(rows)
        different = [n_rows for n_rows in tables.n_different(hashes) if n_rows]
        if not different:
            return Changes()
        new = {hashlib.sha256(np.packbits(mask).tobytes()).digest(): mask for mask in tables.new_rows(hashes)}
        return Changes(min(different), tuple(new.values()))

    def as_before(self, rows: Table) -> Bool:
        """Which rows were answered for last; raises `ProtocolError` where not all of those are here."""
        tables = self._answered(rows)
        if not tables.file.is_file():
            raise ProtocolError("has answered for no rows of these columns yet; --as-of has nothing to go back to.")
        chosen, missing = tables.last_rows(self.hashes(rows))
        if missing:
            raise ProtocolError(
                f"{missing} of the rows it last answered for {is_or_are(missing)} no longer in the table, "
                "so that --as-of cannot answer for them. Wait until more rows have changed."
            )
        return chosen

    def hashes(self, rows: Table) -> Hashes:
        """A keyed hash of every row, 16 bytes each; without the key nobody can try out rows."""
        names = sorted(rows.names)
        key = self._key()
        found, place = np.empty((rows.n_rows, HASH_BYTES), dtype=np.uint8), 0
        for batch in rows.batches(names):
            values: Float = np.ascontiguousarray(dense(batch), dtype=np.float64) + 0.0  # -0 is 0
            values[np.isnan(values)] = np.nan
            each = (hashlib.blake2b(row.data, key=key, digest_size=HASH_BYTES).digest() for row in values)
            found[place : place + len(values)] = np.frombuffer(b"".join(each), dtype=np.uint8).reshape(-1, HASH_BYTES)
            place += len(values)
        return hashes_of(found)

    def story(self, run: str) -> Story:
        """What was asked in a run."""
        file = self._story_file(run)
        if not file.is_file():
            return Story()
        try:
            return Story.of(_read(file, {"cohort": list, "asked": list, "pins": dict}))
        except (TypeError, ValueError):  # not pairs of kind and digest
            raise damaged(file) from None

    def keep_story(self, run: str, story: Story) -> None:
        """Remember it."""
        make_private(self._story_file(run).parent)
        write_json(self._story_file(run), story.plain(), mode=PRIVATE)

    def lasting(self, agreement: str) -> Pins:
        """What stays the same in all runs under an agreement."""
        file = self._pins_file(agreement)
        pins: Pins = _read(file, {}) if file.is_file() else {}
        return pins

    def keep_lasting(self, agreement: str, pins: Pins) -> None:
        """Add to it."""
        if pins:
            make_private(self.path)
            write_json(self._pins_file(agreement), {**self.lasting(agreement), **pins}, mode=PRIVATE)

    def views(self) -> Views:
        """How columns were seen, under whatever agreement: two ranges of one column tell of the rows between."""
        file = self.path / "views.json"
        kept = _read(file, {}) if file.is_file() else {}
        return {name: [View(*view) for view in views] for name, views in kept.items()}

    def keep_views(self, views: Views) -> None:
        """Remember these instead."""
        if views != self.views():
            make_private(self.path)
            write_json(self.path / "views.json", views, mode=PRIVATE)

    def told(self) -> Told:
        """What answers compared, of whatever rows and under whatever agreement: columns told bit by bit are told."""
        file = self.path / "told.json"
        told: Told = _read(file, {}) if file.is_file() else {}
        if not all(type(n_columns) is int and n_columns > 0 for n_columns in told.values()):
            raise damaged(file)
        return told

    def keep_told(self, told: Told) -> None:
        """Remember this instead."""
        if told != self.told():
            make_private(self.path)
            write_json(self.path / "told.json", told, mode=PRIVATE)

    def digest(self, rows: Table) -> str:
        """Of all rows, whatever their order; without the key nobody can try out tables."""
        return digest_of(self.hashes(rows))

    def _story_file(self, run: str) -> Path:
        return self.path / "stories" / f"{Path(run).name}.json"

    def _pins_file(self, agreement: str) -> Path:
        return self.path / f"pins-{Path(agreement).name}.json"

    def _key(self) -> bytes:
        file = self.path / "rows.key"
        if not file.is_file():
            if any(self.path.glob(f"*{ENDING}")):  # hashes by another key would make all rows new ones
                raise damaged(file)
            make_private(self.path)
            write_atomically(file, lambda path: path.write_bytes(secrets.token_bytes(KEY_BYTES)), mode=PRIVATE)
        key = file.read_bytes()
        if len(key) != KEY_BYTES:
            raise damaged(file)
        return key

    def _answered(self, rows: Table) -> AnsweredRows:
        names = json.dumps(sorted(rows.names)) + self.words()
        columns = hashlib.sha256(names.encode()).hexdigest()
        return AnsweredRows(self.path / f"{columns}{ENDING}")


def _read(file: Path, parts: dict[str, type]) -> Any:
    """The object in a file of the ledger; damage is no reason to forget."""
    content = read_json(file, way_out=DAMAGED)
    if not isinstance(content, dict) or not all(isinstance(content.get(key), kind) for key, kind in parts.items()):
        raise damaged(file)
    return content
