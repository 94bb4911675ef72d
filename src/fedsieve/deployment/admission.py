"""How a site comes to belong with a key of its own: its request, the operator's approval, the site's check of both.

A site's private key never leaves its folder. The request carries the public key and a proof that whoever wrote it has
the private one; that it is the *site's* key is for two people to find out, who compare fingerprints by phone.
"""

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fedsieve.deployment import keys
from fedsieve.deployment.agreement import Agreement, check_site_names
from fedsieve.deployment.folders import make_private, write_json
from fedsieve.deployment.members import check_key, fingerprint
from fedsieve.deployment.membership import change_members
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, FedSieveError, ParameterError, ProtocolError
from fedsieve.protocol import SERVER
from fedsieve.reading import parse_json

FORMAT = "fedsieve-request/1"
MAX_BYTES = 4096


@dataclass(frozen=True)
class SiteRequest:
    """A site's name and public key, as it asks to belong with them."""

    name: str
    key: str

    @property
    def signed(self) -> bytes:
        """What the proof signs; neither part can hold a line's end."""
        return "\n".join([FORMAT, self.name, self.key]).encode()


def make_request(folder: Path, name: str, *, renew: bool = False) -> tuple[SiteRequest, Path]:
    """Make a site's folder with its own key, and the file to send; `renew` makes a new key in a folder that has one."""
    check_site_names([name])
    site = SiteFolder(folder)
    if renew:
        if not (folder / "site.json").is_file() or site.name != name:
            raise DataError(f"{folder}: is not the folder of a site {name!r}, so there is no key to renew.")
        return _write_identity(site, name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(
            f"{folder}: exists and is not empty. Choose another --out, or give --renew for a new key of the same site."
        )
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = SiteFolder(folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.part"))
    try:
        make_private(new.path)
        request, file = _write_identity(new, name)
        if folder.exists():
            folder.rmdir()
        new.path.rename(folder)
    finally:
        shutil.rmtree(new.path, ignore_errors=True)
    return request, folder / file.name


def _write_identity(site: SiteFolder, name: str) -> tuple[SiteRequest, Path]:
    key = keys.new_key()
    request = SiteRequest(name, keys.public_text(key.public_key()))
    proof = keys.signature_text(key, request.signed)
    file = site.path / f"{name}.request"
    write_json(file, {"format": FORMAT, "name": name, "key": request.key, "proof": proof})
    write_json(site.path / "site.json", {"name": name})
    keys.write_public_key(key.public_key(), site.path / "site.pub")
    keys.write_private_key(key, site.path / "site.key")  # last: until then the old one is the site's
    return request, file


def read_request(path: Path) -> SiteRequest:
    """The request in a file, once its proof holds."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from None
    if len(data) > MAX_BYTES:
        raise DataError(f"{path}: is no request: a request has at most {MAX_BYTES} bytes.")
    try:
        content = parse_json(data)
    except DataError as error:
        raise DataError(f"{path}: is no request: it {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"{path}: is no request of format {FORMAT!r}.")
    if set(content) != {"format", "name", "key", "proof"} or not all(
        isinstance(part, str) for part in content.values()
    ):
        raise DataError(f"{path}: is no request: it must have name, key and proof, all of them text.")
    request = SiteRequest(content["name"], content["key"])
    try:
        check_site_names([request.name])
        check_key("key", request.key)
        key = keys.public_key(request.key)
    except FedSieveError as error:
        raise DataError(f"{path}: {error}") from None
    if not keys.is_signed(key, request.signed, content["proof"]):
        raise DataError(
            f"{path}: its proof does not fit its name and key: it was changed on the way, or written by somebody who "
            "does not have the key. Ask the site to send it again."
        )
    return request


def check_admission(agreement: Agreement, requests: Sequence[SiteRequest], renew: str = "") -> None:
    """Refuse a request that would quietly replace a key, or give one key or name to two."""
    check_site_names(dict.fromkeys([*agreement.sites, *(request.name for request in requests)]))
    if len({request.name for request in requests}) < len(requests):
        raise ParameterError("--approve: two requests are of one site. Ask the site which one counts.")
    holders = {key: name for name, key in agreement.members.items() if key}
    for request in requests:
        known = agreement.members.get(request.name)
        if known and known != request.key and request.name != renew:
            raise ParameterError(
                f"{request.name!r} is a member with another key, {fingerprint(known)}. If the site made a new one "
                f"(ask it by phone), give --renew {request.name} too."
            )
        holder = holders.setdefault(request.key, request.name)
        if holder != request.name:
            raise ParameterError(f"{request.name!r} asks with the key of {holder!r}. Each must have its own.")


def approve(folder: ServerFolder, requests: Sequence[SiteRequest], renew: str = "") -> None:
    """Let the sites belong with the keys of their requests; any that was made here in their names is deleted."""
    check_admission(folder.agreement(), requests, renew)
    change_members(folder, {request.name: request.key for request in requests})


def check_own_place(site: SiteFolder, agreement: Agreement) -> None:
    """Refuse an agreement that names another key for this site than its own, or another operator than it knows."""
    own = keys.public_text(keys.read_private_key(site.path / "site.key").public_key())
    entry = agreement.members.get(site.name, "")
    if not entry:
        raise ProtocolError(
            f"the agreement in {site.name}'s folder has no key for it. Send {site.name}.request to the "
            "operator, or unpack the tar that was made after it was approved (fedsieve federation unpack)."
        )
    if entry != own:
        raise ProtocolError(
            f"the agreement in {site.name}'s folder names another key for it than its own ({fingerprint(entry)}, its "
            f"own is {fingerprint(own)}): whoever has that key could answer in its name. Ask the operator by phone."
        )
    operator = keys.public_text(keys.read_public_key(site.path / "operator.pub"))
    if agreement.members[SERVER] != operator:
        raise ProtocolError(
            f"the agreement in {site.name}'s folder names another operator's key than operator.pub, which is "
            f"{fingerprint(operator)}. "
            "Ask the operator by phone, and unpack the latest tar."
        )
