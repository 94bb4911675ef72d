"""What it costs to send the rows before and after a selection, by the paper's formula, and to select at all."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedsieve.checks import ABOVE_ZERO, check_count, check_number, names_that_differ
from fedsieve.errors import ParameterError, listed, shown
from fedsieve.protocol.outcome import SentMessage, bytes_by_client

OWNER = "communication_cost"
BITS = 32  # per value of a row, the paper's example
BYTE = 8  # bits
MESSAGES = "a transcript_, or a dict of bytes by client"


@dataclass(frozen=True)
class CommunicationCost:
    """Bits, each client's by its distance: all features of the rows, the selected ones, and what selecting took."""

    before: float
    after: float
    selection: float = 0.0

    @property
    def in_all(self) -> float:
        """To select, and then to send the selected features."""
        return self.after + self.selection

    @property
    def pays(self) -> bool:
        """Whether that is less than to send all features."""
        return self.in_all < self.before


def communication_cost(
    n_rows: Mapping[str, int] | Sequence[int],
    n_features: int,
    n_selected: int,
    *,
    distances: Mapping[str, float] | Sequence[float] | None = None,
    bits: int = BITS,
    messages: Iterable[Any] | Mapping[str, int] = (),
) -> CommunicationCost:
    """Σ_i D_i N_i F b of the paper, with F features before a selection and after it.

    `n_rows` are N_i, per client by name or in order; `distances` are D_i, 1 unless given; `bits` is b. `messages` are a
    `transcript_` (or that of a `selection.json`), or the bytes to and from each client: the formula leaves out what the
    selection itself takes, here it is told as well.

    >>> cost = communication_cost([100, 50], n_features=20, n_selected=5, distances=[1, 2])
    >>> cost.before, cost.after  # 1 x 100 x 20 x 32 + 2 x 50 x 20 x 32, and a quarter of it
    (128000, 32000)
    """
    check_count(OWNER, "n_features", n_features)
    check_count(OWNER, "n_selected", n_selected, 1, n_features, "n_features=")
    check_count(OWNER, "bits", bits)
    spent = _spent(messages)
    rows = _by_client("n_rows", n_rows, spent)
    for client, count in rows.items():
        check_count(OWNER, f"n_rows of {client!r}", count, 0)
    # A client that was dropped has sent and received as well.
    clients = [*rows, *(client for client in spent if client not in rows)]
    far = dict.fromkeys(clients, 1) if distances is None else _by_client("distances", distances, clients)
    missing, unknown = names_that_differ(clients, far)
    if missing:
        raise ParameterError(f"{OWNER}: distances has none of {listed(missing)}; give one per client.")
    if unknown:
        names = f"{listed(unknown)}; there are {listed(clients)}"
        raise ParameterError(f"{OWNER}: distances names no such client: {names}.")
    for client, distance in far.items():
        check_number(OWNER, f"the distance of {client!r}", distance, *ABOVE_ZERO)
    held = sum(far[client] * count for client, count in rows.items())
    own = sum(far[client] * n_bytes * BYTE for client, n_bytes in spent.items())
    return CommunicationCost(held * n_features * bits, held * n_selected * bits, own)


def _spent(messages: Any) -> dict[str, int]:
    """The bytes to and from each client."""
    if isinstance(messages, Mapping):
        for client, n_bytes in messages.items():
            check_count(OWNER, f"the bytes of {client!r}", n_bytes, 0)
        return dict(messages)
    if isinstance(messages, str) or not isinstance(messages, Iterable):
        raise ParameterError(f"{OWNER}: messages must be {MESSAGES}; got {shown(messages)}.")
    return bytes_by_client(map(_sent, messages))


def _sent(entry: Any) -> SentMessage:
    try:
        sent = SentMessage(**entry) if isinstance(entry, Mapping) else SentMessage(*entry)
    except TypeError:
        raise ParameterError(f"{OWNER}: messages must be {MESSAGES}; it holds {shown(entry)}.") from None
    check_count(OWNER, "n_bytes of a message", sent.n_bytes, 0)
    return sent


def _by_client(name: str, values: Mapping[str, Any] | Sequence[Any], clients: Iterable[str]) -> dict[str, Any]:
    """Values by client; of a list in the order of the clients' names, where these are known."""
    if isinstance(values, Mapping):
        return dict(values)
    if isinstance(values, str) or not isinstance(values, Collection):
        raise ParameterError(f"{OWNER}: {name} must be a list, or a dict by client; got {shown(values)}.")
    if not len(values):
        raise ParameterError(f"{OWNER}: {name} is empty; give one entry per client.")
    width = len(str(max(len(values) - 1, 0)))
    names = sorted(clients) or [f"client-{index:0{width}d}" for index in range(len(values))]
    if len(names) != len(values):
        raise ParameterError(f"{OWNER}: {name} has {len(values)} entries for {len(names)} clients; give one each.")
    return dict(zip(names, values, strict=True))
