"""What was said in a run: one line per message, with its size; the record by which a run's cost is judged."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple


class Entry(NamedTuple):
    """One message: the round it belongs to, who sent it to whom, what it is, and its encoded size."""

    round: int
    sender: str
    receiver: str
    kind: str
    n_bytes: int


def bytes_by_client(transcript: Iterable[Entry], server: str = "server") -> dict[str, int]:
    """The bytes that went to and from each client.

    >>> bytes_by_client([Entry(1, "server", "a", "AskRanges", 50), Entry(1, "a", "server", "Ranges", 80)])
    {'a': 130}
    """
    total: dict[str, int] = defaultdict(int)
    for entry in transcript:
        total[entry.receiver if entry.sender == server else entry.sender] += entry.n_bytes
    return dict(total)


def bytes_by_kind(transcript: Iterable[Entry]) -> dict[str, int]:
    """The bytes of all messages, added up per kind.

    >>> bytes_by_kind([Entry(1, "a", "server", "Ranges", 80), Entry(1, "b", "server", "Ranges", 90)])
    {'Ranges': 170}
    """
    total: dict[str, int] = defaultdict(int)
    for entry in transcript:
        total[entry.kind] += entry.n_bytes
    return dict(total)
