"""How often the engine's loops look for work: often while a run goes on, and never so often that a server drowns.

The engine sleeps a fixed time between two looks, three seconds where a node asks its server. Only versions that were
tried are changed; any other keeps its own pace.
"""

import math
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

TRIED = ("1.41", "1.42")  # versions of the engine
BUSY_SECONDS = 60  # for so long after a message the next one is expected soon
NODE_SLEEPS, REPLY_SLEEPS = 3.0, 0.5  # the engine's own: until it asks the server again, and for a reply of its process
CALLS_BUSY, CALLS_IDLE = 40, 10  # that all sites together make in a second while a run goes on, and while none does
LEAST_BUSY, LEAST_IDLE = 0.1, 1.0  # seconds between two calls of one site, however few there are
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0  # seconds before a part of a message that is not there is asked for again


class Pace:
    """Takes the place of `time` in a module of the engine: `sleep` for other lengths than it is told.

    `sleeps` maps a length of the engine to ours, while busy and while idle.
    """

    def __init__(self, sleeps: dict[float, tuple[float, float]]) -> None:
        self._sleeps, self._busy_until = sleeps, -math.inf

    def work_came(self) -> None:
        """From now on, more work is expected soon."""
        self._busy_until = time.monotonic() + BUSY_SECONDS

    def seconds(self, told: float) -> float:
        """How long to sleep instead of what the engine says; its own where we know nothing better."""
        busy, idle = self._sleeps.get(told, (told, told))
        return busy if time.monotonic() < self._busy_until else idle

    def sleep(self, told: float) -> None:
        """As the engine's, for another length."""
        time.sleep(self.seconds(told))

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


def node_pace(n_sites: int) -> Pace:
    """The pace of a site's node, one of so many that ask the same server.

    >>> [(node_pace(n).seconds(3), node_pace(n).seconds(0.5)) for n in (3, 20, 1000)]
    [(1.0, 0.05), (2.0, 0.05), (3.0, 0.05)]
    """
    busy, idle = max(LEAST_BUSY, n_sites / CALLS_BUSY), max(LEAST_IDLE, n_sites / CALLS_IDLE)
    return Pace({NODE_SLEEPS: (min(NODE_SLEEPS, busy), min(NODE_SLEEPS, idle)), REPLY_SLEEPS: (0.05, 0.05)})


def executor_pace(own: float) -> Pace:
    """The pace of an executor, which asks on its own machine; `own` is what the engine was told in its environment."""
    return Pace({own: (0.05, own)})


def sooner(pull: Callable[..., dict[str, bytes]]) -> Callable[..., dict[str, bytes]]:
    """As the engine's function that pulls the parts of a message, with shorter pauses for those still on their way.

    A message is seen before its parts are there, the more often the sooner one looks; the engine then pauses for a
    second, for two, and so on. Its limit in time stays, that in tries would come too soon.
    """
    pauses = {"max_tries_per_object": None, "initial_backoff": FIRST_PAUSE, "backoff_cap": LONGEST_PAUSE}
    return lambda *what, **how: pull(*what, **{**how, **pauses})


def why_its_own() -> str:
    """Why the engine keeps its own pace; empty if it takes ours."""
    found = version("flwr")
    if found.startswith(tuple(f"{one}." for one in TRIED)):
        return ""
    return f"the engine keeps its own pace: flwr {found} was not tried, only {' and '.join(TRIED)}"
