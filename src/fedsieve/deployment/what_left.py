"""`what-left.jsonl`: a site's own record of every message that left it, and of every refusal. It stays after leaving.

One line per message, chained (`chain.py`), written before the answer leaves. It holds no value of a row and no number
of an answer.
"""

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsieve.deployment.chain import Chain

FILE = "what-left.jsonl"
UTC_TIME = "%Y-%m-%dT%H:%M:%SZ"
MAX_NAMED = 50  # columns that a line names; of more it holds the digest of their names
MAX_REASON = 1000  # characters


@dataclass(frozen=True)
class Departure:
    """One message that is about to leave a site; with `refused`, the reason of a refusal, which is a message too."""

    run: str
    round: int
    request: str  # the kind that was asked
    reply: str  # the kind that leaves
    columns: Sequence[str]  # that it is about
    n_rows: int  # that were counted
    n_bytes: int
    asked_by: str  # the fingerprint of the key that signed the request
    agreement: str  # its fingerprint
    rule: str  # by which it may leave, in words
    held_back: Sequence[str] = ()  # columns that were answered as if constant
    refused: str = ""

    def facts(self) -> dict[str, Any]:
        """As a line holds them."""
        return {
            "run": self.run,
            "round": self.round,
            "request": self.request,
            "reply": self.reply,
            "columns": named(self.columns),
            "held_back": list(self.held_back),
            "rows": self.n_rows,
            "bytes": self.n_bytes,
            "asked_by": self.asked_by,
            "agreement": self.agreement,
            "rule": self.rule,
            "refused": self.refused[:MAX_REASON],
        }


class WhatLeft:
    """The record in a site's folder."""

    def __init__(self, folder: Path) -> None:
        self.chain = Chain(folder / FILE)

    def add(self, departure: Departure) -> None:
        """Record a message; only when this has returned may it leave."""
        self.chain.add({"time": now(), **departure.facts()})


def named(names: Sequence[str]) -> dict[str, Any]:
    """How many columns, and which: by name, or, where they are many, by the digest of their names in this order.

    >>> named(["age", "dose"])
    {'number': 2, 'names': ['age', 'dose']}
    """
    if len(names) <= MAX_NAMED:
        return {"number": len(names), "names": list(names)}
    return {"number": len(names), "sha256": hashlib.sha256(json.dumps(list(names)).encode()).hexdigest()}


def now() -> str:
    """The time as records hold it, in UTC."""
    return time.strftime(UTC_TIME, time.gmtime())
