"""`fedsieve federation pack`: bring a changed agreement into the sites' folders."""

from fedsieve.cli.console import say
from fedsieve.cli.federation import Folder
from fedsieve.deployment import membership
from fedsieve.deployment.folders import ServerFolder


def pack(folder: Folder) -> None:
    """Put the present federation.toml into all site folders and pack them again; keys stay.

    [bold]Example[/bold]: fedsieve federation pack fed/
    """
    federation = ServerFolder(folder)
    for name in federation.agreement().sites:
        say(f"packed {membership.hand_over(federation, name)}")
