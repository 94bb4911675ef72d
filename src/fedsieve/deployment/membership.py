"""Making a federation's folder, and changing who belongs to it: add, renew or remove a site.

Names and keys change together, in one step of one file, the agreement: no reader ever sees a name without its key.
"""

import secrets
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from fedsieve.deployment import keys
from fedsieve.deployment.agreement import check_address, check_site_names
from fedsieve.deployment.authority import vouch_for_authority
from fedsieve.deployment.folders import AGREEMENT, FROM_OPERATOR, IDENTITY, make_private, write_json
from fedsieve.deployment.members import replace_members
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import DataError, ParameterError, listed
from fedsieve.files import held_file, write_atomically
from fedsieve.protocol import SERVER

LOOPBACK = ("localhost", "127.0.0.1")
MAX_DAYS = 36_500
AUTHORITY_DAYS = 3_650  # the authority outlives the certificates it signs


def create(
    folder: Path, agreement: str, sites: list[str], address: str, *, days: int = 730, with_keys: bool = True
) -> ServerFolder:
    """Make a new federation's folder, all of it or nothing.

    With keys for all sites, as in trials, or without: then each site makes its own, and nobody else ever has it.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: exists and is not empty. Choose another --out; keys are never overwritten.")
    check_site_names(sites)
    host, _ = check_address(address)
    _check_days(days)
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = ServerFolder(folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.part"))
    try:
        for private in (new.path, new.server, new.sites):
            make_private(private)
        authority = keys.new_authority(folder.name, max(days, AUTHORITY_DAYS))
        keys.write_private_key(authority[0], new.server / "ca.key", ssh=False)
        keys.write_certificate(authority[1], new.server / "ca.crt")
        _certify(new, authority, host, days)
        operator = keys.new_key()
        keys.write_private_key(operator, new.server / "operator.key")
        keys.write_public_key(operator.public_key(), new.server / "operator.pub")
        vouch_for_authority(new)
        members = {SERVER: keys.public_text(operator.public_key()), **dict.fromkeys(sites, "")}
        if with_keys:
            members.update({site: _make_identity(new, site) for site in sites})
        _write_agreement(new, replace_members(agreement, members))
        if with_keys:
            for site in sites:
                hand_over(new, site)
        if folder.exists():
            folder.rmdir()
        new.path.rename(folder)
    finally:
        shutil.rmtree(new.path, ignore_errors=True)
    return ServerFolder(folder)


def renew_certificate(folder: ServerFolder, days: int) -> None:
    """A new certificate for the server, of the same authority: sites need nothing new."""
    host, _ = check_address(folder.agreement().address)
    _check_days(days)
    _certify(folder, keys.read_authority(folder.server), host, days)


def _certify(folder: ServerFolder, authority: keys.Authority, host: str, days: int) -> None:
    key, certificate = keys.new_certificate(authority, list(dict.fromkeys([host, *LOOPBACK])), days)
    keys.write_private_key(key, folder.server / "server.key", ssh=False)
    keys.write_certificate(certificate, folder.server / "server.crt")


def _check_days(days: int) -> None:
    if not 1 <= days <= MAX_DAYS:
        raise ParameterError(f"--days must be in [1, {MAX_DAYS}]; got {days}.")


def add_site(folder: ServerFolder, name: str) -> None:
    """Let one more site belong to the federation, with a key made here."""
    check_site_names([*folder.agreement().sites, name])
    try:
        change_members(folder, {name: _make_identity(folder, name)})
    except BaseException:
        if name not in folder.agreement().sites:
            _forget(folder, name)
        raise


def renew_site(folder: ServerFolder, name: str) -> None:
    """Give a site a new key, made here; its old one will be refused."""
    known_sites(folder, [name])
    change_members(folder, {name: _make_identity(folder, name)})


def remove_site(folder: ServerFolder, name: str) -> None:
    """Let a site belong no longer: its key is forgotten, its folder deleted here."""
    known_sites(folder, [name])
    change_members(folder, {name: None})


def change_members(folder: ServerFolder, changes: Mapping[str, str | None]) -> None:
    """Give sites these keys, or none (`None`: they belong no longer), and pack the new agreement for all that stay."""
    with held_file(folder.server / "members.lock"):  # two changes at once would each undo the other
        _write_members(folder, changes)
        for name, key in changes.items():
            if key is None:
                _forget(folder, name)
            else:
                _forget_other_identity(folder, name, key)
        hand_over_all(folder)


def _write_members(folder: ServerFolder, changes: Mapping[str, str | None]) -> None:
    file = folder.path / AGREEMENT
    members = {**folder.agreement().members, **changes}
    try:
        text = replace_members(
            file.read_text(encoding="utf-8"), {name: key for name, key in members.items() if key is not None}
        )
    except DataError as error:
        raise DataError(f"{file}: {error}") from None
    _write_agreement(folder, text)


def hand_over_all(folder: ServerFolder) -> list[Path]:
    """Pack the present agreement for all sites that have a key; returns the tars."""
    return [hand_over(folder, name) for name in folder.agreement().approved]


def hand_over(folder: ServerFolder, name: str) -> Path:
    """Put the present agreement, certificate and operator's key into a site's folder and pack it as a tar.

    The tar holds a private key only if that was made here: a site that has its own unpacks the tar over its folder.
    """
    site = folder.site(name)
    make_private(site.path)
    vouch_for_authority(folder)
    for file in FROM_OPERATOR:
        source = (folder.path if file == AGREEMENT else folder.server) / file
        write_atomically(site.path / file, partial(shutil.copyfile, source))
    tar = folder.sites / f"{name}.tar"
    site.pack(tar)
    return tar


def known_sites(folder: ServerFolder, wanted: list[str]) -> list[str]:
    """All sites of the federation, once it is sure that the wanted ones are among them."""
    names = list(folder.agreement().sites)
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ParameterError(f"{folder.path}: has no site {listed(unknown)}; it has {listed(names)}.")
    return names


def _make_identity(folder: ServerFolder, name: str) -> str:
    """Make a site's key in its name, ready to be handed over; returns the public one."""
    site = folder.site(name)
    make_private(site.path)
    key = keys.new_key()
    keys.write_private_key(key, site.path / "site.key")
    keys.write_public_key(key.public_key(), site.path / "site.pub")
    write_json(site.path / "site.json", {"name": name})
    return keys.public_text(key.public_key())


def _forget_other_identity(folder: ServerFolder, name: str, key: str) -> None:
    """Delete what was made here in a site's name, once the site has a key of its own: no tar may bring it back."""
    public, *_ = files = [folder.site(name).path / file for file in IDENTITY]
    if public.is_file() and public.read_text(encoding="utf-8").strip() != key:
        for file in files:
            file.unlink(missing_ok=True)


def _forget(folder: ServerFolder, name: str) -> None:
    (folder.sites / f"{name}.tar").unlink(missing_ok=True)
    shutil.rmtree(folder.site(name).path, ignore_errors=True)


def _write_agreement(folder: ServerFolder, text: str) -> None:
    write_atomically(folder.path / AGREEMENT, lambda file: file.write_text(text, encoding="utf-8"))
