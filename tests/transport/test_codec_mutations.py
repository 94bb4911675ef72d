"""Damaged messages are refused, and so are well-sealed ones that `encode` would not write, at no cost to the reader."""

import hashlib
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve import messages as m
from fedsieve.errors import CodecError
from fedsieve.transport import codec
from fedsieve.transport.codec import DIGEST, LENGTH, MAGIC, decode, encode
from transport.mutations import MUTATIONS, examples, mutated, sealed

KINDS = list(examples())
GB = 2**30


def with_header(text, payload=b"", length=None):
    """A message with this header, given as text or as plain values, and a right digest."""
    header = text if isinstance(text, bytes) else json.dumps(text, separators=(",", ":")).encode()
    return sealed(MAGIC + LENGTH.pack(len(header) if length is None else length) + header + payload)


def products(shape, payload=b"", n_rows=2, code="f8"):
    return with_header(
        {"kind": "Products", "fields": {"n_rows": n_rows, "values": {"array": code, "shape": shape}}}, payload
    )


def opened(message):
    """Header and array bytes of an encoded message."""
    data = encode(message)
    start = len(MAGIC) + LENGTH.size
    (length,) = LENGTH.unpack(data[len(MAGIC) : start])
    return json.loads(data[start : start + length]), data[start + length : -DIGEST]


def test_there_are_examples_of_every_kind():
    assert [*m.REQUESTS, *m.REPLIES] == KINDS
    assert all(encode(decode(encode(one))) == encode(one) for some in examples().values() for one in some)


@settings(max_examples=25)
@pytest.mark.parametrize("kind", KINDS)
@given(st.sampled_from(sorted(MUTATIONS)), st.integers(0, 2**32 - 1))
def test_any_mutation_of_any_kind_is_refused(kind, way, seed):
    rng = np.random.default_rng(seed)
    some = examples()
    message = some[kind][rng.integers(len(some[kind]))]
    other = some[KINDS[rng.integers(len(KINDS))]][0]
    with pytest.raises(CodecError):
        decode(mutated(way, encode(message), encode(other), rng))


@settings(max_examples=25)
@pytest.mark.parametrize("kind", KINDS)
@given(st.sampled_from(["bits flipped", "bytes overwritten", "block cut out", "blocks swapped"]), st.integers(0, 2**32))
def test_what_is_sealed_again_is_refused_or_reads_the_same_ever_after(kind, way, seed):
    body = encode(examples()[kind][0])[:-DIGEST]
    try:
        message = decode(sealed(mutated(way, body, b"", np.random.default_rng(seed))))
    except CodecError:
        return
    assert encode(decode(encode(message))) == encode(message)


ODD = [
    None,
    True,
    -1,
    1.0,
    1.5,
    10**30,
    "x",
    [],
    [1],
    ["x", None],
    {},
    {"array": "f8", "shape": [0]},
    {"kind": "Refusal"},
]


@settings(max_examples=40)
@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_a_changed_header_is_refused_or_encodes_to_what_it_said(kind, data):
    header, payload = opened(data.draw(st.sampled_from(examples()[kind])))
    places = list(inner(header))
    holder = data.draw(st.sampled_from(places))
    change = data.draw(st.sampled_from(["replace", "remove", "add", "rename"]))
    key = data.draw(st.sampled_from(sorted(holder)))
    if change == "replace":
        holder[key] = data.draw(st.sampled_from(ODD))
    elif change == "add":
        holder["more"] = data.draw(st.sampled_from(ODD))
    else:
        value = holder.pop(key)
        if change == "rename":
            holder[key + "_"] = value
    try:
        message = decode(with_header(header, payload))
    except CodecError:
        return
    assert change == "replace"  # a missing or unknown field is never read
    assert opened(message) == (header, payload)


def inner(header):
    """Every JSON object of a header."""
    yield header
    for value in header.values():
        if isinstance(value, dict) and value:
            yield from inner(value)


TEXT = '{"kind":"Refusal","fields":{"reason":"x"}}'
DAMAGED_HEADERS = {
    "a field twice": with_header(b'{"kind":"Refusal","fields":{"reason":"x","reason":"y"}}'),
    "a kind twice": with_header(b'{"kind":"AskRanges","kind":"Refusal","fields":{"reason":"x"}}'),
    "NaN": with_header(b'{"kind":"Refusal","fields":{"reason":NaN}}'),
    "Infinity": with_header(b'{"kind":"Products","fields":{"n_rows":Infinity,"values":{"array":"f8","shape":[0]}}}'),
    "-Infinity in a shape": with_header(
        b'{"kind":"Products","fields":{"n_rows":2,"values":{"array":"f8","shape":[-Infinity]}}}'
    ),
    "half a surrogate pair": with_header(b'{"kind":"Refusal","fields":{"reason":"\\ud800"}}'),
    "half a pair in a name": with_header(
        b'{"kind":"PairSums","fields":{"n_rows":2,"features":["\\udfff"],"upper":{"array":"f8","shape":[0]}}}'
    ),
    "UTF-16": with_header(TEXT.encode("utf-16")),
    "UTF-8 with a mark": with_header(TEXT.encode("utf-8-sig")),
    "bare UTF-8": with_header(TEXT.replace("x", "ß").encode()),
    "a length beyond the end": with_header(TEXT.encode(), length=2**32 - 1),
    "a length one too long": with_header(TEXT.encode(), length=len(TEXT) + 1),
    "a long whole number": with_header(TEXT.replace('"x"', "9" * 10_000).encode()),
    "n_rows true": products([1], bytes(8), n_rows=True),
    "n_rows 2.0": products([1], bytes(8), n_rows=2.0),
    "whole numbers for floats": products([1], bytes(8), code="i8"),
    "no such type": products([1], bytes(8), code="O"),
    "a negative size": products([-1], bytes(8)),
    "a negative size and nothing": products([-1]),
    "two negative sizes": products([-1, -1], bytes(8)),
    "a size that is true": products([True], bytes(8)),
    "2 GB": products([GB // 4], bytes(8)),
    "2^62 numbers": products([2**62], bytes(8)),
    "sizes that wrap around 2^64": products([2**32, 2**32], bytes(8)),
    "no numbers, of which 2^62": products([0, 2**62]),
    "no numbers, of which 2^70": products([0, 2**70]),
    "more axes than numpy has": products([1] * 100, bytes(8)),
    "part of a number": products([1], bytes(7)),
    "many lists": with_header(TEXT.replace('"x"', f"[{'[],' * 100}0]").encode()),
    "many objects": with_header(TEXT.replace('"x"', f"[{'{},' * 100}0]").encode()),
    "many numbers": with_header(TEXT.replace('"x"', f"[{'0,' * 2**20}0]").encode()),
    "a quote without an end": with_header(TEXT.replace('"}}', r"\"" * 1_000_000).encode()),
    "deep lists": with_header(b"[" * 100_000),
    "deep objects": with_header(b'{"kind":' * 100_000),
    "a deep field": with_header(TEXT.replace('"x"', "[" * 900 + "]" * 900).encode()),
}


@pytest.mark.parametrize("data", DAMAGED_HEADERS.values(), ids=DAMAGED_HEADERS)
def test_a_sealed_message_that_encode_would_not_write_is_refused(data):
    with pytest.raises(CodecError) as refused:
        decode(data)
    assert len(str(refused.value)) < 300
    str(refused.value).encode()  # can be printed


def test_the_helper_seals_what_is_accepted():
    assert decode(with_header(TEXT.encode())).reason == "x"
    assert decode(products([1], bytes(8))).values == [0]


@pytest.mark.parametrize("shape", [[GB // 4], [2**31, 1], [2**62], [2**20, 2**20, 2**20], [0, GB // 4]])
def test_a_claim_of_gigabytes_takes_no_memory(shape):
    data = products(shape, bytes(64))
    tracemalloc.start()
    try:
        with pytest.raises(CodecError):
            decode(data)
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


def test_a_shape_of_many_long_numbers_is_not_multiplied():
    with pytest.raises(CodecError, match="no shape"):
        decode(products([10**4000] * 1000))


def test_a_header_that_would_fill_the_memory_is_not_parsed(monkeypatch):
    monkeypatch.setattr(codec, "MAX_HEADER", 1000)
    monkeypatch.setattr(codec.json, "loads", lambda *_, **__: pytest.fail("parsed"))
    with pytest.raises(CodecError, match="claims 3000 bytes; it is cut, or above 1000"):
        decode(with_header(b"[]," * 1000))


def test_what_is_in_names_does_not_count_as_lists_and_values():
    names = tuple(f'{{"{i}":[[[{{{{,,\\"' for i in range(1000))
    message = m.AskRanges(m.Columns(names, names, "error"))
    assert decode(encode(message)).columns.features == names


BOMBS = {
    "empty lists": b"[]",
    "empty objects": b"{}",
    "objects": b'{"a":1}',
    "short names": b'"ab"',
    "numbers": b"1000",
}


@pytest.mark.parametrize("unit", BOMBS.values(), ids=BOMBS)
def test_a_header_that_would_grow_is_refused_without_being_parsed(unit, monkeypatch):
    """Before, 32 MB of empty objects took 25 s and 850 MB to refuse."""
    data = with_header(b"[" + b",".join([unit] * (codec.MAX_ITEMS + 1)) + b"]")
    monkeypatch.setattr(codec.json, "loads", lambda *_, **__: pytest.fail("parsed"))
    tracemalloc.start()
    try:
        with pytest.raises(CodecError, match="lists and objects or"):
            decode(data)
        assert tracemalloc.get_traced_memory()[1] < 3 * len(data)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("character", ["x", "漢"])
def test_names_of_many_features_are_read_in_memory_that_is_in_proportion(character):
    names = tuple(f"{i:06d}".ljust(64, character) for i in range(50_000))
    data = encode(m.AskRanges(m.Columns(names, (), "error")))
    tracemalloc.start()
    try:
        assert decode(data).columns.features == names
        assert tracemalloc.get_traced_memory()[1] < 4 * len(data)
    finally:
        tracemalloc.stop()


def test_a_message_above_the_limit_is_neither_hashed_nor_parsed(monkeypatch):
    data = encode(m.Refusal("x" * 1000))
    monkeypatch.setattr(hashlib, "sha256", lambda *_: pytest.fail("hashed"))
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("parsed"))
    with pytest.raises(CodecError, match="above the limit of 999"):
        decode(data, max_bytes=999)


def test_a_changed_message_is_not_parsed(monkeypatch):
    data = bytearray(encode(m.Refusal("x")))
    data[20] ^= 1
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("parsed"))
    with pytest.raises(CodecError, match="SHA-256"):
        decode(bytes(data))
