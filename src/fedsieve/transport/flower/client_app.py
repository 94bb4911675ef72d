"""The ClientApp: one request, one answer. Each message may be met by a new process, so what must last lies on disk."""

import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from fedsieve.arrays import Float
from fedsieve.deployment import keys
from fedsieve.deployment.agreement import NAME
from fedsieve.deployment.folders import SiteFolder, make_private
from fedsieve.deployment.logs import site_log
from fedsieve.errors import CodecError, FedSieveError
from fedsieve.files import write_atomically
from fedsieve.protocol import SERVER, Client
from fedsieve.protocol import messages as m
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.envelope import ANYONE, Envelope, digest, seal, unseal
from fedsieve.transport.flower.guard import SITE
from fedsieve.transport.flower.parcels import HELLO, unwrap, wrap

MAX_RESULT = 1 << 28  # bytes of an unpacked result: names and scores of a million features
SITES = "FEDSIEVE_SITES"  # in a simulation: the folder with all sites' folders

Act: TypeAlias = Callable[[SiteFolder, Envelope], bytes]

app = ClientApp()


@app.query("step")
def step(message: Message, context: Context) -> Message:
    """Answer one request of the protocol."""
    return reply_from(site_folder(context), message, _answer)


@app.query("result")
def result(message: Message, context: Context) -> Message:
    """Take the result of a run."""
    return reply_from(site_folder(context), message, take_result)


@app.query("hello")
def hello(message: Message, context: Context) -> Message:
    """Say who this is: the envelope's signature is the answer."""
    return reply_from(site_folder(context), message, lambda _site, _envelope: b"")


def site_folder(context: Context) -> SiteFolder:
    """Where this process finds its site's folder."""
    place = context.node_config.get("site") or os.environ.get(SITE)
    if place:
        return SiteFolder(Path(str(place)))
    names = sorted(path for path in Path(os.environ[SITES]).iterdir() if path.is_dir())
    return SiteFolder(names[int(context.node_config["partition-id"])])


def reply_from(site: SiteFolder, message: Message, act: Act) -> Message:
    """What `act` makes of a request, signed; a refusal where it cannot, or where the request is not for this site.

    A request that the operator did not sign is not answered at all: the error goes to the engine.
    """
    data = unwrap(message)
    request = unseal(data, {SERVER: keys.read_public_key(site.path / "operator.pub")})
    if not NAME.fullmatch(request.run):  # it becomes a file's name here
        raise CodecError("a request of a run that has no proper name.")
    log = site_log(site, request.run)
    kind = message.metadata.message_type
    try:
        receiver = ANYONE if kind == HELLO else site.name
        request.require(sender=SERVER, receiver=receiver, agreement=site.agreement().fingerprint)
        payload = act(site, request)
        log.info("%s of round %d: answered with %d bytes", kind, request.round, len(payload))
    except FedSieveError as reason:
        log.warning("%s of round %d: refused: %s", kind, request.round, reason)
        payload = encode(m.Refusal(str(reason)))
    except Exception as error:  # its text could hold data, so only its kind is told
        log.error("%s of round %d: failed: %s", kind, request.round, type(error).__name__)
        payload = encode(m.Refusal(f"failed with {type(error).__name__}; see the site's log."))
    answer = Envelope(
        request.run, request.agreement, request.round, site.name, SERVER, about=digest(data), payload=payload
    )
    return Message(wrap(seal(answer, keys.read_private_key(site.path / "site.key"))), reply_to=message)


def _answer(site: SiteFolder, envelope: Envelope) -> bytes:
    request = decode(envelope.payload)
    if not isinstance(request, m.Request):
        raise CodecError(f"was sent {type(request).__name__}, no request.")
    rows = site.rows()
    policy = site.agreement().policy
    policy.check(request, rows.X.shape[0])
    if isinstance(request, m.AskInformation):
        site.allow_bins(digest(envelope.payload))
    reply = Client(rows, SumsOnDisk(site, envelope.run)).answer(request)
    policy.check_answer(reply)
    return encode(reply)


def take_result(site: SiteFolder, envelope: Envelope) -> bytes:
    """Keep the result in the site's folder."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(envelope.payload, MAX_RESULT)
    except zlib.error:
        raise CodecError("was sent a result that cannot be unpacked.") from None
    if unpacking.unconsumed_tail:
        raise CodecError(f"was sent a result above {MAX_RESULT} bytes.")
    folder = make_private(site.results / envelope.run)
    write_atomically(folder / "selection.json", lambda file: file.write_bytes(text))
    return b""


class SumsOnDisk:
    """A client's memory that outlives its process: one file per run, for the site's eyes only."""

    def __init__(self, site: SiteFolder, run: str) -> None:
        self._file = site.prepared / f"sums-{Path(run).name}.npy"

    def keep(self, sums: Float) -> None:
        """Write the sums in one step."""

        def save(path: Path) -> None:
            with path.open("wb") as file:
                np.save(file, sums)

        write_atomically(self._file, save, mode=keys.PRIVATE)

    def recall(self) -> Float | None:
        """Read them again."""
        if not self._file.is_file():
            return None
        sums: Float = np.load(self._file)
        return sums
