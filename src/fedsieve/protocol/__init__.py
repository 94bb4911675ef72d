"""Who says what in a federation: messages, the client's answers, the server's generator, the rules for replies.

No I/O, no clock, no threads of its own: a runtime carries the messages.
"""

from fedsieve.protocol.client import Client
from fedsieve.protocol.cohort import SERVER, Ask, BadReplyError, Replies, Talk
from fedsieve.protocol.edge_server import EdgeServer
from fedsieve.protocol.fedcmfs.plan import FedCMFSPlan
from fedsieve.protocol.fmlfs.plan import FMLFSPlan
from fedsieve.protocol.plan import Labeled, Plan
from fedsieve.protocol.selection import Selection
from fedsieve.protocol.server import federated_selection
from fedsieve.protocol.sieve.plan import SievePlan
from fedsieve.protocol.site import Site
from fedsieve.protocol.ssfmlfs.plan import SSFMLFSPlan
from fedsieve.protocol.transcript import Entry, bytes_by_client, bytes_by_kind

__all__ = [
    "SERVER",
    "Ask",
    "BadReplyError",
    "Client",
    "EdgeServer",
    "Entry",
    "FMLFSPlan",
    "FedCMFSPlan",
    "Labeled",
    "Plan",
    "Replies",
    "SSFMLFSPlan",
    "Selection",
    "SievePlan",
    "Site",
    "Talk",
    "bytes_by_client",
    "bytes_by_kind",
    "federated_selection",
]
