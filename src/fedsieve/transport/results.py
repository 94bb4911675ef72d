"""What a site makes of a result that the server sends: kept is only a whole selection of what was agreed on.

Bounded before it is unpacked, unpacked before it is read, read before it is believed; the first fault names itself.
"""

import json
import zlib
from collections.abc import Iterator
from types import NoneType
from typing import Any, TypeGuard

from fedsieve.deployment.agreement import Agreement
from fedsieve.errors import CodecError, DataError, listed
from fedsieve.protocol import SentMessage
from fedsieve.reading import parse_json
from fedsieve.selection_file import FORMAT, selection_text
from fedsieve.text import visible

BASE_BYTES = 4_000_000  # for parameters, versions, and what a method tells of the whole
SITE_BYTES = 300_000  # for a site: its reason, its share of the transcript of a thousand rounds
NUMBER_BYTES = 64  # of one number beside a feature's name, indented
PER_FEATURE = 32  # numbers that a method may tell of each feature

SECTIONS = {
    "parameters": dict,
    "dropped": dict,
    "versions": dict,
    "bytes": dict,
    "federation": dict,
    "transcript": list,
}
MESSAGE = SentMessage.__annotations__


def read_result(payload: bytes, agreement: Agreement, run: str) -> str:
    """The text of a result, to be written as it is; `CodecError` says what is wrong with one that is not kept."""
    record = _parsed(_unpacked(payload, most_bytes(agreement)))
    fault = next(_faults(record, agreement, run), None)
    if fault is not None:
        raise CodecError(f"was sent a result that is no whole selection: {visible(fault)[:300]}.")
    return selection_text(record)


def most_bytes(agreement: Agreement) -> int:
    """How long the text of an honest result can be."""
    names = sum(len(json.dumps(name)) for name in agreement.method.features)
    numbers = PER_FEATURE * (names + NUMBER_BYTES * len(agreement.method.features))
    return BASE_BYTES + SITE_BYTES * len(agreement.sites) + numbers


def _unpacked(payload: bytes, most: int) -> bytes:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(payload, most)
    except zlib.error:
        raise CodecError("was sent a result that cannot be unpacked.") from None
    if unpacking.unconsumed_tail:
        raise CodecError(f"was sent a result above {most} bytes.")
    if not unpacking.eof:
        raise CodecError("was sent a result that is cut.")
    return text


def _parsed(text: bytes) -> Any:
    try:
        return parse_json(text)
    except DataError as error:
        raise CodecError(f"was sent a result that {error}") from None


def _faults(record: Any, agreement: Agreement, run: str) -> Iterator[str]:
    """What is wrong with a record, each thing in the order in which the next one relies on it."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        yield f"its format is not {FORMAT!r}"
        return
    features, method = agreement.method.features, agreement.method.name
    if record.get("method") != method:
        yield f"its method is not the agreed {method!r}"
    if record.get("labels") != list(agreement.labels):
        yield "its labels are not the agreed ones"
    order, selected = record.get("order"), record.get("selected")
    if not _are_names(order) or sorted(order) != sorted(features):
        yield f"its order is not of the agreed {len(features)} features, each once"
        return
    if not _are_names(selected) or not selected or selected != order[: len(selected)]:
        yield "what it selected is not the beginning of its order"
    if not _are_names(record.get("columns")):
        yield "its columns are no list of names"
        return
    for column in record["columns"]:
        yield from _column_faults(column, record.get(column), set(features))
    rows = {"n_rows": NoneType if agreement.method.secure else dict}  # of single sites, where they are seen
    missing = [name for name, kind in (SECTIONS | rows).items() if not isinstance(record.get(name, ""), kind)]
    if missing:
        yield f"it lacks {listed(missing)}"
        return
    if record["federation"].get("run") != run:
        yield "it is of another run than the one whose result it is said to be"
    if not all(_is_message(entry) for entry in record["transcript"]):
        yield "an entry of its transcript is not of the expected form"


def _column_faults(column: str, values: Any, features: set[str]) -> Iterator[str]:
    if not isinstance(values, dict) or set(values) != features:
        yield f"its column {column!r} is not of the agreed features"
    elif not all(value is None or _is_number(value) or _is_name(value, features) for value in values.values()):
        yield f"its column {column!r} holds something that is neither number nor feature"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _is_name(value: Any, features: set[str]) -> bool:
    return isinstance(value, str) and value in features


def _are_names(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_message(entry: Any) -> bool:
    return isinstance(entry, dict) and {name: type(value) for name, value in entry.items()} == MESSAGE
