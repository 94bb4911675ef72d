"""What goes on at a site, as plain values: who consented, by which rules, what left by its own record, and results.

A function of the site's folder. No rows, no keys, no numbers of answers.
"""

from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from fedsieve.dashboard.reading import MOST_LINES, MOST_RUNS, Troubles, n_selected, of_now, short
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.chain import Chain
from fedsieve.deployment.consent import JOINED, ConsentRecord, Limits
from fedsieve.deployment.lease import LOCK
from fedsieve.deployment.policy_file import RULES, read_policy, value_words
from fedsieve.deployment.run_story import moment
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.site_shift import FILE as SHIFT
from fedsieve.deployment.site_shift import read_shift, words
from fedsieve.deployment.spent_noise import SpentNoise
from fedsieve.deployment.what_left import UTC_TIME, WhatLeft
from fedsieve.deployment.what_may_leave import what_may_leave
from fedsieve.files import holder, read_once
from fedsieve.messages import message_title
from fedsieve.privacy import SITE
from fedsieve.text import counted, size

WHOLE = "no line of the record was changed, removed or moved"


def site_state(site: SiteFolder) -> dict[str, Any]:
    """The state of a site that takes part."""
    troubles = Troubles()
    agreement = troubles.around(site.agreement, None)
    name = troubles.around(lambda: site.name, site.path.name)
    consent = troubles.around(lambda: _consent(site), {"words": "", "now": False, "entries": []})
    left = troubles.around(lambda: _left(site), _told([], "", broken=False))
    runs = [found for run in _runs(site, left) if (found := troubles.around(partial(_run, site, run, left), None))]
    noise = troubles.around(lambda: _noise(site, agreement), "")
    return of_now(
        "site",
        title=short(name),
        answer=_answer(short(name), consent, left),
        figures=[
            {"value": f"{left['n']:,}", "label": "messages left this site"},
            {"value": size(left["bytes"]), "label": "in them"},
            {"value": f"{left['n_refused']:,}", "label": "requests refused"},
            {"value": f"{sum(run['report'] for run in runs):,}", "label": "results here"},
        ],
        about=_about(agreement),
        consent=consent,
        may_leave=troubles.around(lambda: _may_leave(agreement), []),
        policy=troubles.around(lambda: _policy(site), []),
        noise=noise,
        left={key: value for key, value in left.items() if key != "by_run"},
        runs=runs,
        troubles=troubles,
    )


def _consent(site: SiteFolder) -> dict[str, Any]:
    record = ConsentRecord(site.path)
    entries, since = list(record.chain.entries()), record.since()
    takes_part = since is not None and holder(site.path / LOCK) is not None
    latest = next((entry for entry in reversed(entries) if entry.get("what") == JOINED), {})
    if since is None or not takes_part:
        said = "No consent is in force: every request is refused."
    else:
        limits = Limits(latest.get("for_runs"), latest.get("for_days")).words or "with no time or run limit"
        said = f"{short(latest.get('by'))} consented on {moment(since)}, {limits}; press Ctrl-C in `join` to withdraw."
    shown = [_consent_line(entry) for entry in reversed(entries[-MOST_LINES:])]
    return {"words": said, "now": takes_part, "entries": shown}


def _consent_line(entry: dict[str, Any]) -> dict[str, str]:
    table = entry.get("table") or {}
    rows = entry.get("rows", table.get("rows"))
    of = table.get("file") or (f"run {entry['run']}" if entry.get("run") else None)
    about = ": ".join(str(part) for part in (of, None if rows is None else f"{rows} rows") if part is not None)
    return {key: short(entry.get(key, "")) for key in ("what", "by", "how")} | {
        "time": _when(entry.get("time", "")),
        "about": short(about),
    }


def _when(text: object) -> str:
    """A time of a record, which is in UTC, as the rest of the page tells times; what is none, as it is."""
    try:
        return moment(datetime.strptime(str(text), UTC_TIME).replace(tzinfo=UTC).timestamp())
    except ValueError:
        return short(text)


def _left(site: SiteFolder) -> dict[str, Any]:
    chain = WhatLeft(site.path).chain
    return read_once(chain.path, _of_record) if chain.path.is_file() else _told([], "", broken=False)


def _of_record(path: Path) -> dict[str, Any]:
    chain = Chain(path)
    verdict = chain.verify()
    return _told(chain.entries(), short(verdict.broken) or WHOLE, broken=bool(verdict.broken))


def _told(entries: Iterable[dict[str, Any]], verdict: str, *, broken: bool) -> dict[str, Any]:
    """All of the record in sums, and its last lines."""
    by_run: dict[str, dict[str, int]] = {}
    lines: deque[dict[str, Any]] = deque(maxlen=MOST_LINES)
    n_bytes = n_refused = n = 0
    for entry in entries:
        line = _line(entry)
        run = by_run.setdefault(line["run"], {"messages": 0, "bytes": 0, "refused": 0})
        n, n_bytes, n_refused = n + 1, n_bytes + line["bytes"], n_refused + bool(line["refused"])
        run["messages"] += 1
        run["bytes"] += line["bytes"]
        run["refused"] += bool(line["refused"])
        lines.append(line)
    told = {"n": n, "bytes": n_bytes, "n_refused": n_refused, "verdict": verdict, "broken": broken}
    return {**told, "messages": [*reversed(lines)], "by_run": by_run}


def _line(entry: dict[str, Any]) -> dict[str, Any]:
    columns, held = entry["columns"]["number"], len(entry["held_back"])
    about = f"{entry['rows']:,} rows, {counted(columns, 'column')}" + (f", {held} held back" if held else "")
    return {
        "n": int(entry["n"]),
        "time": _when(entry["time"]),
        "title": message_title(short(entry["request"])),
        "run": short(entry["run"]),
        "round": int(entry["round"]),
        "asked": short(entry["request"]),
        "answered": short(entry["reply"]),
        "about": "nothing" if entry["refused"] else about,
        "bytes": int(entry["bytes"]),
        "size": size(int(entry["bytes"])),
        "rule": short(entry["rule"]),
        "refused": short(entry["refused"]),
    }


def _runs(site: SiteFolder, left: dict[str, Any]) -> list[str]:
    """The runs that were answered or whose results are here, the newest first; their names begin with their time."""
    return sorted({*left["by_run"], *(path.name for path in site.results.glob("*"))}, reverse=True)[:MOST_RUNS]


def _run(site: SiteFolder, run: str, left: dict[str, Any]) -> dict[str, Any]:
    told = left["by_run"].get(run, {"messages": 0, "bytes": 0, "refused": 0})
    selected, shift = n_selected(site.results / run), site.results / run / SHIFT
    return {
        "id": short(run),
        **told,
        "size": size(told["bytes"]),
        "selected": selected,
        "shift": short(read_once(shift, _shift_words)) if shift.is_file() else "",
        "report": selected is not None,
    }


def _shift_words(file: Path) -> str:
    return words(read_shift(file.parent))


def _policy(site: SiteFolder) -> list[dict[str, Any]]:
    policy = read_policy(site)
    return [
        {"rule": name, "value": short(value_words(value)), "is_default": value == getattr(SITE, name), "why": why}
        for name, why in RULES.items()
        for value in [getattr(policy, name)]
    ]


def _noise(site: SiteFolder, agreement: Agreement | None) -> str:
    spent = SpentNoise(site.ledger)
    wanted = agreement is not None and (agreement.method.private or spent.answers())
    return spent.words(read_policy(site)) if wanted else ""


def _may_leave(agreement: Agreement | None) -> list[dict[str, str]]:
    told = [] if agreement is None else what_may_leave(agreement)
    return [{"message": kind, "title": message_title(kind), "tells": tells} for kind, tells in told]


def _answer(name: str, consent: dict[str, Any], left: dict[str, Any]) -> str:
    part = "takes part" if consent["now"] else "does not take part now"
    n_refused = left["n_refused"]
    refused = f", {n_refused:,} of them {'a refusal' if n_refused == 1 else 'refusals'}" if n_refused else ""
    return f"{name} {part}; {counted(left['n'], 'message')} left it so far{refused}."


def _about(agreement: Agreement | None) -> list[dict[str, str]]:
    if agreement is None:
        return []
    return [
        {"name": "federation", "value": short(agreement.name)},
        {"name": "server", "value": agreement.address},
        {"name": "method", "value": agreement.method.name},
        {"name": "agreement", "value": agreement.fingerprint[:16]},
        {"name": "members", "value": counted(len(agreement.sites), "site")},
    ]
