"""What one attack came to: a number beside two controls, or a refusal; in words, and as plain values for JSON."""

import re
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from fedsieve.audit.curves import Measured
from fedsieve.privacy import Policy

AUC = "AUC"
RULES = tuple(rule.name for rule in fields(Policy))
IN_OTHER_WORDS = {
    "agreed: totals only": "totals only",
    "in this order": "one story",
    "more often than": "one story",
    "another story": "one story",
    "so far from its values": "ranges hold the values",
    "outside the range": "ranges hold the values",
    "do not hold its": "ranges hold the values",
    "other ranges than agreed": "agreed ranges only",
    "not agreed on": "agreed requests only",
    "already spent": "budget",
    "budget": "budget",
}
"""What a refusal says that names no rule of `policy.toml`, and the rule in a word."""


@dataclass(frozen=True)
class Finding:
    """One attack on one site: what was asked, what was read, and what chance and the server's own rows would give.

    Without `read` nothing could be measured: the site refused, or there was nothing to attack (`note` says why). A site
    may refuse after it has answered some requests: then there are both, and `read` is what those answers gave.
    """

    attack: str
    asked: str
    method: str
    wire: str
    guard: str  # "site": all rules of a joined site; "none": no rules
    secure: bool
    epsilon: float | None
    unit: str  # of what the numbers are shares; or AUC
    read: Measured | None = None
    control: float | None = None  # what chance gives: a shuffled or random guess
    server_alone: float | None = None  # what the server's own labeled rows tell already
    more: dict[str, Measured] = field(default_factory=dict)
    refused: str = ""  # the site's own words
    note: str = ""
    seconds: float = 0.0

    @property
    def rule(self) -> str:
        """The rule that the refusal names, in a word."""
        return rule_of(self.refused)

    @property
    def beyond_control(self) -> bool:
        """Whether more was read than chance and the server's own rows tell, beyond the interval's doubt."""
        return self.read is not None and self.read.low > max(self.control or 0.0, self.server_alone or 0.0)

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.read is None:
            return f"refused: {self.rule}" if self.refused else self.note
        read = f"{self._number(self.read.value)} ({self._number(self.read.low)} to {self._number(self.read.high)})"
        words = f"tells members from others with AUC {read}" if self.unit == AUC else f"reads {read} {self.unit}"
        words = words.replace("reads", "replaces") if self.attack == "poisoning" else words
        if self.control is not None:
            words += f"; chance: {self._number(self.control)}"
        if self.server_alone is not None:
            words += f"; the server's own rows: {self._number(self.server_alone)}"
        for name, one in self.more.items():
            words += f"; {name}: {100 * one.value:.0f} % ({100 * one.low:.0f} to {100 * one.high:.0f} %)"
        if self.refused:
            words += f"; then refused: {self.rule}"
        return f"{words}; {self.note}" if self.note else words

    def as_record(self) -> dict[str, Any]:
        """Plain values, with the verdict in words."""
        return {**asdict(self), "rule": self.rule, "beyond_control": self.beyond_control, "verdict": self.verdict}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> "Finding":
        """From what `as_record` made."""
        known = {part.name: record[part.name] for part in fields(cls)}
        known["read"] = None if known["read"] is None else Measured(**known["read"])
        known["more"] = {name: Measured(**one) for name, one in known["more"].items()}
        return cls(**known)

    def _number(self, value: float) -> str:
        return f"{value:.2f}" if self.unit == AUC else f"{100 * value:.0f} %"


def rule_of(refusal: str) -> str:
    """The rule that a refusal names.

    >>> rule_of("has 11 rows; its rules ask for 50 (min_rows): sums of few rows hide little.")
    'min_rows'
    >>> rule_of("was asked AskHistograms by itself; agreed: totals only, by secure sums.")
    'totals only'
    """
    named = [name for name in re.findall(r"\(([a-z_]+)\b", refusal) if name in RULES]
    if named:
        return str(named[0])
    words = [rule for words, rule in IN_OTHER_WORDS.items() if words in refusal]
    return words[0] if words else refusal.partition(". ")[0].partition("; ")[0]
