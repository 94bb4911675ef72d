"""The latest state, looked at when somebody asks and at most once a second, however many do."""

import json
import threading
import time
from collections.abc import Callable
from typing import Any

State = dict[str, Any]
LOOK_SECONDS = 1.0
MOMENT = "at"  # the part that differs in every look


class Latest:
    """One look is shared by all who ask within a second. Any thread may ask."""

    def __init__(self, look: Callable[[], State], clock: Callable[[], float] = time.monotonic) -> None:
        self._look, self._clock, self._lock = look, clock, threading.Lock()
        self._state: State = {}
        self._seen = float("-inf")
        self._version = 0

    def state(self) -> State:
        """The state, at most a second old."""
        return self.versioned()[0]

    def versioned(self) -> tuple[State, int]:
        """The state, and a number that grows whenever more than the moment has changed."""
        with self._lock:
            if self._clock() - self._seen >= LOOK_SECONDS:
                before, self._state = self._state, self._look()
                self._seen = self._clock()
                self._version += _without_moment(before) != _without_moment(self._state)
            return self._state, self._version


def as_text(state: State) -> str:
    """On one line, as server-sent events need it."""
    return json.dumps(state, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _without_moment(state: State) -> State:
    return {name: value for name, value in state.items() if name != MOMENT}
