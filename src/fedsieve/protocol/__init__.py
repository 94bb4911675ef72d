"""Who says what in a federation: messages, the client's answers, the server's generator, the rules for replies.

No I/O, no clock, no threads of its own: a runtime carries the messages.
"""

from fedsieve.protocol.client import Client, Site
from fedsieve.protocol.cohort import Ask, BadReplyError, Replies, Talk
from fedsieve.protocol.edge_server import EdgeServer
from fedsieve.protocol.plan import Labelled, Plan
from fedsieve.protocol.server import SERVER, Selection, federated_selection
from fedsieve.protocol.transcript import Entry, bytes_by_client, bytes_by_kind

__all__ = [
    "SERVER",
    "Ask",
    "BadReplyError",
    "Client",
    "EdgeServer",
    "Entry",
    "Labelled",
    "Plan",
    "Replies",
    "Selection",
    "Site",
    "Talk",
    "bytes_by_client",
    "bytes_by_kind",
    "federated_selection",
]
