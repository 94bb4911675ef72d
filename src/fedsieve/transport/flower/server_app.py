"""The ServerApp: one run of the protocol over a Grid, checkpointed after every round, its result sent to all sites."""

import json
import os
import traceback
import zlib
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.logs import open_log
from fedsieve.deployment.runs import CHECK, PAIRS, SHIFT, RunFolder, find_run, labeled_for_runs, new_run
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import DataError, FedSieveError, ProtocolError, listed
from fedsieve.protocol.influence import KeptReplies, influence, stretch
from fedsieve.protocol.outcome import Outcome
from fedsieve.protocol.parties import GatherCohort
from fedsieve.protocol.shift import shift_record, site_shift
from fedsieve.protocol.totals import KeptTotals
from fedsieve.selection_file import pairs_record, selection_record, selection_text
from fedsieve.transport.checkpoint import Checkpointed
from fedsieve.transport.envelope import Envelope
from fedsieve.transport.exchange import drive
from fedsieve.transport.first_look import first_look
from fedsieve.transport.flower.contents import AFTER, RESULT
from fedsieve.transport.flower.edge_node import lead_edge
from fedsieve.transport.flower.engine import EDGE, FEDERATION
from fedsieve.transport.flower.grid_exchange import DELIVERY_SECONDS, GRACE_SECONDS, ServerLink, introduce, link_for
from fedsieve.transport.follow_up import lead_follow_up
from fedsieve.transport.secure_answers import secure_cohorts
from fedsieve.transport.totals_file import Totals, Words, write_totals

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """What the engine starts: the run that the configuration names, or a new one with all sites; or an edge server."""
    place = context.run_config.get("federation") or os.environ.get(FEDERATION)
    if not place:
        raise DataError(f"no federation's folder given: set the run's 'federation' or the variable {FEDERATION}.")
    folder = ServerFolder(Path(str(place)))
    name = str(context.run_config.get("run") or "")
    if name == EDGE:
        lead_edge(grid, folder)
        return
    run = find_run(folder, name) if name else new_run(folder, list(folder.agreement().approved), [])
    lead_run(grid, folder, run, engine_run=context.run_id)


def lead_run(grid: Grid, folder: ServerFolder, run: RunFolder, *, engine_run: int = 0) -> None:
    """Lead a run to its end, from wherever it stopped; the result or the reason for none is left in its folder."""
    log = open_log(folder.server, run.id, "server")

    def tell(event: str, **details: Any) -> None:
        run.tell(event, **details)
        log.info("%s %s", event, json.dumps(details))

    log.info("this is the engine's run %d", engine_run)
    if run.leader() is not None:
        log.warning("run %s is led by another process already; this one ends", run.id)
        return
    with run.lead():
        try:
            _lead(grid, folder, run, tell)
        except FedSieveError as error:
            tell("failed", reason=str(error))
            run.fail(str(error))
        except Exception as error:  # its text could hold data, so only its kind and place are told
            log.error("an error of ours, %s", type(error).__name__)
            for line in "".join(traceback.format_tb(error.__traceback__)).splitlines():
                log.error("%s", line)
            run.fail(f"{type(error).__name__} in the server's process; see {folder.server / 'fedsieve.log'}.")
            raise


def _lead(grid: Grid, folder: ServerFolder, run: RunFolder, tell: Any) -> None:
    agreement, settings = folder.agreement(), run.settings()
    if settings["agreement"] != agreement.fingerprint:
        raise DataError("the agreement changed since the run was started. Start a new run.")
    link = link_for(grid, folder, run.id, tuple(settings["sites"]), tell)
    link.nodes = link.nodes or introduce(link, n_expected=len(settings["sites"]))
    unknown = [name for name in settings["sites"] if name not in link.nodes]
    if unknown:
        raise ProtocolError(f"no node of {listed(unknown)} is there. Have they joined?")
    if sum(event["event"] == "started" for event in run.events()) > 1:
        link.grace_seconds = GRACE_SECONDS
    if run.follows:
        link.kind = AFTER
        lead_follow_up(link.ask, folder, run, tell)
        return
    if run.is_check:
        _check(link, folder, run, tell)
        return
    record = run.result()
    if record is None or run.kept_file(1) is not None:  # else only the delivery is left, and nobody is asked
        exchange, kept, totals = Checkpointed(link.ask, run), KeptReplies(), KeptTotals()
        method, sites = agreement.method, tuple(settings["sites"])
        labeled = labeled_for_runs(folder, method, agreement.fingerprint)
        outcome = drive(method, labeled, sites, exchange, kept, _gather(folder, run), totals)
        record = _record(agreement, outcome, run, settings, exchange.n_repeated)
        record["influence"] = influence(agreement.method, labeled, outcome.selection, kept)
        record["stretch"] = stretch(kept)
        shift = shift_record(site_shift(method, labeled, kept))
        if shift is not None:
            run.keep_aside(SHIFT, {"sites": shift})
        pairs = pairs_record(method, outcome.selection)
        if pairs is not None:
            run.keep_aside(PAIRS, pairs)
        if not totals.why_none:
            read = Words(agreement.categories, agreement.dates)
            write_totals(Totals.of(method, labeled, totals, record, read), run.totals)
        run.finish(record)
    _deliver(link, record, tell)
    run.end_replies()  # not before: until here, all replies can be read again
    tell("finished", dropped=record["dropped"])


def _check(link: ServerLink, folder: ServerFolder, run: RunFolder, tell: Any) -> None:
    """The first rounds only; what they show is the operator's, and no site is sent a result."""
    agreement, sites = folder.agreement(), tuple(run.settings()["sites"])
    if not run.has_ended:
        exchange = Checkpointed(link.ask, run)
        labeled = labeled_for_runs(folder, agreement.method, agreement.fingerprint)
        run.keep_aside(CHECK, first_look(agreement.method, labeled, sites, exchange, _gather(folder, run)))
    run.end_replies()
    tell("finished", dropped={})


def _gather(folder: ServerFolder, run: RunFolder) -> GatherCohort | None:
    """A cohort of which only totals are seen, where that is agreed on."""
    agreement = folder.agreement()
    if not agreement.method.secure:
        return None
    members = folder.public_keys(tuple(run.settings()["sites"]))
    return secure_cohorts(agreement.method, run.id, agreement.fingerprint, members)


def _record(
    agreement: Agreement, outcome: Outcome, run: RunFolder, settings: dict[str, Any], n_repeated: int
) -> dict[str, Any]:
    """The record of `fedsieve select`, and what only a network adds to it."""
    told = (event["site"] for event in run.events() if event["event"] == "refused")
    refused = Counter(site for site in told if site in settings["sites"])
    refused.update(site for site in outcome.selection.dropped if site not in refused)
    federation = {
        "run": run.id,
        "name": agreement.name,
        "agreement": agreement.fingerprint,
        "min_rows": agreement.min_rows,
        "sites": settings["sites"],
        "absent": settings["absent"],
        "refused_replies": dict(refused),
        "rounds_from_checkpoint": n_repeated,
        "engine": f"flwr {version('flwr')}",
    }
    return selection_record(agreement.method, outcome, list(agreement.labels), federation=federation)


def _deliver(link: ServerLink, record: dict[str, Any], tell: Any) -> None:
    """Each site that took part gets the result."""
    link.timeout_seconds, link.operator.run = min(link.timeout_seconds, DELIVERY_SECONDS), link.run
    text = selection_text(record)
    last = max(entry["round"] for entry in record["transcript"]) + 1
    took_part = [name for name in record["federation"]["sites"] if name not in record["dropped"]]
    nodes = {name: link.nodes[name] for name in took_part}
    tell("delivery", sites=list(nodes))
    for site, reply in link.send(RESULT, last, nodes, zlib.compress(text.encode())).items():
        taken = isinstance(reply, Envelope) and not reply.payload  # else it says why not
        tell("delivered" if taken else "not delivered", site=site)
