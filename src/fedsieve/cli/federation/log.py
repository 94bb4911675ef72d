"""`fedsieve federation log`: what left a site, from its own record, and whether the record is whole."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fedsieve.cli.console import out, say, warn
from fedsieve.cli.speech import AsJson, document
from fedsieve.deployment.chain import Verdict
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.site_shift import FILE, looks_wrong, read_shift, words
from fedsieve.deployment.spent_noise import SpentNoise
from fedsieve.deployment.what_left import WhatLeft
from fedsieve.errors import DataError, ParameterError
from fedsieve.text import counted, size, visible

MOST_COLUMNS = 20  # that are shown of a comparison
BROKEN = 1  # the exit code of --verify where a record is not whole


HASH = re.compile("[0-9a-f]{64}")


def log(
    folder: Annotated[Path, typer.Argument(help="The site's folder.", show_default=False)],
    verify: Annotated[bool, typer.Option("--verify", help="Check that no line was changed, removed or moved.")] = False,
    consent: Annotated[bool, typer.Option("--consent", help="The record of consent instead.")] = False,
    shift: Annotated[
        bool, typer.Option("--shift", help="How unlike the others this site's rows are instead, by its last run.")
    ] = False,
    noted: Annotated[
        str, typer.Option(help="With --verify: a last hash that you noted earlier; one line has it.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Show what left this site, message by message, from its own record; --verify checks that the record is whole.

    [bold]Example[/bold]: fedsieve federation log siteA/ --verify
    """
    site = SiteFolder(folder)
    if not (folder / "site.json").is_file():
        raise DataError(f"{folder}: is no site's folder. Name the folder that 'fedsieve federation join' was given.")
    if shift:
        _show_shift(site, as_json)
        return
    if noted and not verify:
        raise ParameterError("--noted is compared by --verify; give both.")
    noted = noted.strip().lower()
    if noted and not HASH.fullmatch(noted):  # a slip of the pen is no broken record
        raise ParameterError(f"--noted must be a whole hash as --verify shows it, 64 digits of 0-9a-f; got {noted!r}.")
    chains = {"what left": WhatLeft(site.path).chain, "consent": ConsentRecord(site.path).chain}
    if verify:
        one = "consent" if consent else "what left"
        verdicts = {chain.path.name: chain.verify(noted) for chain in ([chains[one]] if noted else chains.values())}
        for name, verdict in verdicts.items():
            _show_verdict(name, verdict)
        if as_json:
            document([_told(name, verdict) for name, verdict in verdicts.items()])
        if any(verdict.broken for verdict in verdicts.values()):
            raise typer.Exit(BROKEN)
        return
    entries = list(chains["consent" if consent else "what left"].entries())
    if as_json:
        document(entries)
    elif not entries:
        say(f"Nothing is recorded in {folder} yet.")
    else:
        try:
            out.print(_consent_table(entries) if consent else _messages_table(entries))
        except (KeyError, TypeError, AttributeError):
            way_out = f"See what is wrong: fedsieve federation log {folder} --verify; --json shows it as it is."
            raise DataError(f"{folder}: its record holds lines that no site writes. {way_out}") from None
    spent = SpentNoise(site.ledger)
    if not as_json and spent.answers():
        say(spent.words(read_policy(site)))


def _show_shift(site: SiteFolder, as_json: bool) -> None:
    """Of the last run in which the total over all sites was told."""
    places = sorted(site.results.glob(f"*/{FILE}"), key=lambda file: file.stat().st_mtime)
    if not places:
        raise DataError(
            f"{site.path}: no run has told this site how the rows of all are spread yet. Runs with robust ranges do."
        )
    columns = read_shift(places[-1].parent)
    if as_json:
        document(columns)
        return
    table = Table(title=f"Run {places[-1].parent.name}: {words(columns)}", title_justify="left")
    for title in ("column", "share of rows elsewhere", "by chance", ""):
        table.add_column(title, justify="left" if title in ("column", "") else "right", overflow="fold")
    for found in columns[:MOST_COLUMNS]:
        numbers = (f"{found[name]:.2f}" for name in ("distance", "by_chance"))
        table.add_row(visible(found["column"]), *numbers, "unlike" if found["unlike"] else "")
    out.print(table)
    for line in looks_wrong(columns):
        warn(line)


def _told(name: str, verdict: Verdict) -> dict[str, Any]:
    return {
        "file": name,
        "whole": verdict.n_whole,
        "last": verdict.last,
        "broken": verdict.broken,
        "notes": verdict.notes,
    }


def _show_verdict(name: str, verdict: Verdict) -> None:
    for note in verdict.notes:
        warn(f"{name}: {note}")
    if verdict.broken:
        say(f"{name}: broken after {verdict.n_whole} whole lines: {verdict.broken}")
    else:
        say(f"{name}: {verdict.n_whole} lines, all whole. Last hash, to note elsewhere: {verdict.last}")


def _messages_table(entries: list[dict[str, Any]]) -> Table:
    table = Table(title="What left this site", title_justify="left")
    for title in ("n", "when (UTC), in which run", "asked, answered", "about", "size", "by which rule"):
        table.add_column(title, justify="right" if title in ("n", "size") else "left", overflow="fold")
    for entry in entries:
        held_back = f", {len(entry['held_back'])} held back" if entry["held_back"] else ""
        cells = (
            (entry["n"],),
            (entry["time"], f"{entry['run']}, round {entry['round']}"),
            (entry["request"], entry["reply"]),
            (counted(entry["rows"], "row"), f"{counted(entry['columns']['number'], 'column')}{held_back}"),
            (size(entry["bytes"]),),
            (f"refused: {entry['refused']}" if entry["refused"] else entry["rule"],),
        )
        table.add_row(*("\n".join(visible(str(line)) for line in cell) for cell in cells))
    return table


def _consent_table(entries: list[dict[str, Any]]) -> Table:
    table = Table(title="Who let this site take part", title_justify="left")
    for title in ("n", "time (UTC)", "what", "by", "how", "federation", "table", "for"):
        table.add_column(title, overflow="fold")
    for entry in entries:
        limits = [f"{entry[key]} {key[4:]}" for key in ("for_runs", "for_days") if entry.get(key)]
        table.add_row(
            *(visible(str(entry.get(key, ""))) for key in ("n", "time", "what", "by", "how", "federation")),
            visible(_what_of(entry)),
            ", ".join(limits),
        )
    return table


def _what_of(entry: dict[str, Any]) -> str:
    """The table that took part; or the rows of a run's columns that may leave, or no longer."""
    if table := entry.get("table"):
        return f"{table['file']}: {table['rows']} rows, {counted(table['columns'], 'column')}"
    if "run" not in entry:
        return ""
    n_columns, n_bytes = entry.get("columns", {}).get("number"), entry.get("bytes", 0)
    told = f": {entry['rows']} rows, {n_columns} columns, {size(n_bytes)}" if "rows" in entry else ""
    return f"run {entry['run']}{told}"
