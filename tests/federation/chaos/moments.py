"""The moments of a run at which somebody dies, seen from outside: by the server's events and the sites' own records."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from federation.chaos.standing import TIMEOUT
from federation.consortium import Consortium, Run
from federation.processes import send
from fedsieve.deployment.what_left import WhatLeft

PHASE_SECONDS = 6 * TIMEOUT
VICTIM, SLOW = "siteB", "siteD"


class Phase(NamedTuple):
    """One round of a secure run: the kind of its request, and how many of that kind were asked before."""

    kind: str
    before: int = 0


PHASES = {
    "keys": Phase("AskKeys"),
    "shares": Phase("AskShares"),
    "first sum, masked": Phase("AskMasked"),
    "first sum, signed": Phase("AskSignature"),
    "first sum, unmasked": Phase("AskUnmasking"),
    "later sum, masked": Phase("AskMasked", 1),
    "later sum, signed": Phase("AskSignature", 1),
    "later sum, unmasked": Phase("AskUnmasking", 1),
}


def asked(run: Run, phase: Phase) -> int:
    """Wait until the round is asked; its number."""
    return int(run.asked(phase.kind, PHASE_SECONDS, after=phase.before)["round"])


def kill_before_answer(consortium: Consortium, run: Run, phase: Phase, *victims: str) -> int:
    """SIGKILL sites once they are asked: a process that answers takes more than a second to start."""
    round_ = asked(run, phase)
    for name in victims:
        consortium.kill_site(name)
        assert round_ not in rounds_left(consortium, name, run), f"{name} answered before it was killed"
    return round_


def kill_after_answer(consortium: Consortium, run: Run, phase: Phase, victim: str = VICTIM) -> int:
    """SIGKILL a site whose answer has arrived, before the next round: another site is stopped for so long."""
    round_ = asked(run, phase)
    with stopped(consortium, SLOW):
        run.event("answered", PHASE_SECONDS, site=victim, round=round_)
        consortium.kill_site(victim)
        assert last_round(run) == round_, "the next round was asked before the site was killed"
    assert round_ in rounds_left(consortium, victim, run)
    return round_


@contextmanager
def stopped(consortium: Consortium, name: str) -> Iterator[None]:
    """All processes of a site hang."""
    for _ in range(2):  # one may have started another in between
        send(consortium.pids(name), signal.SIGSTOP)
    try:
        yield
    finally:
        send(consortium.pids(name), signal.SIGCONT)


def last_round(run: Run) -> int:
    return max(int(event["round"]) for event in run.folder.events() if event["event"] == "round")


def rounds_left(consortium: Consortium, name: str, run: Run) -> set[int]:
    """The rounds of a run that a site wrote down as answered, which it does before an answer leaves."""
    chain = WhatLeft(consortium.site(name)).chain
    entries = chain.entries() if chain.path.is_file() else ()
    return {entry["round"] for entry in entries if entry["run"] == run.folder.id and not entry["refused"]}
