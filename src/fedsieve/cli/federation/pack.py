"""`fedsieve federation pack`: bring a changed agreement to the sites."""

from fedsieve.cli.console import say, warn
from fedsieve.cli.federation import Folder
from fedsieve.deployment import membership
from fedsieve.deployment.folders import ServerFolder
from fedsieve.errors import listed


def pack(folder: Folder) -> None:
    """Pack the present federation.toml for all sites that have a key; keys stay.

    [bold]Example[/bold]: fedsieve federation pack fed/
    """
    federation = ServerFolder(folder)
    agreement = federation.agreement()
    for tar in membership.hand_over_all(federation):
        say(f"packed {tar}")
    waiting = [name for name in agreement.sites if name not in agreement.approved]
    if waiting:
        warn(f"no tar for {listed(waiting)}, who have no key yet. Approve theirs: fedsieve federation site --approve")
