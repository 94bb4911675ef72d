"""`fedsieve federation site`: change who belongs to a federation."""

from typing import Annotated

import typer

from fedsieve.cli.console import say
from fedsieve.cli.federation import Folder
from fedsieve.deployment import membership
from fedsieve.deployment.folders import ServerFolder
from fedsieve.errors import ParameterError


def site(
    folder: Folder,
    add: Annotated[str, typer.Option(help="A new site.")] = "",
    renew: Annotated[str, typer.Option(help="A site that gets a new key; its old one is refused from then on.")] = "",
    remove: Annotated[str, typer.Option(help="A site that belongs no longer; its key is refused from then on.")] = "",
) -> None:
    """Add a site, give one a new key, or remove one. A running server takes notice within seconds.

    [bold]Example[/bold]: fedsieve federation site fed/ --renew siteB
    """
    if sum(map(bool, (add, renew, remove))) != 1:
        raise ParameterError("give one of --add, --renew and --remove.")
    federation = ServerFolder(folder)
    if remove:
        membership.remove_site(federation, remove)
        say(f"Removed {remove}; a running server refuses its key from now on.")
        return
    if add:
        membership.add_site(federation, add)
    else:
        membership.known_sites(federation, [renew])
        membership.renew_site(federation, renew)
    say(f"hand over on a safe channel: {federation.sites / (add or renew)}.tar")
