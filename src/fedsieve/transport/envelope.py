"""A message with its sender's signature: who says what to whom, when, in which run and round, under which agreement.

The engine knows which key opened a connection; the envelope binds a key to the content, so that no site can speak for
another. An old message cannot be sent again: a request expires, and a reply names the one request it answers.
"""

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec

from fedsieve.deployment.keys import ALGORITHM
from fedsieve.errors import CodecError

MAGIC = b"FSE2"
LENGTHS = struct.Struct("<II")  # of the header and of the signature
MAX_COHORT = 4096  # names, of at most 64 characters each
MAX_HEADER = 4096 + 67 * MAX_COHORT
MAX_NUMBER = 2**53  # above any round and any time
CLOCK_SECONDS = 60  # by which the clocks of two machines may differ
ANYONE = "?"  # the receiver of a message that asks who is there
STEP, RESULT, HELLO = "step", "result", "hello"  # kinds: a round's request, a run's result, a question who is there
AFTER = "after"  # a request of what follows a run


@dataclass(frozen=True)
class Envelope:
    """What is signed besides the payload. A reply repeats its request's kind and names the request in `about`."""

    run: str
    agreement: str
    round: int
    sender: str
    receiver: str
    time: int  # of sealing, in Unix seconds
    kind: str
    nonce: str  # fresh, so that no two messages are the same
    about: str  # the request's digest in a reply, else empty
    cohort: tuple[str, ...]  # in a request: all sites of the run, sorted; empty in a hello, and in replies
    payload: bytes

    def require(self, **expected: str | int) -> None:
        """Refuse an envelope that is genuine but belongs elsewhere."""
        for name, value in expected.items():
            if (got := getattr(self, name)) != value:
                raise CodecError(_WRONG[name].format(got=got, expected=value))

    def require_fresh(self, now: float, lifetime: float) -> None:
        """Refuse a request that is older than its lifetime, or of the future, as far as two clocks can tell."""
        age = int(now) - self.time
        if -CLOCK_SECONDS <= age <= lifetime + CLOCK_SECONDS:
            return
        when = f"{age} s ago by the server's clock" if age > 0 else f"{-age} s in the future by this machine's clock"
        raise CodecError(
            f"sent {when}; a request is answered for {lifetime:g} s (timeout_seconds), and clocks may differ by "
            f"{CLOCK_SECONDS} s. It is an old request sent again, or the clocks differ: compare the clocks of both "
            "machines."
        )


_WRONG = {
    "run": "belongs to run {got!r}, not to {expected!r}: an old message sent again.",
    "agreement": (
        "the two sides hold different agreements (federation.toml: {got:.12} and {expected:.12}). "
        "The operator's 'fedsieve federation pack' makes new site folders."
    ),
    "round": "belongs to round {got}, not to {expected}: an old message sent again.",
    "sender": "signed as {got!r}, but its key is registered for {expected!r}.",
    "receiver": "is addressed to {got!r}, not to {expected!r}.",
    "kind": "is a message of kind {got!r}, sent as {expected!r}.",
    "about": "answers another request than the one that was asked: an old reply sent again.",
}


def seal(envelope: Envelope, key: ec.EllipticCurvePrivateKey) -> bytes:
    """The signed bytes of an envelope."""
    fields = asdict(envelope)
    fields["payload"] = hashlib.sha256(envelope.payload).hexdigest()
    header = json.dumps(fields, separators=(",", ":")).encode()
    signature = key.sign(header, ALGORITHM)
    return b"".join([MAGIC, LENGTHS.pack(len(header), len(signature)), header, signature, envelope.payload])


def unseal(data: bytes, keys: Mapping[str, ec.EllipticCurvePublicKey]) -> Envelope:
    """The envelope in `data`, once its signature holds under the key of the sender it names; else `CodecError`."""
    start = len(MAGIC) + LENGTHS.size
    if data[: len(MAGIC)] != MAGIC or len(data) < start:
        raise CodecError(f"these bytes are no envelope of version {MAGIC.decode()}. Do all sites run one version?")
    n_header, n_signature = LENGTHS.unpack(data[len(MAGIC) : start])
    if n_header > MAX_HEADER or start + n_header + n_signature > len(data):
        raise CodecError("the envelope is cut or its header is too long.")
    header = data[start : start + n_header]
    signature = data[start + n_header : start + n_header + n_signature]
    payload = data[start + n_header + n_signature :]
    fields = _fields(header)
    key = keys.get(fields["sender"])
    if key is None:
        raise CodecError(f"signed as {fields['sender']!r}, for whom no key is registered.")
    try:
        key.verify(signature, header, ALGORITHM)
    except InvalidSignature:
        raise CodecError(f"the signature is not that of {fields['sender']!r}.") from None
    if hashlib.sha256(payload).hexdigest() != fields["payload"]:
        raise CodecError("the content does not match what was signed.")
    return Envelope(**{**fields, "cohort": tuple(fields["cohort"]), "payload": payload})


def digest(data: bytes) -> str:
    """By which a reply names its request."""
    return hashlib.sha256(data).hexdigest()


def _fields(header: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(header)
        typed = {name: type(value) for name, value in fields.items()}
    except (ValueError, AttributeError, RecursionError):
        raise CodecError("the envelope's header cannot be read.") from None
    if typed != _TYPES or not all(isinstance(name, str) for name in fields["cohort"]):
        raise CodecError(f"the envelope's header has other fields than version {MAGIC.decode()}.")
    if max(abs(fields["round"]), abs(fields["time"])) >= MAX_NUMBER:
        raise CodecError(f"the envelope's header has a number above {MAX_NUMBER}.")
    cohort = fields["cohort"]
    if len(cohort) > MAX_COHORT or not all(one < next_ for one, next_ in pairwise(cohort)):
        raise CodecError(f"the envelope's cohort must be at most {MAX_COHORT} names, sorted, none of them twice.")
    return fields  # type: ignore[no-any-return]


_TYPES = {
    name: {int: int, tuple[str, ...]: list}.get(annotation, str)
    for name, annotation in Envelope.__annotations__.items()
}
