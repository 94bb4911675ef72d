"""The server's end of signed letters: requests are sealed and replies opened here, whatever engine carries them."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from fedsieve.deployment import keys
from fedsieve.deployment.folders import ServerFolder
from fedsieve.deployment.keys import PrivateKey, PublicKey
from fedsieve.errors import CodecError
from fedsieve.messages import Reply
from fedsieve.protocol import SERVER
from fedsieve.transport.codec import decode
from fedsieve.transport.envelope import ANYONE, Envelope, digest, seal, unseal

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

    def seal(self, round_: int, receiver: str | None, payload: bytes) -> bytes:
        """A request to a site, or to whoever is there (`None`)."""
        nonce = secrets.token_hex(16)  # makes every request one of its kind, so that no old reply fits it
        return seal(Envelope(self.run, self.agreement, round_, SERVER, receiver or ANYONE, nonce, payload), self.key)

    def open(self, data: bytes, sender: str | None, round_: int, request: bytes) -> Envelope:
        """The envelope of a genuine reply to this request, of this sender or any site (`None`); else `CodecError`."""
        if len(data) > self.max_bytes + MAX_ENVELOPE:
            raise CodecError(f"{len(data)} bytes are above the limit of {self.max_bytes}.")
        envelope = unseal(data, self.public_keys)
        if sender is not None:
            envelope.require(sender=sender)
        about = digest(request)
        envelope.require(receiver=SERVER, run=self.run, round=round_, about=about, agreement=self.agreement)
        return envelope

    def read(self, envelope: Envelope) -> Reply:
        """The reply in an envelope; `CodecError` for anything else."""
        reply = decode(envelope.payload, max_bytes=self.max_bytes)
        if not isinstance(reply, Reply):
            raise CodecError(f"it is {type(reply).__name__}, a request.")
        return reply
