"""Who speaks in a federation, and in what order: the method's contract, its cohort, the server's loop, a client.

No I/O, no clock, no threads of its own: a runtime carries the messages.
"""

from fedsieve.protocol.cohort import SERVER, BadReplyError, Cohort, PlainCohort, Question, Replies, Steps
from fedsieve.protocol.method import Labeled, Method
from fedsieve.protocol.outcome import Selection, SentMessage, bytes_by_client, bytes_by_kind
from fedsieve.protocol.parties import Client, EdgeServer, federated_selection

__all__ = [
    "SERVER",
    "BadReplyError",
    "Client",
    "Cohort",
    "EdgeServer",
    "Labeled",
    "Method",
    "PlainCohort",
    "Question",
    "Replies",
    "Selection",
    "SentMessage",
    "Steps",
    "bytes_by_client",
    "bytes_by_kind",
    "federated_selection",
]
