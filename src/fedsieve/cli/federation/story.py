"""A run's events as lines for people."""

import time
from typing import Any

from fedsieve.cli.console import err, size
from fedsieve.cli.progress import PHASES


def tell_event(event: dict[str, Any]) -> None:
    """Print one event on the error stream; the result alone goes to the output."""
    line = _line(event)
    if line:
        err.print(f"{time.strftime('%H:%M:%S', time.localtime(event['time']))} {line}", soft_wrap=True)


def _line(event: dict[str, Any]) -> str:
    match event["event"]:
        case "round":
            return f"round {event['round']}: {PHASES[event['kind']]}, asked of {len(event['sites'])} sites"
        case "answered":
            return f"  {event['site']} answered, {size(event['n_bytes'])}, {event['seconds']:.1f} s"
        case "refused":
            return f"  {event['site']}: {event['reason']}"
        case "delivery":
            return f"the result goes to {len(event['sites'])} sites"
        case "delivered" | "not delivered":
            return f"  {event['event']}: {event['site']}"
        case "started":
            return "the server's process has started"
        case _:
            return ""
