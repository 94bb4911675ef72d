"""`fedsieve federation certificate`: renew the server's certificate."""

from typing import Annotated

import typer

from fedsieve.cli.console import say
from fedsieve.cli.federation import Folder
from fedsieve.deployment import membership
from fedsieve.deployment.server_folder import ServerFolder


def certificate(
    folder: Folder, days: Annotated[int, typer.Option(help="How long the new certificate is valid.")] = 730
) -> None:
    """Give the server a new certificate of the same authority, before the old one expires.

    [bold]Example[/bold]: fedsieve federation certificate fed/
    """
    membership.renew_certificate(ServerFolder(folder), days)
    say(f"The server has a new certificate for {days} days; start 'serve' again to use it. Sites need nothing new.")
