"""The parties of a federation: the server's loop, an edge server, a client. None of them sends anything itself.

The server's side is a generator: it yields questions, is sent replies, returns the selection. It does no I/O, reads no
clock and starts no thread, so that any runtime can drive it: one process, a test that loses messages, or a network. One
run is one cohort: if a client must be dropped, everything is asked again of the others.
"""

import hmac
from collections.abc import Callable, Iterable, Mapping
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
from fedsieve.text import is_or_are

GatherCohort: TypeAlias = Callable[[tuple[str, ...], int], RunCohort]
"""A cohort of these clients, after so many rounds."""


def federated_selection(
    method: Method,
    labeled: Labeled,
    clients: Iterable[str],
    kept: KeptReplies | None = None,
    gather: GatherCohort | None = None,
    totals: KeptTotals | None = None,
    *,
    compares_all: bool = False,
) -> Steps[Selection]:
    """Run the method with the named clients.

    Yields `Question`, is sent a mapping from client name to reply, and returns the `Selection`. A reply that breaks a
    rule ends the run, or, under `on_bad_client="drop"`, starts it anew without that client. `kept` is shown the checked
    replies, `totals` their sums. `gather` makes another cohort than one whose replies are all seen.
    `compares_all` says that no client has a table of which it compares a sample of rows.
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
        cohort.compares_all = compares_all
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
                few = {0: "no site remains", 1: "only 1 site remains"}
                remain = few.get(len(names), f"only {len(names)} sites remain")
                raise ProtocolError(
                    f"{method.name}: {remain}; {method.min_clients} {is_or_are(method.min_clients)} needed. Dropped: "
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

    `method` is what it and its sites agreed on. One run is one cohort here too. Before anything was told above, the
    edge server may go on without a site that fails (`on_bad_client="drop"`); from then on a site that fails makes it
    refuse, and the server above decides whether to go on without all its sites.
    """

    def __init__(self, method: Method, sites: Iterable[str]) -> None:
        self._method, self._has_told, self._attempt = method, False, 0
        self.dropped: dict[str, str] = {}
        self._cohort = PlainCohort(sites, method.max_sites_per_client, max_rows=method.max_rows)

    @property
    def sites(self) -> tuple[str, ...]:
        """Those for whom it answers."""
        return self._cohort.clients

    def answer(self, request: Request) -> Steps[Reply]:
        """Yields questions for its sites, is sent their replies, returns its own reply."""
        reason = self._method.why_single_sites or request.reply.why_no_sum
        if reason:
            return Refusal(f"an edge server: {reason}")
        while True:
            try:
                total: Reply = yield from self._cohort.total(request)
            except BadReplyError as bad:
                if not self._goes_on_without(bad.reasons):
                    failed = {**self.dropped, **bad.reasons}.items()
                    named = " ".join(f"site {site!r}: {reason}" for site, reason in failed)
                    return Refusal(f"an edge server, of which failed {named}")
            else:
                self._has_told = True
                return total

    def _goes_on_without(self, reasons: Mapping[str, str]) -> bool:
        """Whether the others are asked anew; to them that is another run, since the cohort is another."""
        method, left = self._method, [site for site in self.sites if site not in reasons]
        if self._has_told or method.on_bad_client == "raise" or len(left) < method.min_clients:
            return False
        self.dropped |= reasons
        self._attempt += 1
        self._cohort = PlainCohort(
            left, method.max_sites_per_client, self._cohort.round, method.max_rows, attempt=self._attempt
        )
        return True


def secret_seed(secret: bytes, name: str) -> bytes:
    """What the owner of a secret draws at random from under this name: for others as good as chance."""
    return hmac.digest(secret, name.encode(), "sha256")


def rows_seed(secret: bytes) -> bytes:
    """What the owner of a secret draws a table's rows from, in all runs the same."""
    return secret_seed(secret, "the rows that are compared")  # no run has such a name


class RunMemory:
    """The memory of a client that lives as long as the run."""

    def __init__(self, seed: bytes = b"") -> None:
        self.seed = seed
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
