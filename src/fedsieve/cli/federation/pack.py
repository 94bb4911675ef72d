"""`fedsieve federation pack`: bring a changed agreement to the sites."""

from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import say, warn
from fedsieve.cli.federation import Folder
from fedsieve.deployment import membership
from fedsieve.deployment.edge_agreement import check_member, follow_above
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, listed
from fedsieve.files import write_atomically


def pack(
    folder: Folder,
    above: Annotated[
        Path | None,
        typer.Option(help="Of an edge server: first take over the agreement in its folder as a site above."),
    ] = None,
    force: Annotated[
        bool, typer.Option(help="With --above: also the agreement of another edge server than the sites agreed to.")
    ] = False,
) -> None:
    """Pack the present federation.toml for all sites that have a key; keys stay.

    [bold]Example[/bold]: fedsieve federation pack fed/
    """
    federation = ServerFolder(folder)
    agreement = federation.agreement()
    if above is not None:
        if agreement.above is None:
            raise DataError(f"{folder}: is no edge server's, so that it follows no agreement above. Leave --above out.")
        if not force:
            check_member(SiteFolder(above), agreement.above, folder)
        text = follow_above(SiteFolder(above), federation)
        write_atomically(folder / AGREEMENT, lambda file: file.write_text(text, encoding="utf-8"))
        agreement = federation.agreement()
        say(f"{folder / AGREEMENT} follows the agreement in {above} now. Its sites unpack, consent and join anew.")
    for tar in membership.hand_over_all(federation):
        say(f"packed {tar}")
    waiting = [name for name in agreement.sites if name not in agreement.approved]
    if waiting:
        warn(f"no tar for {listed(waiting)}, who have no key yet. Approve theirs: fedsieve federation site --approve")
