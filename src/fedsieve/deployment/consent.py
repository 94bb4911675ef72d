"""`consent.jsonl`: who let a site take part, under which agreement and rules, for how long, and how it ended.

Chained like the record of what left (`chain.py`); it stays after leaving. It names a table and its size,
no value of it.
"""

import getpass
import socket
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsieve.checks import check_count, is_number
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.chain import Chain
from fedsieve.deployment.ledger import DAY
from fedsieve.deployment.policy_file import policy_digest
from fedsieve.deployment.what_left import now
from fedsieve.privacy import Policy

FILE = "consent.jsonl"
JOINED, LEFT = "joined", "left"
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
        before = self.chain.last()
        if before is not None and before.get("what") == JOINED:
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

    def since(self) -> float | None:
        """When the present consent began, by which it is told from others; `None` where nobody consents."""
        latest = self.chain.last() or {}
        consents = latest.get("what") == JOINED and is_number(latest.get("since"))
        return float(latest["since"]) if consents else None

    def allowed_now(self, run: str, answered: Collection[str], at: float | None = None) -> str | None:
        """Why a request of this run is not covered by consent, or `None`; `answered`: the runs answered under it.

        Pure but for reading the latest record and the clock.
        """
        latest, since = self.chain.last() or {}, self.since()
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
