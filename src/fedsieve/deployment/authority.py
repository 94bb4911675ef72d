"""The operator vouches for the federation's certificate authority: `ca.sig`, a signature over `ca.crt`.

A site consents to an agreement, and with it to the operator's key, which people compare by phone. The authority that it
trusts for TLS comes in a file of its own; without the signature, whoever changed that file on its way could stand
between the site and the server and read what the site answers.
"""

from fedsieve.deployment import keys
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.folders import SIGNATURE
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, ProtocolError
from fedsieve.files import write_atomically
from fedsieve.protocol import SERVER

MEANING = b"fedsieve-authority/1\n"  # so that no other signature of the operator's can be taken for one of these
MAX_BYTES = 4096  # of a signature; ours have some hundred


def vouch_for_authority(folder: ServerFolder) -> None:
    """Sign the authority's certificate, once: a federation keeps its authority and its operator's key."""
    if (folder.server / SIGNATURE).is_file():
        return
    certificate = (folder.server / "ca.crt").read_bytes()
    signature = keys.signature_text(keys.read_private_key(folder.server / "operator.key"), MEANING + certificate)
    write_atomically(folder.server / SIGNATURE, lambda file: file.write_text(signature, encoding="ascii"))


def check_authority(site: SiteFolder, agreement: Agreement) -> None:
    """Refuse a site's folder whose authority the operator, as the agreement names it, did not sign."""
    if not (site.path / SIGNATURE).is_file():
        raise ProtocolError(
            f"{site.name}'s folder has no {SIGNATURE}, by which the operator vouches for ca.crt: it was made by an "
            "earlier version. Ask the operator for a new tar ('fedsieve federation pack'), and unpack it over this one."
        )
    try:
        certificate = (site.path / "ca.crt").read_bytes()
        with (site.path / SIGNATURE).open("rb") as file:
            signature = file.read(MAX_BYTES)
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read: {error.strerror}.") from None
    if not keys.is_signed(keys.public_key(agreement.members[SERVER]), MEANING + certificate, signature):
        raise ProtocolError(
            f"{site.name}'s folder: ca.crt is not the one that the operator vouches for ({SIGNATURE}). Whoever changed "
            "it could listen between this site and the server. Ask the operator by phone, and unpack the latest tar."
        )
