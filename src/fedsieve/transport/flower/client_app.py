"""The ClientApp: carries the engine's messages to the site's endpoint and back, and decides nothing itself."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from fedsieve.deployment.lease import LEASE, check_lease
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import FedSieveError, ProtocolError
from fedsieve.privacy import LIBRARY
from fedsieve.text import without_folders
from fedsieve.transport.edge_site import edge_site
from fedsieve.transport.flower.contents import unwrap, wrap
from fedsieve.transport.flower.engine import BELOW, SITE
from fedsieve.transport.site import JoinedSite

SITES = "FEDSIEVE_SITES"  # in a simulation: the folder with all sites' folders

app = ClientApp()


@app.query("step")
def step(message: Message, context: Context) -> Message:
    """Answer one request of the protocol."""
    with leased(context):
        return carried(message, joined_site(context).answer)


@app.query("result")
def result(message: Message, context: Context) -> Message:
    """Take the result of a run."""
    with leased(context):
        return carried(message, joined_site(context).take_result)


@app.query("after")
def after(message: Message, context: Context) -> Message:
    """Answer one request of what follows a run."""
    with leased(context):
        return carried(message, joined_site(context).follow_up)


@app.query("hello")
def hello(message: Message, context: Context) -> Message:
    """Say who this is."""
    with leased(context):
        return carried(message, joined_site(context).greet)


def carried(message: Message, answer: Callable[[bytes], bytes]) -> Message:
    """The engine's message with the answer to the bytes of another."""
    return Message(wrap(answer(unwrap(message))), reply_to=message)


@contextmanager
def leased(context: Context) -> Iterator[None]:
    """Let a process of a `join` answer only while that one is alive; nodes within a process have no `join`."""
    place = None if context.node_config.get("site") else os.environ.get(SITE)
    with few_words(str(place or context.node_config.get("site") or "")):
        if place:
            check_lease(SiteFolder(Path(place)), os.environ.get(LEASE))
        yield
        if place:
            check_lease(SiteFolder(Path(place)), os.environ.get(LEASE))


@contextmanager
def few_words(place: str) -> Iterator[None]:
    """The engine sends the words of every error to the server: no folder may be among them, nor what we do not know."""
    try:
        yield
    except FedSieveError as error:
        raise type(error)(without_folders(str(error), place)) from error
    except Exception as error:
        raise ProtocolError(f"failed with {type(error).__name__}; see the site's log.") from error


def joined_site(context: Context) -> JoinedSite:
    """The site whose process this is."""
    place = context.node_config.get("site") or os.environ.get(SITE)
    if place and (below := os.environ.get(BELOW)):
        return edge_site(SiteFolder(Path(str(place))), ServerFolder(Path(below)))
    if place:
        return JoinedSite(SiteFolder(Path(str(place))))
    names = sorted(path for path in Path(os.environ[SITES]).iterdir() if path.is_dir())
    virtual = SiteFolder(names[int(context.node_config["partition-id"])])
    return JoinedSite(virtual, policy=LIBRARY)  # one machine holds all rows of a simulation
