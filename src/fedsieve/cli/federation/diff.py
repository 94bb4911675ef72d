"""`fedsieve federation diff`: what changed between two agreements."""

from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import say
from fedsieve.cli.speech import AsJson, document
from fedsieve.deployment.agreement import Agreement, read_agreement
from fedsieve.deployment.differences import differences
from fedsieve.deployment.folders import AGREEMENT

DIFFERENT = 1  # the exit code, as of other commands that compare


def diff(
    old: Annotated[Path, typer.Argument(help="A federation.toml, or a folder with one.", show_default=False)],
    new: Annotated[Path, typer.Argument(help="Another one.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show what changed between two agreements; exit code 0 where they are the same, 1 where they differ.

    [bold]Example[/bold]: fedsieve federation diff siteA/ new/
    """
    before, after = _agreement(old), _agreement(new)
    lines = differences(before, after)
    for line in lines:
        say(line)
    if before.address != after.address:
        say(f"the server's address, which may differ: {before.address}, now {after.address}")
    if as_json:
        document({"differences": lines, "fingerprints": [before.fingerprint, after.fingerprint]})
    if not lines:
        say(f"same agreement: {before.fingerprint}")
        return
    say(f"{before.fingerprint:.12} and {after.fingerprint:.12} are different agreements: all must consent again.")
    raise typer.Exit(DIFFERENT)


def _agreement(path: Path) -> Agreement:
    return read_agreement(path / AGREEMENT if path.is_dir() else path)
