"""Messages as bytes and back: versioned, without pickle, sealed by a SHA-256 so that any mutation is refused.

Layout: 4 bytes magic with the version, 4 bytes header length (little-endian), the header (JSON: kind and fields, an
array as its type and shape), the arrays' bytes in the order of the header, and the SHA-256 of all that.
"""

import dataclasses
import hashlib
import json
import math
import struct
from collections import ChainMap
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np

from fedsieve.errors import CodecError
from fedsieve.messages import PARTS, REPLIES, REQUESTS, Reply, Request

Message: TypeAlias = Request | Reply

MAGIC = b"FSV3"
LENGTH = struct.Struct("<I")
DIGEST = hashlib.sha256().digest_size
MAX_HEADER = 1 << 25  # bytes: names of a million features
MAX_ITEMS = 1 << 20  # names, fields and other values in a header
MAX_OPENINGS = 100  # lists and objects in a header, hence also its depth: each takes far more memory than its brackets
MAX_AXES = 3

_MESSAGES: ChainMap[str, Any] = ChainMap(REQUESTS, REPLIES)
_TYPES: ChainMap[str, Any] = ChainMap(REQUESTS, REPLIES, PARTS)
_DTYPES: dict[str, np.dtype[Any]] = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8"), "u1": np.dtype("u1")}


def encode(message: Message) -> bytes:
    """The bytes of a message.

    >>> from fedsieve.messages import Refusal
    >>> decode(encode(Refusal("no rows today"))).reason
    'no rows today'
    """
    header, arrays = _pack(message)
    parts: list[Any] = [MAGIC, LENGTH.pack(len(header)), header, *(array.ravel().data for array in arrays)]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return b"".join([*parts, digest.digest()])  # arrays are copied once


def encoded_size(message: Message) -> int:
    """`len(encode(message))` without building the bytes."""
    header, arrays = _pack(message)
    return len(MAGIC) + LENGTH.size + len(header) + sum(array.nbytes for array in arrays) + DIGEST


def decode(data: bytes, *, max_bytes: int | None = None) -> Message:
    """The message in `data`; raises `CodecError` for anything that `encode` of this version did not write."""
    if max_bytes is not None and len(data) > max_bytes:
        raise CodecError(f"a message of {len(data)} bytes is above the limit of {max_bytes}.")
    start = len(MAGIC) + LENGTH.size
    if data[: len(MAGIC)] != MAGIC or len(data) < start + DIGEST:
        raise CodecError(f"these bytes are no message of version {MAGIC.decode()}. Do all sites run one version?")
    body, digest = memoryview(data)[:-DIGEST], data[-DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        raise CodecError("the message does not match its SHA-256: it was changed or cut on its way.")
    (length,) = LENGTH.unpack(data[len(MAGIC) : start])
    if length > min(len(body) - start, MAX_HEADER):
        raise CodecError(f"the message's header claims {length} bytes; it is cut, or above {MAX_HEADER}.")
    _check_size(bytes(body[start : start + length]))
    try:
        # As text: from bytes, json would guess at encodings that `encode` does not write.
        content = json.loads(str(body[start : start + length], "ascii"), object_pairs_hook=_once)
        reader = _Reader(body[start + length :])
        message = _unpack(content, reader)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CodecError(f"the message cannot be read: {str(error)[:200]}") from None
    if reader.left or type(message).__name__ not in _MESSAGES:
        raise CodecError("the message has bytes beyond its fields, or is only a part of one.")
    return message  # type: ignore[no-any-return]


def _pack(message: Message) -> tuple[bytes, list[np.ndarray[Any, Any]]]:
    arrays: list[np.ndarray[Any, Any]] = []

    def plain(value: Any) -> Any:
        if dataclasses.is_dataclass(value):
            fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
            return {"kind": type(value).__name__, "fields": fields}
        if isinstance(value, np.ndarray):
            code = "u1" if value.dtype == np.uint8 else "f8" if value.dtype.kind == "f" else "i8"
            arrays.append(np.ascontiguousarray(value, dtype=_DTYPES[code]))
            return {"array": code, "shape": list(value.shape)}
        if isinstance(value, np.integer):
            return int(value)
        return list(value) if isinstance(value, tuple) else value

    header = json.dumps(plain(message), separators=(",", ":"), allow_nan=False)
    return header.encode(), arrays


def _check_size(header: bytes) -> None:
    """Refuse a header that would grow when it is parsed, by its quotes and by what it has outside of its strings."""
    unescaped = header.replace(rb"\\", b"").replace(rb"\"", b"")  # each quote left begins or ends a string
    fits = unescaped.count(b'"') <= 2 * MAX_ITEMS
    if fits:
        outside = b"".join(unescaped.split(b'"')[::2])
        fits = outside.count(b"[") + outside.count(b"{") <= MAX_OPENINGS and outside.count(b",") < MAX_ITEMS
    if not fits:
        raise CodecError(f"the message's header has above {MAX_OPENINGS} lists and objects or {MAX_ITEMS} values.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; one that says a thing twice could be read in two ways."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"a field is given twice: {[name for name, _ in pairs]}")
    return dict(pairs)


def _unpack(content: Any, reader: "_Reader") -> Any:
    """A message or part from its header; every field must be there, nothing else, each of its type."""
    kind = _TYPES[content["kind"]]
    hints, given = _hints(kind), content["fields"]
    names = [field.name for field in dataclasses.fields(kind)]
    if set(given) != set(names) or set(content) != {"kind", "fields"}:
        raise ValueError(f"{content['kind']} has the fields {sorted(given)}; expected {sorted(names)}")
    return kind(**{name: _value(given[name], hints[name], reader) for name in names})


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(content: Any, hint: Any, reader: "_Reader") -> Any:
    choices = get_args(hint) if get_origin(hint) is UnionType or NoneType in get_args(hint) else (hint,)
    if content is None and NoneType in choices:
        return None
    (wanted,) = [choice for choice in choices if choice is not NoneType]
    if dataclasses.is_dataclass(wanted):
        part = _unpack(content, reader)
        if not isinstance(part, wanted):  # type: ignore[arg-type]
            raise TypeError(f"expected {wanted}, got {type(part).__name__}")
        return part
    if get_origin(wanted) is np.ndarray:
        (kind,) = get_args(get_args(wanted)[1])
        return reader.array(content, np.dtype(kind).str[1:])
    if get_origin(wanted) is tuple:
        if not isinstance(content, list) or not set(map(type, content)) <= {str}:
            raise TypeError("expected a list of names")
        _printable("".join(content))  # at once: a wide table has many
        return tuple(content)
    if type(content) is not wanted:
        raise TypeError(f"expected {wanted.__name__}, got {content!r}")
    return _printable(content) if wanted is str else content


def _printable(text: str) -> str:
    text.encode()  # half a surrogate pair raises here, not later in a log or a file
    return text


class _Reader:
    """Hands out the arrays' bytes in order."""

    def __init__(self, data: memoryview) -> None:
        self._data = data

    @property
    def left(self) -> int:
        return len(self._data)

    def array(self, content: Any, code: str) -> np.ndarray[Any, Any]:
        shape = content["shape"]
        if content["array"] != code or set(content) != {"array", "shape"}:
            raise TypeError(f"expected an array of {code}, got {content}")
        # The number of axes first: the product of a million long numbers would take hours.
        if (
            not isinstance(shape, list)
            or len(shape) > MAX_AXES
            or not all(type(size) is int and size >= 0 for size in shape)
        ):
            raise TypeError(f"no shape of an array: {shape}")
        n_bytes = math.prod(shape) * _DTYPES[code].itemsize
        if n_bytes > len(self._data):
            raise ValueError(f"an array of {n_bytes} bytes where {len(self._data)} are left")
        values = np.frombuffer(self._data[:n_bytes], dtype=_DTYPES[code]).reshape(shape)
        self._data = self._data[n_bytes:]
        return values
