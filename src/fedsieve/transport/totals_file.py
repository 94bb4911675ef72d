"""`totals.bin`: what all sites of a run said together, on disk, for the operator's eyes only.

Holds the method with its parameters, the words of columns of text, each request's SHA-256 with the total of the replies
to it, and digests of the labeled rows and of the result that belong to it. No reply of a single site, and no labeled
row.
"""

import hashlib
import json
import struct
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.categories import Categories
from fedsieve.errors import CodecError, DataError, FedSieveError
from fedsieve.files import write_atomically
from fedsieve.messages import Reply, Request
from fedsieve.methods import Method, method_named
from fedsieve.protocol import Labeled
from fedsieve.protocol.totals import KeptTotals
from fedsieve.reading import parse_json
from fedsieve.transport.codec import DIGEST, decode, encode

TOTALS = "totals.bin"
FORMAT = "fedsieve-totals/1"
LENGTH = struct.Struct("<I")
PRIVATE = 0o600


@dataclass(frozen=True)
class Words:
    """How the labeled rows became numbers, so that their file can be read in the same way again."""

    categories: Categories = field(default_factory=dict)
    dates: tuple[str, ...] = ()


AS_NUMBERS = Words()


@dataclass(frozen=True, eq=False)
class Totals:
    """The totals of a run with what they belong to: the method, the labeled rows, and the result, by their digests."""

    method: Method
    labeled: str
    told: tuple[tuple[str, Reply], ...]  # the request's SHA-256, and the total of the replies to it
    unseen: str
    noise_shares: int
    result: str = ""
    words: Words = AS_NUMBERS

    @classmethod
    def of(
        cls,
        method: Method,
        labeled: Labeled,
        kept: KeptTotals,
        record: dict[str, Any] | None = None,
        words: Words = AS_NUMBERS,
    ) -> "Totals":
        """Those of a run that has ended."""
        told = tuple((request_digest(request), total) for request, total in kept.told)
        result = "" if record is None else result_digest(record)
        return cls(method, labeled_digest(labeled), told, kept.unseen, kept.noise_shares, result, words)


def write_totals(totals: Totals, file: Path) -> None:
    """Write them, in one step, for the owner alone."""
    write_atomically(file, lambda path: path.write_bytes(_pack(totals)), mode=PRIVATE)


def read_totals(file: Path) -> Totals:
    """Read them; `DataError` for anything that `write_totals` of this version did not write."""
    try:
        return _unpack(file.read_bytes())
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}.") from None
    except (FedSieveError, struct.error, KeyError, TypeError, ValueError) as error:
        reason = str(error).rstrip(".") if isinstance(error, FedSieveError) else "it is cut or damaged"
        raise DataError(f"{file}: are no totals of format {FORMAT!r}: {reason}. It takes a new run.") from None


def request_digest(request: Request) -> str:
    """By which a request is known again."""
    return hashlib.sha256(encode(request)).hexdigest()


def labeled_digest(labeled: Labeled) -> str:
    """By which labeled rows are known again."""
    digest = hashlib.sha256(json.dumps([labeled.X.shape, labeled.Y.shape]).encode())
    for values in (labeled.X, labeled.Y, *(() if labeled.weights is None else (labeled.weights,))):
        digest.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    return digest.hexdigest()


def result_digest(record: dict[str, Any]) -> str:
    """By which a result is known again, whatever is added to its record."""
    return hashlib.sha256(json.dumps([record["order"], record["scores"]], sort_keys=True).encode()).hexdigest()


def _pack(totals: Totals) -> bytes:
    """The SHA-256 of all that follows; the header's length; the header; the totals one after another."""
    replies = [encode(total) for _, total in totals.told]
    header = {
        "format": FORMAT,
        "method": totals.method.name,
        "parameters": {field.name: getattr(totals.method, field.name) for field in fields(totals.method)},
        "labeled": totals.labeled,
        "result": totals.result,
        "unseen": totals.unseen,
        "noise_shares": totals.noise_shares,
        "categories": totals.words.categories,
        "dates": totals.words.dates,
        "told": [[digest, len(reply)] for (digest, _), reply in zip(totals.told, replies, strict=True)],
    }
    text = json.dumps(header, default=dict).encode()
    content = b"".join([LENGTH.pack(len(text)), text, *replies])
    return hashlib.sha256(content).digest() + content


def _unpack(data: bytes) -> Totals:
    content = data[DIGEST:]
    if hashlib.sha256(content).digest() != data[:DIGEST]:
        raise CodecError("it does not match its SHA-256")
    (length,) = LENGTH.unpack_from(content)
    place = LENGTH.size + length
    header = parse_json(content[LENGTH.size : place])
    if header["format"] != FORMAT:
        raise CodecError(f"its format is {str(header['format'])[:40]!r}")
    told = []
    for digest, n_bytes in header["told"]:
        total = decode(content[place : place + n_bytes])
        if not isinstance(total, Reply):
            raise CodecError("it holds a request")
        told.append((digest, total))
        place += n_bytes
    parameters = {name: _tuples(value) for name, value in header["parameters"].items()}
    method = method_named(header["method"], "it")(**parameters)
    words = Words(_tuples(header["categories"]), _tuples(header["dates"]))
    of_run = (header["labeled"], tuple(told), header["unseen"], header["noise_shares"], str(header["result"]))
    return Totals(method, *of_run, words)


def _tuples(value: Any) -> Any:
    """Lists as the tuples that they were before they were written."""
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    return {key: _tuples(item) for key, item in value.items()} if isinstance(value, dict) else value
