"""The server's side of a selection, as a generator: yields questions, is sent replies, returns the selection.

It does no I/O, reads no clock and starts no thread, so that any runtime can drive it: one process, a test that loses
messages, or a network. One run is one cohort: if a client must be dropped, everything is asked again of the others.
"""

from collections.abc import Iterable
from dataclasses import replace

from fedsieve.errors import ParameterError, ProtocolError
from fedsieve.protocol.cohort import SERVER, BadReplyError, Cohort, Talk
from fedsieve.protocol.methods import method_of
from fedsieve.protocol.plan import Labeled, Plan
from fedsieve.protocol.selection import Selection


def federated_selection(plan: Plan, labeled: Labeled, clients: Iterable[str]) -> Talk[Selection]:
    """Run the plan's method with the named clients.

    Yields `Ask`, is sent a mapping from client name to reply, and returns the `Selection`. A reply that breaks a rule
    ends the run, or, under `on_bad_client="drop"`, starts it anew without that client.
    """
    names = tuple(clients)
    _check_names(plan, names)
    plan.check_labeled(labeled)
    talk = method_of(plan).talk
    dropped: dict[str, str] = {}
    rounds = 0
    while True:
        cohort = Cohort(names, plan, rounds)
        try:
            selection: Selection = yield from talk(plan, labeled, cohort)
            return replace(selection, dropped=dropped)
        except BadReplyError as bad:
            if plan.on_bad_client == "raise":
                raise
            dropped.update(bad.reasons)
            names = tuple(name for name in names if name not in bad.reasons)
            rounds = cohort.round
            if len(names) < plan.min_clients:
                raise ProtocolError(
                    f"{plan.method}: {len(names)} client left, at least {plan.min_clients} needed. Dropped: "
                    + " ".join(f"{name!r}: {reason}" for name, reason in dropped.items())
                ) from bad


def _check_names(plan: Plan, names: tuple[str, ...]) -> None:
    if len(set(names)) < len(names) or SERVER in names:
        raise ParameterError(
            f"{plan.method}: client names must differ from each other and from {SERVER!r}; got {names}."
        )
    if len(names) < plan.min_clients:
        raise ParameterError(
            f"{plan.method}: a federation needs at least {plan.min_clients} clients; got {len(names)}. "
            "For rows in one place call fit(X, Y) without clients."
        )
