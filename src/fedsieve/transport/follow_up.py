"""What follows a run, led by the same process that leads runs; what it found is left in its folder."""

from collections.abc import Callable
from typing import Any

from fedsieve.deployment.after_run import check_allowed
from fedsieve.deployment.runs import FOUND, MODEL, RunFolder, find_run
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import DataError
from fedsieve.methods.collecting import Collecting
from fedsieve.methods.labeling import Labeling
from fedsieve.transport.checkpoint import Checkpointed
from fedsieve.transport.codec import decode
from fedsieve.transport.collected import Shelf, collect
from fedsieve.transport.exchange import Exchange
from fedsieve.transport.labeling import label, metrics_of
from fedsieve.transport.secure_answers import secure_cohorts


def lead_follow_up(exchange: Exchange, folder: ServerFolder, this: RunFolder, tell: Callable[..., None]) -> None:
    """Lead it to its end; the agreement is that of the run, and nobody is asked but sites that took part."""
    settings, agreement = this.settings(), folder.agreement()
    what = str(settings.get("what"))
    check_allowed(agreement.after, what)
    record = find_run(folder, this.follows).result()
    if record is None:
        raise DataError(f"run {this.follows} has no result, so that nothing can follow it.")
    cohort = tuple(name for name in record["federation"]["sites"] if name not in record["dropped"])
    this.keep_aside(FOUND, LEAD[what](exchange, folder, this, record, cohort))
    tell("finished", dropped={})


def _collect(
    exchange: Exchange, folder: ServerFolder, this: RunFolder, record: dict[str, Any], cohort: tuple[str, ...]
) -> dict[str, Any]:
    """Rows, kept site by site; the command that started this makes files of them."""
    agreement, sites = folder.agreement(), this.settings()["sites"]
    method = Collecting.after(agreement.method, record["selected"], agreement.labels)
    found = collect(method, sites, cohort, exchange, Shelf(this.rows))
    return {"rows": found.rows, "refused": found.refused}


def _label(
    exchange: Exchange, folder: ServerFolder, this: RunFolder, record: dict[str, Any], cohort: tuple[str, ...]
) -> dict[str, Any]:
    """The model that the command learned; what the counts tell of it."""
    agreement, settings = folder.agreement(), this.settings()
    sent: Any = decode((this.path / MODEL).read_bytes())
    own = {"model": sent.model, "least": settings["least"]}
    method = Labeling.after(agreement.method, record["selected"], agreement.labels, **own)
    gather = None
    if method.secure:
        members = folder.public_keys(tuple(settings["sites"]))
        gather = secure_cohorts(method, this.id, agreement.fingerprint, members)
    found = label(method, settings["sites"], cohort, Checkpointed(exchange, this), gather)
    this.end_replies()
    return {
        "rows": found.n_rows,
        "model": method.model.kind if method.model else "",
        "metrics": metrics_of(found),
        "not_scored": found.not_scored,
        "not_counted": found.not_counted,
    }


LEAD: dict[str, Callable[..., dict[str, Any]]] = {Collecting.name: _collect, Labeling.name: _label}
