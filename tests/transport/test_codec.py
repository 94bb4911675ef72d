"""Messages survive the journey as bytes to the last bit, and nothing else does."""

import dataclasses
import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedsieve.errors import CodecError
from fedsieve.protocol import messages as m
from fedsieve.transport.codec import DIGEST, LENGTH, MAGIC, decode, encode, encoded_size

names = st.lists(st.text(max_size=8), max_size=4).map(tuple)
numbers = st.integers(-(2**62), 2**62)
floats = hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, min_side=0, max_side=4))
counts = hnp.arrays(np.int64, hnp.array_shapes(max_dims=1, min_side=0, max_side=5))
tables_of_counts = hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=4))
columns = st.builds(m.Columns, names, names, st.text(max_size=9))
scalings = st.builds(m.Scaling, st.none() | floats, st.none() | floats)
relations = st.builds(m.Relation, columns, scalings, floats, st.text(max_size=9))
EACH = {
    m.AskRanges: st.builds(m.AskRanges, columns),
    m.AskMoments: st.builds(m.AskMoments, columns, scalings),
    m.AskRelations: st.builds(m.AskRelations, relations),
    m.AskPairSums: st.builds(m.AskPairSums, relations),
    m.AskProducts: st.builds(m.AskProducts, st.none() | relations, floats),
    m.AskInformation: st.builds(m.AskInformation, columns, names, scalings, numbers),
    m.AskCovariances: st.builds(m.AskCovariances, columns, names),
    m.AskPartialCorrelations: st.builds(m.AskPartialCorrelations, columns, names, counts, counts, tables_of_counts),
    m.AskScaledCovariances: st.builds(m.AskScaledCovariances, columns, scalings),
    m.AskProjections: st.builds(m.AskProjections, columns, scalings, floats),
    m.Ranges: st.builds(m.Ranges, numbers, names, floats, floats),
    m.Moments: st.builds(m.Moments, numbers, names, counts, floats, floats, numbers),
    m.Relations: st.builds(m.Relations, numbers, names, floats),
    m.PairSums: st.builds(m.PairSums, numbers, names, floats),
    m.Products: st.builds(m.Products, numbers, floats),
    m.Information: st.builds(m.Information, numbers, names, names, floats, floats),
    m.Covariances: st.builds(m.Covariances, numbers, names, names, floats, floats),
    m.PartialCorrelations: st.builds(m.PartialCorrelations, numbers, floats),
    m.Projections: st.builds(m.Projections, numbers, names, floats, floats, floats, floats),
    m.Refusal: st.builds(m.Refusal, st.text()),
}
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


def test_every_kind_of_message_is_tried():
    assert set(EACH) == set(m.MESSAGES)


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
    with pytest.raises(CodecError, match="no message of version FSV1"):
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
