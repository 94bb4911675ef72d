"""A Flower `Grid` whose nodes live in this process: the real ServerApp and ClientApp without servers or Ray."""

import itertools
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from flwr.app import Context, Error, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid
from flwr.supercore.run import Run
from flwr.supercore.task_identity import TaskIdentity

CLIENT_APP_RAISED = 2  # the engine's code
Node = Callable[[Message], Message | None]


class LocalGrid(Grid):
    """Nodes are functions from message to reply; one that raises, or returns `None`, is a client that was lost."""

    def __init__(self, nodes: Mapping[int, Node]) -> None:
        self._nodes = dict(nodes)
        self._numbers = itertools.count(1)
        self._replies: dict[str, Message] = {}
        # A message is stamped with the engine's process identity, which nobody has set here.
        TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1

    def set_run(self, run: Run) -> None:
        """Nothing depends on it here."""

    @property
    def run(self) -> Run:
        """There is no engine whose run this could be."""
        raise NotImplementedError

    def create_message(
        self, content: RecordDict, message_type: str, dst_node_id: int, group_id: str, ttl: float | None = None
    ) -> Message:
        """As the engine's grids do."""
        return Message(content, dst_node_id, message_type, ttl=ttl, group_id=group_id)

    def get_node_ids(self) -> list[int]:
        """All nodes."""
        return list(self._nodes)

    def push_messages(self, messages: Iterable[Message]) -> list[str]:
        """Let each node answer at once."""
        numbers = []
        for message in messages:
            number = f"message-{next(self._numbers)}"
            message.metadata.__dict__["_message_id"] = number  # as the engine does
            try:
                reply = self._nodes[message.metadata.dst_node_id](message)
            except Exception as error:
                reply = Message(Error(CLIENT_APP_RAISED, type(error).__name__), reply_to=message)
            if reply is not None:
                self._replies[number] = reply
            numbers.append(number)
        return numbers

    def pull_messages(self, message_ids: Iterable[str]) -> list[Message]:
        """The replies to these messages, each once."""
        return [self._replies.pop(number) for number in list(message_ids) if number in self._replies]

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        """Push, then pull until all is there or the time is over."""
        waiting, end = self.push_messages(messages), time.monotonic() + (timeout or 0)
        replies = self.pull_messages(waiting)
        while len(replies) < len(waiting) and time.monotonic() < end:
            time.sleep(0.01)
            replies += self.pull_messages(waiting)
        return replies


def site_node(app: ClientApp, site: Path, node_id: int) -> Node:
    """A node that lets a ClientApp answer from a site's folder."""
    context = Context(0, node_id, {"site": str(site)}, RecordDict(), {})
    return lambda message: app(message, context)
