"""A federation inside one process: every client is an object here; messages are counted as if they traveled."""

from collections.abc import Callable, Mapping

from fedsieve.protocol import Ask, Client, Labeled, Plan, Site
from fedsieve.protocol.limits import check_message
from fedsieve.transport.codec import encoded_size
from fedsieve.transport.exchange import Answer, Outcome, drive


def select(
    plan: Plan,
    labeled: Labeled,
    sites: Mapping[str, Site],
    watch: Callable[[Ask], None] | None = None,
) -> Outcome:
    """Run the selection with all sites in this process; `watch` is told of every question before it is asked."""
    clients = {name: Client(site) for name, site in sites.items()}

    def exchange(ask: Ask) -> dict[str, Answer]:
        if watch is not None:
            watch(ask)
        answers = {}
        for name in ask.clients:
            reply = clients[name].answer(ask.request)
            answers[name] = Answer(reply, encoded_size(reply))
            check_message(plan, name, type(reply).__name__, answers[name].n_bytes)
        return answers

    return drive(plan, labeled, tuple(clients), exchange)
