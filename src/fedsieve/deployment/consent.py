"""`consent.jsonl`: who let a site take part, under which agreement and rules, for how long, and how it ended.

Also who let rows of a run's columns leave, which is asked apart. Chained like the record of what left (`chain.py`); it
stays after leaving. It names a table and its size, no value of it.
"""

import getpass
import hashlib
import json
import socket
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsieve.checks import check_count, is_number
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.chain import Chain
from fedsieve.deployment.ledger import DAY
from fedsieve.deployment.policy_file import policy_digest
from fedsieve.deployment.what_left import named, now
from fedsieve.privacy import Policy

FILE = "consent.jsonl"
JOINED, LEFT = "joined", "left"
ROWS, NO_ROWS = "rows may leave", "rows may not leave"  # of one run, besides the consent to take part
KILLED = "no end was recorded: the process was killed, or the machine went down"


@dataclass(frozen=True)
class Limits:
    """For how long a consent holds: so many runs, so many days; `None`: no limit but the policy's."""

    runs: int | None = None
    days: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("--for-runs", self.runs), ("--for-days", self.days)):
            if value is not None:
                check_count("", name, value, 1)

    def why_over(self, since: float, answered: Collection[str], run: str, at: float) -> str | None:
        """Why a request of a run is no longer covered, given when consent began and the runs answered since.

        >>> Limits(runs=1).why_over(0, {"first"}, "first", 0) is None
        True
        >>> Limits(runs=1).why_over(0, {"first"}, "second", 0)
        'its consent was for 1 run, which is used up (--for-runs 1). It must join again.'
        """
        if self.days is not None and at >= since + self.days * DAY:
            return _over(self.days, "day", "over")
        if self.runs is not None and run not in answered and len(set(answered)) >= self.runs:
            return _over(self.runs, "run", "used up")
        return None

    @property
    def words(self) -> str:
        """For people."""
        parts = [_many(n, what) for n, what in ((self.runs, "run"), (self.days, "day")) if n is not None]
        return (
            f"for {' or '.join(parts)}, whichever ends first" if len(parts) > 1 else f"for {parts[0]}" if parts else ""
        )


@dataclass(frozen=True)
class ReleasedRows:
    """Which rows of which columns may leave: of one run, under one agreement, by a digest that only the site knows."""

    run: str
    agreement: str
    columns: Sequence[str]
    n_rows: int
    n_bytes: int
    rows_digest: str

    def facts(self) -> dict[str, Any]:
        """As a record holds them."""
        names = hashlib.sha256(json.dumps(list(self.columns)).encode()).hexdigest()
        return {
            "run": self.run,
            "agreement": self.agreement,
            "columns": named(self.columns),
            "columns_sha256": names,
            "rows": self.n_rows,
            "bytes": self.n_bytes,
            "rows_digest": self.rows_digest,
        }


class ConsentRecord:
    """The record in a site's folder."""

    def __init__(self, folder: Path) -> None:
        self.chain = Chain(folder / FILE)

    def join(
        self,
        agreement: Agreement,
        policy: Policy,
        table: dict[str, Any],
        *,
        by: str = "",
        limits: Limits | None = None,
        asked: bool = True,
    ) -> None:
        """Record that somebody consents now. `table` says what of the rows is known to all: file, rows, columns."""
        if self._latest().get("what") == JOINED:
            self.leave(KILLED)
        limits = limits or Limits()
        self.chain.add(
            {
                "time": now(),
                "what": JOINED,
                "by": by or account(),
                "account": account(),
                "how": "asked, answered yes" if asked else "--yes",
                "federation": agreement.name,
                "agreement": agreement.fingerprint,
                "policy": policy_digest(policy),
                "table": table,
                "for_runs": limits.runs,
                "for_days": limits.days,
                "since": time.time(),
            }
        )

    def last_policy(self) -> tuple[str, str] | None:
        """When somebody last consented, and the digest of the rules that were in force then."""
        joined = [entry for entry in self.chain.entries() if entry.get("what") == JOINED]
        return (str(joined[-1].get("time")), str(joined[-1].get("policy"))) if joined else None

    def leave(self, how: str) -> None:
        """Record that the consent has ended."""
        self.chain.add({"time": now(), "what": LEFT, "how": how})

    def _latest(self) -> dict[str, Any]:
        """The latest record, but for those about rows; one that says neither joined nor left is no consent."""
        found = [entry for entry in self.chain.entries() if entry.get("what") not in (ROWS, NO_ROWS)]
        return found[-1] if found else {}

    def let_rows_leave(self, released: "ReleasedRows", policy: Policy, *, by: str = "", asked: bool = True) -> None:
        """Record that somebody consents that rows of a run's columns leave."""
        self.chain.add(
            {
                "time": now(),
                "what": ROWS,
                "by": by or account(),
                "account": account(),
                "how": "asked, answered yes" if asked else "--yes",
                "policy": policy_digest(policy),
                **released.facts(),
            }
        )

    def keep_rows(self, run: str, *, by: str = "") -> None:
        """Record that what was allowed of a run is allowed no longer."""
        self.chain.add({"time": now(), "what": NO_ROWS, "by": by or account(), "account": account(), "run": run})

    def runs_let_go(self) -> list[str]:
        """The runs of whose columns rows may leave now."""
        latest = {e["run"]: e["what"] for e in self.chain.entries() if e.get("what") in (ROWS, NO_ROWS) and "run" in e}
        return [run for run, what in latest.items() if what == ROWS]

    def why_rows_stay(self, released: "ReleasedRows") -> str:
        """Why these rows are not covered by a consent of their own; empty where they are."""
        of_run = [
            entry
            for entry in self.chain.entries()
            if entry.get("what") in (ROWS, NO_ROWS) and entry.get("run") == released.run
        ]
        if not of_run or of_run[-1]["what"] == NO_ROWS:
            return (
                f"nobody consented that rows of run {released.run} leave. At the site: fedsieve federation "
                f"approve-rows FOLDER --run {released.run}"
            )
        facts = released.facts()
        if any(of_run[-1].get(name) != facts[name] for name in ("agreement", "columns_sha256", "rows_digest")):
            return (
                f"other rows or columns of run {released.run} were consented to than are asked for now. At the site: "
                f"fedsieve federation approve-rows FOLDER --run {released.run}"
            )
        return ""

    def since(self) -> float | None:
        """When the present consent began, by which it is told from others; `None` where nobody consents."""
        latest = self._latest()
        consents = latest.get("what") == JOINED and is_number(latest.get("since"))
        return float(latest["since"]) if consents else None

    def allowed_now(self, run: str, answered: Collection[str], at: float | None = None) -> str | None:
        """Why a request of this run is not covered by consent, or `None`; `answered`: the runs answered under it.

        Pure but for reading the latest record and the clock.
        """
        latest, since = self._latest(), self.since()
        if since is None:
            return "nobody consents at present. It must join again."
        limits = Limits(latest.get("for_runs"), latest.get("for_days"))
        return limits.why_over(since, answered, run, time.time() if at is None else at)


def account() -> str:
    """The account and the machine that this process runs under."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def _over(n: int, what: str, how: str) -> str:
    verb = "is" if n == 1 else "are"
    return f"its consent was for {_many(n, what)}, which {verb} {how} (--for-{what}s {n}). It must join again."


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
