"""`fedsieve federation collect`: after a run, the rows of the selected columns of each site that consents to that."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fedsieve.categories import Categories
from fedsieve.cli.communication import Bits, Distances, Way, cost_words, rows_cost, way_to
from fedsieve.cli.console import out, say, warn
from fedsieve.cli.federation import Folder
from fedsieve.cli.federation.run import run_unless_interrupted, wait_for_sites
from fedsieve.cli.reporting import command_again
from fedsieve.cli.speech import AsJson, document
from fedsieve.datasets.parquet_rows import UnknownCodesError, described, n_rows_in, write_rows
from fedsieve.deployment.after_run import check_allowed
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.folders import OWNER_ONLY, write_json
from fedsieve.deployment.keys import PRIVATE
from fedsieve.deployment.runs import FOUND, HANDED, RunFolder, find_run, latest_after, what_follows
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import DataError, ProtocolError, listed
from fedsieve.methods.collecting import Collecting
from fedsieve.protocol.communication import BITS
from fedsieve.result_folder import check_folder, make_folder
from fedsieve.text import counted, size, visible
from fedsieve.transport.collected import Shelf

FILE = "collected.json"
KINDS = {"rows": dict, "refused": dict}  # of what was found


def collect(
    folder: Folder,
    run: Annotated[str | None, typer.Option(help="The run; default: the latest.")] = None,
    output: Annotated[Path | None, typer.Option("--out", help="Folder for the files; default in the run's.")] = None,
    wait: Annotated[int, typer.Option(help="Seconds to wait for all sites to be online.")] = 60,
    force: Annotated[bool, typer.Option(help="Replace existing files.")] = False,
    distances: Distances = "",
    bits: Bits = BITS,
    as_json: AsJson = False,
) -> None:
    """After a run, get the rows of the selected columns from the sites that consent to that, one Parquet file each.

    Each site is asked apart: by its own policy (rows_may_leave), and by 'fedsieve federation approve-rows' there.
    Call it again after an interruption, or when more sites have consented: what is here already is not asked for again.

    [bold]Example[/bold]: fedsieve federation collect fed/ --out rows/
    """
    federation = ServerFolder(folder)
    agreement = federation.agreement()
    check_allowed(agreement.after, Collecting.name)
    way = way_to(agreement.sites, distances, bits)
    if output is not None:
        check_folder(output)
    followed = find_run(federation, run)
    record = result_to_follow(followed, agreement)
    place = output or followed.path / "collected"
    about = {"fedsieve.run": followed.id, "fedsieve.agreement": agreement.fingerprint}
    took_part = [name for name in record["federation"]["sites"] if name not in record["dropped"]]
    here = [name for name in took_part if not force and _is_here(place / f"{name}.parquet", {**about, "site": name})]
    labels = agreement.labels if agreement.method.sites_hold_labels else ()
    names = [*record["selected"], *labels]
    words = {name: agreement.categories[name] for name in names if name in agreement.categories}
    files = _Files(place, names, words, about)
    if (before := latest_after(federation, followed, Collecting.name)) is not None and before.leader() is None:
        here += files.left_over(before, here, [name for name in took_part if name not in here])
    wanted = [name for name in took_part if name not in here]
    if not wanted:
        n_sites = f"{'all ' * (len(here) > 1)}{counted(len(here), 'site')}"
        say(f"The rows of {n_sites} of run {followed.id} are in {place} already.")
        told = _show(record, files, here, {}, way)
        if as_json:
            document(told)
        return
    online, _ = wait_for_sites(federation, wait, 1)
    asked = [name for name in wanted if name in online]
    if not asked:
        raise ProtocolError(f"none of the sites whose rows are not here is online: {listed(wanted, 20)}.")
    n_columns = f"{len(record['selected'])} of {len(record['order'])} columns"
    say(f"Rows of {n_columns} (run {followed.id}), of {listed(asked, 20)}.")
    this = what_follows(federation, followed, Collecting.name, asked)
    go_on = f"what came is kept. Go on with: {command_again(whole_paths=True)}"
    run_unless_interrupted(federation, this, f"interrupted; {go_on}")
    found = this.aside(FOUND, KINDS)
    assert found is not None
    unreadable = files.make(this, found["rows"])
    absent = {name: "is not online." for name in wanted if name not in online}
    got = [name for name in found["rows"] if name not in unreadable]
    told = _show(record, files, [*here, *got], {**found["refused"], **unreadable, **absent}, way)
    if as_json:
        document(told)
    if not got and not here:
        raise ProtocolError("no site sent rows. Each of them says why, above.")


def result_to_follow(run: RunFolder, agreement: Agreement) -> dict[str, Any]:
    """The result of a run that something can follow: one that has ended, under the present agreement."""
    record = None if run.is_check else run.result()
    if record is None:
        raise ProtocolError(f"run {run.id} has no selection, so that nothing can follow it. Name another: --run ID.")
    if not record["selected"]:
        raise ProtocolError(f"run {run.id} selected no feature, so that nothing can follow it. Name another: --run ID.")
    if run.settings()["agreement"] != agreement.fingerprint:
        raise ProtocolError(f"the agreement changed since run {run.id}. Start a new run.")
    return record


def _is_here(file: Path, about: dict[str, str]) -> bool:
    """Whether a site's rows of this very run are here; another file of that name is an error."""
    if not file.exists():
        return False
    if about.items() <= described(file).items():
        return True
    raise DataError(f"{file} exists already, and is not of this run. Choose another --out, or give --force.")


@dataclass(frozen=True)
class _Files:
    """The operator's files, made of what sites sent, of which nothing else is kept then."""

    place: Path
    names: list[str]
    words: Categories
    about: dict[str, str]

    def make(self, this: RunFolder, rows: Mapping[str, int]) -> dict[str, str]:
        """A file for each site; and why there is none of a site whose rows are not what was agreed on."""
        shelf, unreadable = Shelf(this.rows), {}
        for site, n_rows in rows.items():
            file = self.place / f"{site}.parquet"
            make_folder(self.place, mode=OWNER_ONLY)
            try:
                write_rows(file, self.names, shelf.rows(site), self.words, {**self.about, "site": site})
            except UnknownCodesError as error:  # it holds up nobody, and nothing of it is kept
                unreadable[site] = str(error)
            else:
                handed = (this.aside(HANDED, {"sites": dict}) or {"sites": {}})["sites"]
                handed[site] = {"rows": n_rows, "file": str(file.absolute())}
                this.keep_aside(HANDED, {"sites": handed})
            shelf.forget(site)
        return unreadable

    def left_over(self, before: RunFolder, here: list[str], wanted: list[str]) -> list[str]:
        """After a command that was killed, or had no room, when all rows had come: no site is asked for them again."""
        shelf = Shelf(before.rows)
        for site in here:
            shelf.forget(site)
        found = (before.aside(FOUND, KINDS) or {"rows": {}})["rows"]
        whole = {site: found[site] for site in wanted if site in found and shelf.n_rows(site) == found[site]}
        unreadable = self.make(before, whole)
        return [site for site in whole if site not in unreadable]


def _show(record: dict[str, Any], files: _Files, here: list[str], refused: dict[str, str], way: Way) -> dict[str, Any]:
    """Say what is here now, of this and of earlier calls, and keep that beside the files; returns it."""
    place, names = files.place, files.names
    rows = {site: n_rows_in(place / f"{site}.parquet") for site in sorted(here)}
    table = Table(title=f"Rows in {place}", title_justify="left")
    for title in ("site", "rows", "columns", "size", "file"):
        table.add_column(title, justify="right" if title in ("rows", "columns", "size") else "left", overflow="fold")
    for site, n_rows in rows.items():
        file = place / f"{site}.parquet"
        table.add_row(site, str(n_rows), str(len(names)), size(file.stat().st_size), file.name)
        if (then := (record["n_rows"] or {}).get(site, n_rows)) != n_rows:
            warn(f"{site} sent {counted(n_rows, 'row')}; in the run it answered for {then}.")
    if rows:
        out.print(table)
    for site, reason in refused.items():
        warn(visible(f"no rows of {site}: {reason}"))
    cost = rows_cost(record, way, rows)
    told = {"run": record["federation"]["run"], "columns": names, "rows": rows, "refused": refused}
    if cost is not None:
        say(f"To send these rows takes {cost_words(record, cost, way, messages='the messages of the selection')}")
        write_json(place / FILE, {**told, "communication": cost}, mode=PRIVATE)
    return {**told, "communication": cost, "folder": str(place)}
