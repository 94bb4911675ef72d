"""`fedsieve federation purge`: delete sites' replies and totals at the server, or old results at a site."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fedsieve.cli.console import can_ask, out, say
from fedsieve.cli.options import split_names
from fedsieve.cli.speech import AsJson, document
from fedsieve.deployment.retention import chosen, folder_size, kept_in
from fedsieve.deployment.runs import RunFolder
from fedsieve.errors import ProtocolError
from fedsieve.text import counted, size


def purge(
    folder: Annotated[Path, typer.Argument(help="The operator's folder, or a site's.", show_default=False)],
    runs: Annotated[str, typer.Option(help="Of these runs: ID,ID.")] = "",
    older_than: Annotated[int | None, typer.Option(help="Of runs older than so many days.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Of all runs but one that goes on.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without being asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete what is no longer needed: replies and totals of ended runs at the server, old results at a site.

    A run without its totals keeps its result, but 'fedsieve rerank' needs them.
    Records of what left and of consent, rules, keys and the server's results stay.

    [bold]Example[/bold]: fedsieve federation purge fed/ --older-than 30
    """
    kept = kept_in(folder)
    chosen_ones = chosen(kept, split_names(runs), older_than, everything)
    for run in dict.fromkeys(one.run for one in kept if one.busy):
        say(f"Run {run} goes on; its replies stay.")
    if not chosen_ones:
        say(f"Nothing to delete in {folder}.")
        if as_json:
            document({"deleted": [], "bytes": 0})
        return
    table = Table(title=f"To be deleted in {folder}", title_justify="left")
    for title in ("run", "what", "days old", "size"):
        table.add_column(title, justify="right" if title in ("days old", "size") else "left", overflow="fold")
    for one in chosen_ones:
        table.add_row(one.run, one.what, f"{one.age_days:.0f}", size(one.n_bytes))
    out.print(table)
    _make_sure(yes)
    deleted: list[dict[str, Any]] = []
    for one in chosen_ones:
        deleted.append({"run": one.run, "what": one.what, "days": round(one.age_days, 1), "bytes": one.n_bytes})
        one.delete()
    freed = sum(one["bytes"] for one in deleted)
    say(f"Deleted what was kept of {counted(len({one.run for one in chosen_ones}), 'run')}; {size(freed)} are free.")
    if as_json:
        document({"deleted": deleted, "bytes": freed})


def _make_sure(yes: bool) -> None:
    if yes:
        return
    if not can_ask():
        raise ProtocolError("nothing was deleted: nobody is there to ask. Give --yes to delete unattended.")
    if not typer.confirm("Delete all this?", default=False):
        raise ProtocolError("nothing was deleted.")


def kept_line(run: RunFolder) -> str:
    """What the server's folder holds of the sites' replies, and of their totals."""
    folder = run.path.parent.parent.parent
    if not run.replies.is_dir():
        if not run.has_ended:
            return "No replies are kept."
        if not run.totals.is_file():
            return "The sites' replies are deleted."
        return (
            f"The sites' replies are deleted; their totals ({size(folder_size(run.totals))}) stay for 'fedsieve "
            f"rerank'. Delete them: fedsieve federation purge {folder} --runs {run.id}"
        )
    return (
        f"The sites' replies ({size(folder_size(run.replies))}) are kept in {run.replies}. "
        f"Delete them: fedsieve federation purge {folder} --runs {run.id}"
    )
