"""Making a federation's folder, and changing who belongs to it: add, renew or remove a site."""

import json
import re
import secrets
import shutil
from functools import partial
from pathlib import Path

from fedsieve.deployment import keys
from fedsieve.deployment.agreement import check_address, check_site_names
from fedsieve.deployment.folders import AGREEMENT, ServerFolder, make_private, write_json
from fedsieve.errors import DataError, ParameterError, listed
from fedsieve.files import write_atomically

LOOPBACK = ("localhost", "127.0.0.1")
MAX_DAYS = 36_500
AUTHORITY_DAYS = 3_650  # the authority outlives the certificates it signs


def create(folder: Path, agreement: str, sites: list[str], address: str, *, days: int = 730) -> ServerFolder:
    """Make a new federation's folder with all keys and certificates: all of it or nothing."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: exists and is not empty. Choose another --out; keys are never overwritten.")
    check_site_names(sites)
    host, _ = check_address(address)
    _check_days(days)
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = ServerFolder(folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.part"))
    try:
        make_private(new.server / "keys")
        for private in (new.path, new.server, new.sites):
            make_private(private)
        authority = keys.new_authority(folder.name, max(days, AUTHORITY_DAYS))
        keys.write_private_key(authority[0], new.server / "ca.key", ssh=False)
        keys.write_certificate(authority[1], new.server / "ca.crt")
        _certify(new, authority, host, days)
        operator = keys.new_key()
        keys.write_private_key(operator, new.server / "operator.key")
        keys.write_public_key(operator.public_key(), new.server / "operator.pub")
        write_atomically(new.path / AGREEMENT, lambda file: file.write_text(agreement, encoding="utf-8"))
        for site in sites:
            renew_site(new, site)
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


def renew_site(folder: ServerFolder, name: str) -> None:
    """Give a site a new key and folder; its old key is forgotten and will be refused."""
    site = folder.site(name)
    make_private(site.path)
    key = keys.new_key()
    keys.write_private_key(key, site.path / "site.key")
    keys.write_public_key(key.public_key(), site.path / "site.pub")
    write_json(site.path / "site.json", {"name": name})
    keys.write_public_key(key.public_key(), folder.public_key_file(name))
    hand_over(folder, name)


def hand_over(folder: ServerFolder, name: str) -> Path:
    """Put the present agreement, certificate and operator's key into a site's folder and pack it as a tar."""
    site = folder.site(name)
    for file, source in ((AGREEMENT, folder.path), ("ca.crt", folder.server), ("operator.pub", folder.server)):
        write_atomically(site.path / file, partial(shutil.copyfile, source / file))
    tar = folder.sites / f"{name}.tar"
    site.pack(tar)
    return tar


def add_site(folder: ServerFolder, name: str) -> None:
    """Let one more site belong to the federation."""
    names = list(folder.agreement().sites)
    check_site_names([*names, name])
    before = (folder.path / AGREEMENT).read_text(encoding="utf-8")
    _write_sites(folder, [*names, name])
    try:
        renew_site(folder, name)
    except BaseException:
        write_atomically(folder.path / AGREEMENT, lambda file: file.write_text(before, encoding="utf-8"))
        raise


def remove_site(folder: ServerFolder, name: str) -> None:
    """Let a site belong no longer: its key is forgotten, its folder deleted here."""
    names = known_sites(folder, [name])
    _write_sites(folder, [other for other in names if other != name])
    folder.public_key_file(name).unlink(missing_ok=True)
    (folder.sites / f"{name}.tar").unlink(missing_ok=True)
    shutil.rmtree(folder.site(name).path, ignore_errors=True)


def known_sites(folder: ServerFolder, wanted: list[str]) -> list[str]:
    """All sites of the federation, once it is sure that the wanted ones are among them."""
    names = list(folder.agreement().sites)
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ParameterError(f"{folder.path}: has no site {listed(unknown)}; it has {listed(names)}.")
    return names


def _write_sites(folder: ServerFolder, names: list[str]) -> None:
    """Change the one line of the agreement that lists the sites; comments around it stay."""
    file = folder.path / AGREEMENT
    text, n_changed = re.subn(
        r"^sites = \[[^\]]*\]",
        lambda _: f"sites = {json.dumps(names)}",
        file.read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    if n_changed != 1:
        raise DataError(f"{file}: has no line 'sites = [...]' to change.")
    write_atomically(file, lambda path: path.write_text(text, encoding="utf-8"))
