"""`fedsieve federation unpack`: take the operator's files out of the tar that was handed over, and nothing else."""

from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import say
from fedsieve.deployment import unpacking
from fedsieve.deployment.folders import IDENTITY
from fedsieve.deployment.place import check_place
from fedsieve.errors import listed


def unpack(
    tar: Annotated[Path, typer.Argument(help="The tar that the operator handed over.", show_default=False)],
    folder: Annotated[Path, typer.Argument(help="The site's own folder, or a new one.", show_default=False)],
) -> None:
    """Take the operator's files out of a tar into this site's folder; its key, rules and records stay as they are.

    [bold]Example[/bold]: fedsieve federation unpack siteA.tar siteA/
    """
    check_place(folder)
    names = unpacking.unpack(tar, folder)
    say(f"Unpacked {listed(names)} into {folder}; everything else in it is as it was.")
    if all((folder / file).is_file() for file in IDENTITY):
        say(f"Take part: fedsieve federation join {folder} --data FILE")
    else:
        say(f"There is no key in it, so it cannot join. To see what changed: fedsieve federation diff OLD {folder}")
