"""The server's end of signed letters: requests are sealed and replies opened here, whatever engine carries them."""

import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fedsieve.deployment import keys
from fedsieve.deployment.keys import PrivateKey, PublicKey
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import CodecError
from fedsieve.messages import Reply
from fedsieve.protocol import SERVER
from fedsieve.transport.codec import decode
from fedsieve.transport.envelope import ANYONE, CLOCK_SECONDS, STEP, Envelope, digest, seal, unseal

MAX_ENVELOPE = 8192  # bytes that an envelope may add to a message


@dataclass
class Operator:
    """Signs for the server of one run, and believes only what a site signed for it."""

    run: str
    agreement: str
    key: PrivateKey
    public_keys: Mapping[str, PublicKey]
    max_bytes: int

    @classmethod
    def of(cls, folder: ServerFolder, run: str) -> "Operator":
        """The operator whose folder this is."""
        agreement = folder.agreement()
        return cls(
            run,
            agreement.fingerprint,
            keys.read_private_key(folder.server / "operator.key"),
            folder.public_keys(agreement.sites),
            agreement.method.max_message_bytes,
        )

    def seal(
        self, round_: int, receiver: str | None, payload: bytes, *, kind: str = STEP, cohort: Iterable[str] = ()
    ) -> bytes:
        """A request to a site, or to whoever is there (`None`); `cohort` are all sites that take part now."""
        envelope = Envelope(
            run=self.run,
            agreement=self.agreement,
            round=round_,
            sender=SERVER,
            receiver=receiver or ANYONE,
            time=int(time.time()),
            kind=kind,
            nonce=secrets.token_hex(16),  # makes every request one of its kind, so that no old reply fits it
            about="",
            cohort=tuple(sorted(cohort)),
            payload=payload,
        )
        return seal(envelope, self.key)

    def open(self, data: bytes, sender: str | None, round_: int, request: bytes, *, kind: str = STEP) -> Envelope:
        """The envelope of a genuine reply to this request, of this sender or any site (`None`); else `CodecError`."""
        if len(data) > self.max_bytes + MAX_ENVELOPE:
            raise CodecError(f"{len(data)} bytes are above the limit of {self.max_bytes}.")
        envelope = unseal(data, self.public_keys)
        if sender is not None:
            envelope.require(sender=sender)
        about = digest(request)
        envelope.require(receiver=SERVER, run=self.run, round=round_, about=about, agreement=self.agreement, kind=kind)
        return envelope

    def read(self, envelope: Envelope) -> Reply:
        """The reply in an envelope; `CodecError` for anything else."""
        reply = decode(envelope.payload, max_bytes=self.max_bytes)
        if not isinstance(reply, Reply):
            raise CodecError(f"it is {type(reply).__name__}, a request.")
        return reply


def clock_difference(reply: Envelope) -> int:
    """By how many seconds the sender's clock seems to be ahead (or behind, negative); 0 where that is tolerable.

    For information only: which request a reply answers does not depend on anybody's clock.
    """
    ahead = reply.time - int(time.time())
    return ahead if abs(ahead) > CLOCK_SECONDS else 0
