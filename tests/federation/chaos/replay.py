"""What the server learned in a run, read again from the replies it kept: each total, and of which sites it is."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from federation.consortium import Consortium
from fedsieve.deployment.runs import RunFolder
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import ProtocolError
from fedsieve.messages import Reply, Request
from fedsieve.messages.secure_sum import AskSignature
from fedsieve.privacy.secure_sum import fixed_point
from fedsieve.protocol import Client
from fedsieve.protocol.outcome import Selection
from fedsieve.tables import ArrayTable
from fedsieve.transport.checkpoint import Checkpointed
from fedsieve.transport.exchange import drive
from fedsieve.transport.secure_answers import secure_cohorts

LAST_PLACES = 8  # of a double, by which two computations of one site's numbers may differ


class NothingKeptError(Exception):
    """The server died, or gave up, before this round was complete."""


@dataclass(frozen=True, eq=False)
class Total:
    request: Request
    sites: tuple[str, ...]
    reply: Reply

    @property
    def about(self) -> str:
        return type(self.request).__name__.removeprefix("Ask").lower()


@dataclass(eq=False)
class Story:
    """All totals in their order; then the selection, or why there is none."""

    totals: list[Total] = field(default_factory=list)
    selection: Selection | None = None
    failure: str = ""


def replayed(consortium: Consortium, run: RunFolder) -> Story:
    """Lead the run again with the replies that came over the wire, and listen to each sum."""
    folder, story, asked = ServerFolder(consortium.fed), Story(), list[Request]()
    method, sites = folder.agreement().method, tuple(run.settings()["sites"])
    agreement, members = folder.agreement().fingerprint, folder.public_keys(sites)
    gather, kept = secure_cohorts(method, run.id, agreement, members), Checkpointed(_nothing_kept, run)

    def exchange(question: Any) -> Any:
        asked.append(question.request)
        return kept(question)

    def listening(names: tuple[str, ...], rounds: int) -> Any:
        cohort: Any = gather(names, rounds)
        summed = cohort._sum

        def listened(request: Request) -> Any:
            reply = yield from summed(request)
            signed = [one for one in asked if isinstance(one, AskSignature)][-1]
            story.totals.append(Total(request, signed.survivors, reply))
            return reply

        cohort._sum = listened
        return cohort

    try:
        story.selection = drive(method, folder.labeled(), sites, exchange, None, listening).selection
    except ProtocolError as error:
        story.failure = str(error)
    except NothingKeptError:
        pass
    return story


def assert_exact(consortium: Consortium, story: Story) -> None:
    """Every total is the sum of its sites' numbers, to the bound of the fixed point that the docs name."""
    sites = {name: Client(table) for name, table in tables(consortium).items()}
    n_rows = 0
    for total in story.totals:
        replies = [sites[name].answer(total.request) for name in total.sites]
        assert total.reply.n_rows == sum(reply.n_rows for reply in replies)
        n_rows = n_rows or total.reply.n_rows  # of the first sum: it scales all later ones
        addends, got = total.request.addends(n_rows), total.request.numbers(total.reply)
        parts = zip(*(total.request.numbers(reply) for reply in replies), strict=True)
        for addend, values, added in zip(addends, got, parts, strict=True):
            exact = np.array([math.fsum(column) for column in np.stack([part.ravel() for part in added]).T])
            bound = np.broadcast_to(fixed_point.error(addend, len(replies)), values.shape).ravel()
            off = np.abs(values.ravel() - exact)
            assert np.all(off <= bound + LAST_PLACES * np.spacing(np.abs(exact))), (total.about, off.max())


def tables(consortium: Consortium) -> dict[str, ArrayTable]:
    features = consortium.plan.features
    frames = consortium.tables.sites.items()
    return {name: ArrayTable(features, np.ascontiguousarray(frame[list(features)], float)) for name, frame in frames}


def _nothing_kept(_question: object) -> Any:
    raise NothingKeptError
