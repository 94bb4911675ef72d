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
from fedsieve.selection_file import FORMAT
from fedsieve.text import visible

BASE_BYTES = 4_000_000  # for parameters, versions, and what a method tells of the whole
SITE_BYTES = 300_000  # for a site: its reason, its share of the transcript of a thousand rounds
NUMBER_BYTES = 64  # of one number beside a feature's name, indented
PER_FEATURE = 32  # numbers that a method may tell of each feature
WORDS_BYTES, LABELS_NAMED = 500, 2  # of a sentence about a feature besides names in it

SECTIONS = {
    "parameters": dict,
    "dropped": dict,
    "versions": dict,
    "bytes": dict,
    "federation": dict,
    "transcript": list,
}
MESSAGE = SentMessage.__annotations__


def read_result(payload: bytes, agreement: Agreement, run: str) -> dict[str, Any]:
    """The record of a result, to be written as it is; `CodecError` says what is wrong with one that is not kept."""
    record = _parsed(_unpacked(payload, most_bytes(agreement)))
    fault = next(_faults(record, agreement, run), None)
    if fault is not None:
        raise CodecError(f"was sent a result that is no whole selection: {visible(fault)[:300]}.")
    whole: dict[str, Any] = record
    return whole


def most_bytes(agreement: Agreement) -> int:
    """How long the text of an honest result can be."""
    features, labels = agreement.method.features, agreement.labels
    names = [len(json.dumps(name)) for name in features]
    of_labels = [len(json.dumps(name)) for name in labels]
    numbers = (PER_FEATURE + len(labels)) * (sum(names) + NUMBER_BYTES * len(features)) + sum(of_labels)
    words = len(features) * (WORDS_BYTES + max(names) + LABELS_NAMED * max(of_labels))
    return BASE_BYTES + SITE_BYTES * len(agreement.sites) + numbers + words


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
    enough = bool(selected) or agreement.method.may_select_none
    if not _are_names(selected) or not enough or selected != order[: len(selected)]:
        yield "what it selected is not the beginning of its order"
        return
    if len(selected) > (most := agreement.method.most_selected):  # after a run, rows of the selected columns may leave
        yield f"it selected {len(selected)} features, and at most {most} were agreed on (n_features_to_select)"
    if record.get("features") != list(features):
        yield "its features are not the agreed ones, in their order"
    columns = record.get("columns")
    if not _are_names(columns) or not all(name.isidentifier() for name in columns):  # titles of a table here
        yield "its columns are no list of names"
        return
    for column in columns:
        yield from _column_faults(column, record.get(column), set(features))
    yield from _reason_faults(record, agreement)
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


def _reason_faults(record: dict[str, Any], agreement: Agreement) -> Iterator[str]:
    """Reasons reach people's tables, so that words must be words: no formula, and nothing that steers a terminal."""
    features, per_label, why = set(agreement.method.features), record.get("per_label"), record.get("why")
    if per_label is not None and (not isinstance(per_label, dict) or list(per_label) != list(agreement.labels)):
        yield "what it tells of single labels is not of the agreed ones"
        return
    for label, values in (per_label or {}).items():
        if not isinstance(values, dict) or set(values) != features or not all(map(_is_told, values.values())):
            yield f"what it tells of the label {label!r} is no number of each agreed feature"
    if why is None:
        return
    if not isinstance(why, dict) or set(why) != features or not all(map(_is_sentence, why.values())):
        yield "its reasons are not one sentence for each agreed feature"


def _is_told(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_sentence(value: Any) -> bool:
    return isinstance(value, str) and value[:1].isalpha() and visible(value) == value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _is_name(value: Any, features: set[str]) -> bool:
    return isinstance(value, str) and value in features


def _are_names(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_message(entry: Any) -> bool:
    return isinstance(entry, dict) and {name: type(value) for name, value in entry.items()} == MESSAGE
