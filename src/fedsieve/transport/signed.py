"""Letters as they reach a joined site: signed by the operator, fresh, under its own agreement, with members only."""

import secrets
import time
from dataclasses import replace

from fedsieve.deployment import keys
from fedsieve.deployment.admission import check_own_place
from fedsieve.deployment.agreement import NAME
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import CodecError, ProtocolError, listed
from fedsieve.protocol import SERVER
from fedsieve.transport.endpoint import Letter
from fedsieve.transport.envelope import ANYONE, HELLO, digest, seal, unseal


class Signed:
    """Payloads in signed envelopes; a request that the operator did not sign is not answered at all."""

    def __init__(self, folder: SiteFolder) -> None:
        self._folder, self._name = folder, folder.name

    def open(self, data: bytes, *, to_anyone: bool = False) -> Letter:
        """Only what the operator signed."""
        envelope = unseal(data, {SERVER: keys.read_public_key(self._folder.path / "operator.pub")})
        if not NAME.fullmatch(envelope.run):  # it becomes a file's name here
            raise CodecError("a request of a run that has no proper name.")
        receiver = ANYONE if to_anyone else self._name
        reference = (envelope, digest(data), receiver)
        return Letter(envelope.run, envelope.round, envelope.payload, reference, envelope.kind, envelope.cohort)

    def refuse_foreign(self, letter: Letter, kind: str) -> None:
        """What the operator signed for another site or use, under another agreement, long ago, or with strangers."""
        envelope, _, receiver = letter.reference
        agreement = self._folder.agreement()
        envelope.require(sender=SERVER, receiver=receiver, kind=kind, agreement=agreement.fingerprint)
        envelope.require_fresh(time.time(), agreement.timeout_seconds)
        check_own_place(self._folder, agreement)
        strangers = sorted(set(letter.cohort) - set(agreement.approved))
        if strangers:
            raise ProtocolError(f"is asked to take part with {listed(strangers)}, no member of its agreement.")
        if kind != HELLO and self._name not in letter.cohort:
            raise ProtocolError("is asked for a run of which it is said to be no part.")

    def seal(self, letter: Letter, payload: bytes) -> bytes:
        """Names the one request that it answers."""
        request, about, _ = letter.reference
        fresh = {"time": int(time.time()), "nonce": secrets.token_hex(16), "cohort": ()}
        reply = replace(request, sender=self._name, receiver=SERVER, about=about, payload=payload, **fresh)
        return seal(reply, keys.read_private_key(self._folder.path / "site.key"))
