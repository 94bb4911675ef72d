"""A federation inside one process: every client is an object here; messages are counted as if they travelled."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fedsieve.protocol import SERVER, Ask, Client, Entry, Labelled, Plan, Selection, Site, federated_selection
from fedsieve.protocol.limits import check_message
from fedsieve.protocol.messages import Message
from fedsieve.runtimes.codec import encoded_size


@dataclass(frozen=True, eq=False)
class Outcome:
    """A selection and what was said on the way."""

    selection: Selection
    transcript: tuple[Entry, ...]


def select(
    plan: Plan,
    labelled: Labelled,
    sites: Mapping[str, Site],
    watch: Callable[[Ask], None] | None = None,
) -> Outcome:
    """Run the selection with all sites in this process; `watch` is told of every question before it is asked."""
    clients = {name: Client(site) for name, site in sites.items()}
    talk = federated_selection(plan, labelled, clients)
    transcript: list[Entry] = []
    ask = next(talk)
    while True:
        if watch is not None:
            watch(ask)
        replies = {}
        for name in ask.clients:
            transcript.append(_sent(plan, ask, SERVER, name, ask.request))
            replies[name] = clients[name].answer(ask.request)
            transcript.append(_sent(plan, ask, name, SERVER, replies[name]))
        try:
            ask = talk.send(replies)
        except StopIteration as finished:
            return Outcome(finished.value, tuple(transcript))


def _sent(plan: Plan, ask: Ask, sender: str, receiver: str, message: Message) -> Entry:
    entry = Entry(ask.round, sender, receiver, type(message).__name__, encoded_size(message))
    check_message(plan, sender, entry.kind, entry.n_bytes)
    return entry
