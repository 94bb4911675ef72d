"""`fedsieve federation site`: change who belongs to a federation."""

from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import can_ask, say, warn
from fedsieve.cli.federation import Folder
from fedsieve.deployment import admission, membership
from fedsieve.deployment.admission import SiteRequest, check_admission, read_request
from fedsieve.deployment.members import fingerprint
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import ParameterError, ProtocolError


def site(
    folder: Folder,
    approve: Annotated[
        list[Path] | None, typer.Option("--approve", help="A site's request file; may be given more than once.")
    ] = None,
    add: Annotated[str, typer.Option(help="A new site: with --approve, or --with-keys.")] = "",
    renew: Annotated[
        str, typer.Option(help="A site that gets a new key, with --approve or --with-keys; its old one is refused.")
    ] = "",
    remove: Annotated[str, typer.Option(help="A site that belongs no longer; its key is refused from then on.")] = "",
    with_keys: Annotated[
        bool, typer.Option("--with-keys", help="Make the site's key here, for trials: you could answer in its name.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="The fingerprints were compared; do not ask.")] = False,
) -> None:
    """Approve a site's own key, add, renew or remove a site. Every change is a new agreement: all must consent again.

    [bold]Example[/bold]: fedsieve federation site fed/ --approve siteA.request

    A running server takes notice within seconds; joined sites refuse until they have the new tar.
    """
    _check_choice(approve or [], add, renew, remove, with_keys)
    federation = ServerFolder(folder)
    before = federation.agreement().fingerprint
    if remove:
        membership.remove_site(federation, remove)
        say(f"Removed {remove}; a running server refuses its key from now on.")
    elif with_keys:
        (membership.add_site if add else membership.renew_site)(federation, add or renew)
        warn(
            f"{add or renew}: you made its key, so you could answer in its name. For trials only. Its tar holds a "
            "private key: hand it over on a safe channel."
        )
    else:
        _approve(federation, [read_request(file) for file in approve or []], add, renew, yes)
    _say_what_next(federation, before)


def _check_choice(files: list[Path], add: str, renew: str, remove: str, with_keys: bool) -> None:
    if sum(map(bool, (add, renew, remove))) > 1 or not (files or add or renew or remove):
        raise ParameterError("give --approve FILE, or one of --add, --renew and --remove.")
    if remove and (files or with_keys):
        raise ParameterError("--remove goes with neither --approve nor --with-keys.")
    if files and with_keys:
        raise ParameterError("--approve takes the site's own key, --with-keys makes one here; give one of them.")
    if (add or renew) and not with_keys and len(files) != 1:
        option = "--add" if add else "--renew"
        raise ParameterError(
            f"{option} {add or renew} needs the site's own key: --approve FILE, which the site makes with "
            f"'fedsieve federation request'. To make its key here, for a trial, give --with-keys."
        )


def _approve(folder: ServerFolder, requests: list[SiteRequest], add: str, renew: str, yes: bool) -> None:
    agreement = folder.agreement()
    for request in requests:
        if (add or renew) not in ("", request.name):
            raise ParameterError(f"--approve: the request is of {request.name!r}, not of {add or renew!r}.")
    if add in agreement.sites:
        raise ParameterError(f"--add {add}: belongs already; leave --add out, or give --renew for a new key.")
    if renew:
        membership.known_sites(folder, [renew])
    check_admission(agreement, requests, renew)
    for request in requests:
        new = "" if request.name in agreement.sites else ", who is not in federation.toml yet,"
        say(f"{request.name}{new} asks to belong with the key {fingerprint(request.key)}")
    if not yes:
        if not can_ask():
            raise ProtocolError("nobody is there to confirm the fingerprints. Compare them by phone, then give --yes.")
        if not typer.confirm(
            "Call each site at a number you know. Are these the fingerprints they read?", default=False
        ):
            raise ProtocolError("not approved. Nothing was changed.")
    admission.approve(folder, requests, renew)


def _say_what_next(folder: ServerFolder, before: str) -> None:
    agreement = folder.agreement()
    if agreement.fingerprint == before:
        say(f"The agreement is what it was, {before:.12}: these keys were approved already. The tars are packed anew.")
    else:
        what = "all sites need their new tars, and join again"
        say(f"The agreement is a new one now, {agreement.fingerprint:.12}: {what}.")
    needed = agreement.method.min_clients
    if len(agreement.sites) < needed:
        warn(f"sites that are left: {len(agreement.sites)}; a run takes {needed} (min_clients in federation.toml).")
    for name in agreement.sites:
        known = name in agreement.approved
        say(f"  hand over: {folder.sites / name}.tar" if known else f"  {name} has no key yet: waiting for its request")
