"""A run's story, from its events alone: what happened in words, where each site is, how long it took, who refused.

Pure: events in, plain values out. An event that is damaged, or of another version, is passed over; no story ends there.
"""

import time
from collections.abc import Iterable
from typing import Any

from fedsieve.messages import REQUESTS
from fedsieve.text import counted, size, visible

Event = dict[str, Any]
DAMAGED = (KeyError, TypeError, ValueError, OverflowError, AttributeError)
ASKED, ANSWERED, REFUSED = "asked", "answered", "refused"
UNREADABLE = "an event that cannot be shown"


def event_words(event: Event) -> str:
    """One event for people; empty for those that nobody needs to read. Raises one of `DAMAGED` where it is damaged."""
    match event["event"]:
        case "round":
            sites = counted(len(event["sites"]), "site")
            return f"round {event['round']}: {REQUESTS[event['kind']].title}, asked of {sites}"
        case "answered":
            return f"  {event['site']} answered, {size(event['n_bytes'])}, {event['seconds']:.1f} s"
        case "refused":
            return f"  {event['site']}: {event['reason']}"
        case "asked again":
            return f"round {event['number']} is asked again: {event['reason']}; it is now {event['file']}"
        case "delivery":
            return f"the result goes to {counted(len(event['sites']), 'site')}"
        case "delivered" | "not delivered":
            return f"  {event['event']}: {event['site']}"
        case "started":
            return "the server's process has started"
        case "clock":
            return clock_words(event)
        case _:
            return ""


def clock_words(event: Event) -> str:
    """Whose clock is wrong, and by how much."""
    seconds = event["seconds_ahead"]
    how = f"{abs(seconds)} s {'ahead of' if seconds > 0 else 'behind'}"
    return (
        f"the clock of {event['site']} is {how} the server's. Its answers count; set both by NTP before it is refused."
    )


def timing(events: Iterable[Event]) -> dict[str, Any]:
    """How long a run took from its first start to its end, and the slowest answer of each site, by its events.

    >>> told = [{"event": "started", "time": 5.0}, {"event": "answered", "time": 6.0, "site": "a", "seconds": 0.8}]
    >>> timing([*told, {"event": "finished", "time": 7.5}])
    {'seconds': 2.5, 'sites': {'a': 0.8}}
    """
    slowest: dict[str, float] = {}
    ends = []
    for event in events:
        seconds = event.get("seconds")
        if event["event"] == "answered" and isinstance(seconds, int | float):
            site = str(event.get("site"))
            slowest[site] = max(slowest.get(site, 0.0), round(seconds, 3))
        elif event["event"] in ("started", "finished"):
            ends.append(event["time"])
    return {"seconds": round(max(ends) - min(ends), 3) if ends else None, "sites": slowest}


def run_story(events: Iterable[Event]) -> dict[str, Any]:
    """Where a run is: its round, what each site did last and sent so far, refusals, and all lines in words.

    >>> told = [{"event": "refused", "time": 6.0, "round": 1, "site": "a", "reason": "has left."}]
    >>> run_story(told)["sites"]
    {'a': {'round': 1, 'state': 'refused', 'sent': 0, 'seconds': None, 'reason': 'has left.'}}
    """
    story: dict[str, Any] = {
        "round": None,
        "asks": "",
        "sites": {},
        "bytes": 0,
        "n_answers": 0,
        "refusals": [],
        "lines": [],
        "first": None,
        "last": None,
    }
    for event in events:
        story["first"] = event["time"] if story["first"] is None else story["first"]
        story["last"] = event["time"]
        try:
            words = event_words(event).strip()
            _tell(story, event)
        except DAMAGED:
            words = f"{UNREADABLE}: {event['event']}"
        if words:
            story["lines"].append({"time": moment(event["time"]), "words": visible(words)})
    return story


def _tell(story: dict[str, Any], event: Event) -> None:
    match event["event"]:
        case "round":
            story |= {"round": int(event["round"]), "asks": REQUESTS[event["kind"]].title}
            for name in event["sites"]:
                _site(story, name).update(round=int(event["round"]), state=ASKED, seconds=None, reason="")
        case "answered":
            site, n_bytes = _site(story, event["site"]), int(event["n_bytes"])
            site.update(round=int(event["round"]), state=ANSWERED, seconds=float(event["seconds"]), reason="")
            site["sent"] += n_bytes
            story["bytes"] += n_bytes
            story["n_answers"] += 1
        case "refused":
            reason, round_ = visible(str(event["reason"])), int(event["round"])
            _site(story, event["site"]).update(round=round_, state=REFUSED, reason=reason)
            told = {"time": moment(event["time"]), "site": visible(str(event["site"])), "round": round_}
            story["refusals"].append({**told, "reason": reason})
        case "delivered":
            _site(story, event["site"])["state"] = "has the result"
        case "not delivered":
            _site(story, event["site"])["state"] = "did not take the result"


def _site(story: dict[str, Any], name: object) -> dict[str, Any]:
    entry = {"round": None, "state": "", "sent": 0, "seconds": None, "reason": ""}
    site: dict[str, Any] = story["sites"].setdefault(visible(str(name)), entry)
    return site


def moment(seconds: float) -> str:
    """A time for people, in this machine's zone; a dash where it is none."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    except DAMAGED:
        return "-"
