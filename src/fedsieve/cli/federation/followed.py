"""What has followed a run, as the operator's folder tells: whose rows are here, and who scored and counted."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from fedsieve.deployment.runs import FOUND, HANDED, RunFolder, latest_after
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.methods.collecting import Collecting
from fedsieve.methods.follow_ups import FOLLOW_UPS
from fedsieve.methods.labeling import Labeling
from fedsieve.text import counted

OPEN, GOING_ON = "open", "goes on"


def table_after(folder: ServerFolder, run: RunFolder) -> Table | None:
    """How far each site is with what the agreement allows after this run; `None` where nothing can follow it."""
    record = None if run.is_check else run.result()
    allowed = [what for what, is_allowed in folder.agreement().after.items() if is_allowed]
    if record is None or not allowed or run.settings()["agreement"] != folder.agreement().fingerprint:
        return None
    table = Table(title=f"After run {run.id}", title_justify="left")
    table.add_column("site", no_wrap=True)
    for what in allowed:
        table.add_column(what, overflow="fold")
    took_part = [name for name in record["federation"]["sites"] if name not in record["dropped"]]
    latest = {what: latest_after(folder, run, what) for what in allowed}
    for site in took_part:
        table.add_row(site, *(OPEN if this is None else STATES[what](this, site) for what, this in latest.items()))
    return table


def failures_after(folder: ServerFolder, run: RunFolder) -> Iterator[str]:
    """What followed the run and failed as a whole, with the reason."""
    for what in FOLLOW_UPS:
        this = latest_after(folder, run, what)
        if this is not None and this.failure() is not None:
            yield f"{what!r} after run {run.id} failed: {this.failure()}"


def _collected(this: RunFolder, site: str) -> str:
    found, handed = this.aside(FOUND, {"rows": dict, "refused": dict}), this.aside(HANDED, {"sites": dict})
    if handed is not None and site in handed["sites"]:
        one = handed["sites"][site]
        return f"done: {counted(one['rows'], 'row')} in {one['file']}"
    if found is None and this.leader() is not None and site in this.settings()["sites"]:
        return GOING_ON
    if found is not None and site in found["rows"]:
        return f"{counted(found['rows'][site], 'row')} came; 'collect' makes the file of them"
    if found is not None and site in found["refused"]:
        return f"no rows: {found['refused'][site]}"
    return "some rows came; 'collect' goes on with it" if (this.rows / site).is_dir() else OPEN


def _labeled(this: RunFolder, site: str) -> str:
    found: dict[str, Any] | None = this.aside(FOUND, {"not_scored": dict, "not_counted": dict})
    if site not in this.settings()["sites"]:
        return OPEN
    if found is None:
        return GOING_ON if this.leader() is not None else OPEN
    if site in found["not_scored"]:
        return f"no scores: {found['not_scored'][site]}"
    if site in found["not_counted"]:
        return f"done, but sent no counts: {found['not_counted'][site]}"
    return "done"


STATES = {Collecting.name: _collected, Labeling.name: _labeled}
