"""Messages survive the journey as bytes to the last bit, and nothing else does."""

import dataclasses
import hashlib
import json
from types import NoneType
from typing import get_args, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedsieve import messages as m
from fedsieve.arrays import Bytes, Float, Int
from fedsieve.errors import CodecError
from fedsieve.transport.codec import DIGEST, LENGTH, MAGIC, decode, encode, encoded_size
from message_examples import kinds

names = st.lists(st.text(max_size=8), max_size=4).map(tuple)
numbers = st.integers(-(2**62), 2**62)
floats = hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, min_side=0, max_side=4))
counts = hnp.arrays(np.int64, hnp.array_shapes(max_dims=2, min_side=0, max_side=5))
raw = hnp.arrays(np.uint8, hnp.array_shapes(max_dims=3, min_side=0, max_side=5))
OF_TYPE = {int: numbers, str: st.text(max_size=9), tuple[str, ...]: names, Float: floats, Int: counts, Bytes: raw}


def drawn(hint):
    """Values of a field's type."""
    choices = get_args(hint)
    if NoneType in choices:
        return st.none() | drawn(next(choice for choice in choices if choice is not NoneType))
    return built(hint) if dataclasses.is_dataclass(hint) else OF_TYPE[hint]


def built(kind):
    hints = get_type_hints(kind)
    return st.builds(kind, **{field.name: drawn(hints[field.name]) for field in dataclasses.fields(kind)})


EACH = {kind: built(kind) for kind in kinds()}
MESSAGES = st.one_of(*EACH.values())


def assert_same(first, second):
    assert type(first) is type(second)
    for field in dataclasses.fields(first):
        a, b = getattr(first, field.name), getattr(second, field.name)
        if dataclasses.is_dataclass(a):
            assert_same(a, b)
        elif isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b


@settings(max_examples=20)
@pytest.mark.parametrize("kind", EACH, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_message_comes_back_as_it_was_and_its_size_is_known_without_encoding(kind, data):
    message = data.draw(EACH[kind])
    assert_same(decode(encode(message)), message)
    assert encoded_size(message) == len(encode(message))


@settings(max_examples=300)
@given(MESSAGES, st.data())
def test_any_changed_byte_is_refused(message, data):
    encoded = bytearray(encode(message))
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(CodecError):
        decode(bytes(encoded))


@given(MESSAGES, st.data())
def test_any_cut_or_lengthened_message_is_refused(message, data):
    encoded = encode(message)
    for wrong in (encoded[: data.draw(st.integers(0, len(encoded) - 1))], encoded + b"\0"):
        with pytest.raises(CodecError):
            decode(wrong)


@given(st.binary(max_size=200))
def test_noise_is_refused(noise):
    with pytest.raises(CodecError, match="no message of version FSV3"):
        decode(noise)


def sealed(header, payload=b""):
    """A message with a right digest and whatever content."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = MAGIC + LENGTH.pack(len(text)) + text + payload
    return body + hashlib.sha256(body).digest()


ARRAY = {"array": "f8", "shape": [1]}


@pytest.mark.parametrize(
    "data",
    [
        sealed(b"not json"),
        sealed([]),
        sealed({"kind": "Bomb", "fields": {}}),
        sealed({"kind": "Refusal", "fields": {"reason": 3}}),
        sealed({"kind": "Refusal", "fields": {}}),
        sealed({"kind": "Refusal", "fields": {"reason": "x", "more": 1}}),
        sealed({"kind": "Refusal", "fields": {"reason": "x"}, "more": 1}),
        sealed({"kind": "Refusal", "fields": {"reason": "x"}}, b"trailing"),
        sealed({"kind": "Scaling", "fields": {"low": None, "high": None}}),
        sealed({"kind": "PairSums", "fields": {"n_rows": 2, "features": ["a"], "upper": ARRAY}}),
        sealed({"kind": "PairSums", "fields": {"n_rows": True, "features": ["a"], "upper": ARRAY}}, bytes(8)),
        sealed({"kind": "PairSums", "fields": {"n_rows": 2.0, "features": ["a"], "upper": ARRAY}}, bytes(8)),
        sealed(
            {"kind": "PairSums", "fields": {"n_rows": 2, "features": ["a"], "upper": {"array": "i8", "shape": [1]}}},
            bytes(8),
        ),
        sealed(
            {"kind": "PairSums", "fields": {"n_rows": 2, "features": ["a"], "upper": {"array": "f8", "shape": [-1]}}},
            bytes(8),
        ),
        sealed(
            {
                "kind": "PairSums",
                "fields": {"n_rows": 2, "features": ["a"], "upper": {"array": "f8", "shape": [2**60, 2**60]}},
            },
            bytes(8),
        ),
        sealed({"kind": "PairSums", "fields": {"n_rows": 2, "features": ["a"], "upper": None}}),
        sealed(
            {"kind": "AskRanges", "fields": {"columns": {"kind": "Scaling", "fields": {"low": None, "high": None}}}}
        ),
        sealed(b'{"kind":' * 5000),
    ],
)
def test_well_sealed_nonsense_is_refused(data):
    with pytest.raises(CodecError):
        decode(data)


def test_a_well_sealed_message_of_this_helper_is_accepted():
    # So that the refusals above are for their content, not for how the helper seals.
    message = decode(
        sealed(
            {"kind": "PairSums", "fields": {"n_rows": 2, "features": ["a"], "upper": ARRAY}}, np.array([7.0]).tobytes()
        )
    )
    assert message.upper[0] == 7
    assert DIGEST == 32


def test_another_version_is_told_apart():
    encoded = bytearray(encode(m.Refusal("x")))
    encoded[3:4] = b"9"
    with pytest.raises(CodecError, match="Do all sites run one version"):
        decode(bytes(encoded))


def test_a_message_above_the_limit_is_not_even_hashed():
    encoded = encode(m.Refusal("x" * 100))
    with pytest.raises(CodecError, match="above the limit of 50"):
        decode(encoded, max_bytes=50)
    assert decode(encoded, max_bytes=len(encoded)).reason == "x" * 100


def test_decoded_arrays_cannot_be_written_to():
    message = decode(encode(m.PairSums(2, ("a", "b"), np.ones(3))))
    with pytest.raises(ValueError, match="read-only"):
        message.upper[0] = 2
