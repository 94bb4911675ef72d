"""The parties of a federation: the server's loop, an edge server, a client. None of them sends anything itself.

The server's side is a generator: it yields questions, is sent replies, returns the selection. It does no I/O, reads no
clock and starts no thread, so that any runtime can drive it: one process, a test that loses messages, or a network. One
run is one cohort: if a client must be dropped, everything is asked again of the others.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from fedsieve.arrays import Float
from fedsieve.errors import FedSieveError, ParameterError, ProtocolError, why_each
from fedsieve.messages import Memory, Refusal, Reply, Request
from fedsieve.protocol.cohort import SERVER, BadReplyError, PlainCohort, RunCohort, Steps
from fedsieve.protocol.influence import KeptReplies
from fedsieve.protocol.method import Labeled, Method, least_sites
from fedsieve.protocol.outcome import Selection
from fedsieve.protocol.totals import KeptTotals
from fedsieve.tables import Table

GatherCohort: TypeAlias = Callable[[tuple[str, ...], int], RunCohort]
"""A cohort of these clients, after so many rounds."""


def federated_selection(
    method: Method,
    labeled: Labeled,
    clients: Iterable[str],
    kept: KeptReplies | None = None,
    gather: GatherCohort | None = None,
    totals: KeptTotals | None = None,
) -> Steps[Selection]:
    """Run the method with the named clients.

    Yields `Question`, is sent a mapping from client name to reply, and returns the `Selection`. A reply that breaks a
    rule ends the run, or, under `on_bad_client="drop"`, starts it anew without that client. `kept` is shown the checked
    replies, `totals` their sums. `gather` makes another cohort than one whose replies are all seen.
    """
    names = tuple(clients)
    _check_names(method, names)
    method.check_labeled(labeled)
    dropped: dict[str, str] = {}
    rounds = attempt = 0
    while True:
        cohort: RunCohort
        if gather is None:
            cohort = PlainCohort(names, method.max_sites_per_client, rounds, method.max_rows, attempt)
        else:
            cohort = gather(names, rounds)
        if kept is not None:
            kept.begin()
            cohort.observe(kept)
        if totals is not None:
            cohort.keep_totals(totals)
        try:
            taking_part, rows, left_out = yield from cohort.begin(method, labeled)
            selection: Selection = yield from taking_part.run(rows, cohort)
            dropped |= cohort.dropped
            return replace(selection, n_rows=cohort.n_rows, dropped=dropped, left_out=left_out)
        except BadReplyError as bad:
            if method.on_bad_client == "raise":
                raise
            dropped.update(bad.reasons)
            names = tuple(name for name in names if name not in bad.reasons)
            rounds, attempt = cohort.round, attempt + 1
            if len(names) < method.min_clients:
                clients = "client" if len(names) == 1 else "clients"
                raise ProtocolError(
                    f"{method.name}: {len(names)} {clients} left, at least {method.min_clients} needed. Dropped: "
                    + why_each(dropped)
                ) from bad


def _check_names(method: Method, names: tuple[str, ...]) -> None:
    if len(set(names)) < len(names) or SERVER in names:
        raise ParameterError(
            f"{method.name}: client names must differ from each other and from {SERVER!r}; got {names}."
        )
    least = least_sites(method.min_clients, secure=method.secure)
    if len(names) < least:
        how = " with secure sums" * method.secure
        raise ParameterError(
            f"{method.name}: a federation{how} needs at least {least} clients; got {len(names)}. "
            "For rows in one place call fit(X, Y) without clients."
        )


class EdgeServer:
    """Answers requests with the checked total over its own sites.

    `method` is that of the whole federation. One run is one cohort here too: a site that fails makes the edge server
    refuse, and the server above decides whether to go on without all its sites.
    """

    def __init__(self, method: Method, sites: Iterable[str]) -> None:
        self._method = method
        self._cohort = PlainCohort(sites, method.max_sites_per_client, max_rows=method.max_rows)

    def answer(self, request: Request) -> Steps[Reply]:
        """Yields questions for its sites, is sent their replies, returns its own reply."""
        reason = self._method.why_single_sites or request.reply.why_no_sum
        if reason:
            return Refusal(f"an edge server: {reason}")
        try:
            total: Reply = yield from self._cohort.total(request)
        except BadReplyError as bad:
            failed = " ".join(f"site {site!r}: {reason}" for site, reason in bad.reasons.items())
            return Refusal(f"an edge server, of which failed {failed}")
        return total


class RunMemory:
    """The memory of a client that lives as long as the run."""

    def __init__(self) -> None:
        self._kept: dict[str, Float] = {}

    def keep(self, name: str, values: Float) -> None:
        """Hold on to them."""
        self._kept[name] = values

    def recall(self, name: str) -> Float | None:
        """What was kept last."""
        return self._kept.get(name)


class Client:
    """Answers the server's requests from one site's rows."""

    def __init__(self, table: Table, memory: Memory | None = None) -> None:
        self._table, self._memory = table, memory or RunMemory()

    def answer(self, request: Request) -> Reply:
        """The reply to a request; a `Refusal` with the reason where the rows do not allow one."""
        try:
            return request.answer_in_run(self._table, self._memory)
        except FedSieveError as reason:
            return Refusal(str(reason))
