"""What a run found and what was said in it: the selection, and one line per message with its size."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fedsieve.arrays import Float, Int

CORRELATION, DISTANCE = "correlation", "distance"  # by which pairs of features are told to be alike


@dataclass(frozen=True, eq=False)
class Selection:
    """Per feature score (larger is better) and relevance to the labels, and the order, best first.

    A method's own selection adds what else it found; `columns`, `links` and `facts` say what of it belongs in a record.
    """

    scores: Float
    order: Int
    relevance: Float
    n_selected: int | None = field(default=None, kw_only=True)  # where the method says how many features are kept
    n_rows: dict[str, int] | None = field(default=None, kw_only=True)  # per client, where single replies are seen
    dropped: dict[str, str] = field(default_factory=dict, kw_only=True)  # client -> why
    left_out: tuple[str, ...] = field(default=(), kw_only=True)  # columns of which a total would tell of few rows
    per_label: Float | None = field(default=None, kw_only=True)  # (n_labels, n_features), where the method tells it
    unseen: str = field(default="", kw_only=True)  # why what is reported per client is None, where it is

    def columns(self) -> dict[str, Float]:
        """Numbers per feature, by name."""
        return {"scores": self.scores, "relevance": self.relevance}

    def links(self) -> dict[str, Int]:
        """Per feature another feature, by name; -1 for none."""
        return {}

    def pairs(self) -> tuple[str, Float] | None:
        """How like the chosen features are to each other, best first, and by which measure, where that is known."""
        return None

    def facts(self) -> dict[str, Any]:
        """Plain values about the run, by name."""
        return {}

    def why(self, names: Sequence[str], labels: Sequence[str]) -> dict[str, str]:  # noqa: ARG002 (most give none)
        """Per feature the reason why it is in or out, in words, where the method has one."""
        return {}


class SentMessage(NamedTuple):
    """One message: the round it belongs to, who sent it to whom, what it is, and its encoded size."""

    round: int
    sender: str
    receiver: str
    kind: str
    n_bytes: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """A selection and what was said on the way."""

    selection: Selection
    transcript: tuple[SentMessage, ...]


def bytes_by_client(transcript: Iterable[SentMessage], server: str = "server") -> dict[str, int]:
    """The bytes that went to and from each client.

    >>> bytes_by_client([SentMessage(1, "server", "a", "AskRanges", 50), SentMessage(1, "a", "server", "Ranges", 80)])
    {'a': 130}
    """
    total: dict[str, int] = defaultdict(int)
    for entry in transcript:
        total[entry.receiver if entry.sender == server else entry.sender] += entry.n_bytes
    return dict(total)


def bytes_by_kind(transcript: Iterable[SentMessage]) -> dict[str, int]:
    """The bytes of all messages, added up per kind.

    >>> bytes_by_kind([SentMessage(1, "a", "server", "Ranges", 80), SentMessage(1, "b", "server", "Ranges", 90)])
    {'Ranges': 170}
    """
    total: dict[str, int] = defaultdict(int)
    for entry in transcript:
        total[entry.kind] += entry.n_bytes
    return dict(total)
