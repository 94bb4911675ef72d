"""What goes on at a server, as plain values: its sites, the run and its round, events, past runs, refusals.

A function of the operator's folder, and of what the engine says of each site. No rows, no keys, no numbers of replies.
"""

import re
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fedsieve.dashboard.reading import MOST_LINES, MOST_RUNS, Troubles, n_selected, of_now, short
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.run_story import ANSWERED, ASKED, REFUSED, moment, run_story
from fedsieve.deployment.runs import AFTER, RunFolder
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.files import read_once
from fedsieve.selection_file import JSON
from fedsieve.text import counted, size

ONLINE = "online"
MOST_IN_ANSWER = 160  # characters of a reason; the table of runs has more
RUNNING, FAILED, DONE, INTERRUPTED = "running", "failed", "done", "interrupted"


def server_state(folder: ServerFolder, states: Mapping[str, str]) -> dict[str, Any]:
    """The state of a served federation; `states` says in words how far each site has come."""
    troubles = Troubles()
    agreement = troubles.around(folder.agreement, None)
    runs = [found for run in newest(folder) if (found := troubles.around(partial(_run, run), None))]
    latest = runs[0] if runs else None
    story = latest.pop("story") if latest else run_story([])
    refusals = [*_refusals(latest, story)]
    for run in runs[1:]:
        refusals += _refusals(run, run.pop("story"))
    sites = _sites(states, story, latest, refusals)
    n_online = sum(site["online"] for site in sites)
    return of_now(
        "server",
        title=short(agreement.name) if agreement else folder.path.name,
        answer=_answer(n_online, len(sites), latest, sites),
        figures=[
            {"value": f"{n_online} of {len(sites)}", "label": "sites online"},
            {"value": _round(latest), "label": "round of the latest run"},
            {"value": size(story["bytes"]), "label": "received in it"},
            {"value": f"{len(runs):,}", "label": "runs so far" if len(runs) < MOST_RUNS else "latest runs"},
            {"value": f"{len(refusals):,}", "label": "refusals in them"},
        ],
        about=_about(agreement),
        sites=sites,
        run=latest,
        events=[{**line, "words": short(line["words"])} for line in story["lines"][: -MOST_LINES - 1 : -1]],
        runs=runs,
        refusals=refusals[:MOST_LINES],
        n_refusals=len(refusals),
        troubles=troubles,
    )


def newest(folder: ServerFolder) -> list[RunFolder]:
    """The latest runs and what followed them, the newest first; named by when they began."""
    places = [path for part in ("runs", AFTER) for path in (folder.server / part).glob("*")]
    begun = [path for path in places if (path / "run.json").is_file()]
    return [RunFolder(path) for path in sorted(begun, key=lambda path: path.name, reverse=True)[:MOST_RUNS]]


def _run(run: RunFolder) -> dict[str, Any]:
    """One run, with its whole story."""
    settings = run.settings()
    state, reason = _ending(run)  # before its events are read: of a run that is done, all of them
    events = run.path / "events.jsonl"
    story = read_once(events, _story_in) if events.is_file() else run_story([])
    end = time.time() if state == RUNNING else story["last"]
    seconds = end - story["first"] if story["first"] is not None and end is not None else None
    return {
        "id": short(run.id),
        "what": _what(settings),
        "began": "-" if story["first"] is None else moment(story["first"]),
        "state": state,
        "reason": short(reason),
        "sites": [short(name) for name in settings["sites"]],
        "absent": [short(name) for name in settings["absent"]],
        "round": story["round"],
        "asks": story["asks"],
        "bytes": story["bytes"],
        "size": size(story["bytes"]),
        "seconds": None if seconds is None else round(seconds),
        "selected": n_selected(run.path),
        "report": (run.path / JSON).is_file(),
        "story": story,
    }


def _story_in(events: Path) -> dict[str, Any]:
    return run_story(RunFolder(events.parent).events())


def _ending(run: RunFolder) -> tuple[str, str]:
    failure = run.failure()
    if failure is not None:
        return FAILED, failure
    if run.leader() is not None:  # with a result too: the sites are to get it
        return RUNNING, ""
    if run.has_ended:
        return DONE, ""
    return INTERRUPTED, "" if run.follows else "fedsieve federation run --resume goes on with it"


def _what(settings: Mapping[str, Any]) -> str:
    if settings.get("follows"):
        return f"{short(settings.get('what'))} after {short(settings['follows'])}"
    return "check" if settings.get("check") is True else "selection"


def _sites(
    states: Mapping[str, str], story: Mapping[str, Any], run: Mapping[str, Any] | None, refusals: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    running = run is not None and run["state"] == RUNNING
    rows = []
    for name, state in states.items():
        shown = short(name)
        told = story["sites"].get(shown, {"round": None, "state": "", "sent": 0, "seconds": None, "reason": ""})
        rows.append(
            {
                "name": shown,
                "state": short(state),
                "online": state == ONLINE,
                "round": told["round"],
                "now": _doing(told, running=running),
                "waited_for": running and told["state"] == ASKED,
                "sent": told["sent"],
                "size": size(told["sent"]),
                "seconds": None if told["seconds"] is None else round(told["seconds"], 1),
                "refusals": sum(refusal["site"] == shown for refusal in refusals),
            }
        )
    return rows


def _doing(told: Mapping[str, Any], *, running: bool) -> str:
    """What a site did last in the latest run."""
    state = told["state"]
    if state == ASKED:
        return f"was asked round {told['round']}" + (", is waited for" if running else ", gave no answer")
    if state == ANSWERED:
        return f"answered round {told['round']}"
    if state == REFUSED:
        return f"refused round {told['round']}: {short(told['reason'])}"
    return str(state) or "-"


def _refusals(run: Mapping[str, Any] | None, story: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The newest first."""
    told = reversed(story["refusals"])
    return [{**refusal, "run": run["id"], "reason": short(refusal["reason"])} for refusal in told] if run else []


def _round(run: Mapping[str, Any] | None) -> str:
    return "-" if run is None or run["round"] is None else f"{run['round']:,}"


def _answer(n_online: int, n_sites: int, run: Mapping[str, Any] | None, sites: list[dict[str, Any]]) -> str:
    """How it stands, in one or two sentences."""
    there = f"{n_online} of {counted(n_sites, 'site')} {'is' if n_online == 1 else 'are'} online."
    if run is None:
        return f"{there} No run yet."
    what = "The latest run" if run["what"] == "selection" else f"The latest, a {run['what'].split(' after ')[0]},"
    state, has_result = run["state"], run["selected"] is not None
    if state == RUNNING and has_result:
        return f"{there} {what} has its result, which goes to the sites."
    if state == RUNNING:
        waiting = [site["name"] for site in sites if site["waited_for"]]
        asks = f" in round {run['round']} ({run['asks']})" if run["round"] is not None else " about to begin"
        return f"{there} A run is{asks}" + (f"; {counted(len(waiting), 'site')} to answer." if waiting else ".")
    if state == FAILED:
        return f"{there} {what} failed: {_first_sentence(run['reason'])}"
    if state == INTERRUPTED:
        return f"{there} {what} was interrupted."
    chose = f" and chose {counted(run['selected'], 'feature')}" if has_result else ""
    return f"{there} {what} has ended well{chose}."


def _first_sentence(reason: str) -> str:
    """Of a reason; of a long one, whole words of it."""
    first = re.split(r"(?<=[.!?])\s+(?=[A-Z'\"])", reason, maxsplit=1)[0]
    if len(first) <= MOST_IN_ANSWER:
        return first
    return f"{first[: MOST_IN_ANSWER + 1].rpartition(' ')[0] or first[:MOST_IN_ANSWER]}…"


def _about(agreement: Agreement | None) -> list[dict[str, str]]:
    if agreement is None:
        return []
    method = agreement.method
    return [
        {"name": "method", "value": method.name},
        {"name": "features", "value": f"{len(method.features):,}"},
        {"name": "labels", "value": f"{len(agreement.labels):,}"},
        {"name": "address", "value": agreement.address},
        {"name": "agreement", "value": agreement.fingerprint[:16]},
        {"name": "secure sums", "value": "yes" if method.secure else "no"},
        {"name": "noise", "value": "yes" if method.private else "no"},
    ]
