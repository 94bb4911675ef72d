"""What is looked at, from a party's folder: a server's view or a site's, each with the reports of its runs."""

import threading
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from fedsieve.dashboard.app import ViewSource
from fedsieve.dashboard.process import SIGNS
from fedsieve.dashboard.server_state import newest, server_state
from fedsieve.dashboard.site_state import site_state
from fedsieve.deployment.runs import RunFolder, operators_record
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.reading import read_json
from fedsieve.report.page import render_page
from fedsieve.report.result_files import summary_of, summary_of_record
from fedsieve.selection_file import JSON

SILENT_SECONDS = 30
MOST_KEPT = 4  # pages, of up to 3 MB
OWNER = "the live view"


def server_view(path: Path) -> ViewSource:
    """The view of an operator's folder."""
    folder = ServerFolder(path)
    signs = folder.server / SIGNS

    def place(run: str) -> Path | None:
        return _among((found.path for found in newest(folder)), run)

    return ViewSource(
        kind="server",
        look=lambda: server_state(folder, read_json(signs) if signs.is_file() else {}),
        report=_reports(place, _operators_page),
        why_unwell=lambda: _why_silent(signs, "serve"),
    )


def site_view(path: Path) -> ViewSource:
    """The view of a site's folder."""
    site = SiteFolder(path)

    def place(run: str) -> Path | None:
        return _among(site.results.glob("*"), run)

    return ViewSource(
        kind="site",
        look=lambda: site_state(site),
        report=_reports(place, lambda folder: render_page(summary_of(folder), OWNER)),
        why_unwell=lambda: _why_silent(path / SIGNS, "join"),
    )


VIEWS: dict[str, Callable[[Path], ViewSource]] = {"server": server_view, "site": site_view}


def _among(places: Iterable[Path], run: str) -> Path | None:
    """The folder of that name among those that are there; no path is ever made of what was asked for."""
    found = [place for place in places if place.name == run and (place / JSON).is_file()]
    return found[0] if found else None


def _operators_page(run: Path) -> str:
    record = operators_record(RunFolder(run))
    assert record is not None
    return render_page(summary_of_record(run / JSON, record), OWNER)


def _reports(place: Callable[[str], Path | None], render: Callable[[Path], str]) -> Callable[[str], str | None]:
    """The page of a run by its id, made one at a time, and once while all that it is made of stays the same."""
    lock = threading.Lock()

    @lru_cache(maxsize=MOST_KEPT)
    def made(folder: Path, _when: frozenset[tuple[str, int]]) -> str:
        return render(folder)

    def report(run: str) -> str | None:
        with lock:
            folder = place(run)
            return None if folder is None else made(folder, _changed(folder))

    return report


def _changed(folder: Path) -> frozenset[tuple[str, int]]:
    """When each record in a run's folder was written last: a result, what is kept beside it, and the events."""
    return frozenset((file.name, file.stat().st_mtime_ns) for file in folder.glob("[!.]*.json*"))


def _why_silent(signs: Path, command: str) -> str:
    """Why the command that is looked at may be in trouble; empty where it is not."""
    try:
        age = time.time() - signs.stat().st_mtime
    except OSError:
        return f"'{command}' has given no sign of life yet."
    return f"'{command}' has given no sign of life for {age:.0f} s." if age > SILENT_SECONDS else ""
