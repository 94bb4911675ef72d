"""Commands that wait for ever end in good order, by Ctrl-C or by a service manager's SIGTERM."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ended_kindly() -> Iterator[None]:
    """Run the block until it ends or is told to end; its `finally` clauses are carried out either way."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
