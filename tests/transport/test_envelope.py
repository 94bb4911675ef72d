"""A signed message is believed only if every byte is as its sender left it, and belongs here and now."""

import dataclasses
import hashlib
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fedsieve.deployment.keys import ALGORITHM, new_key
from fedsieve.errors import CodecError
from fedsieve.transport.envelope import (
    LENGTHS,
    MAGIC,
    MAX_COHORT,
    MAX_HEADER,
    MAX_NUMBER,
    Envelope,
    digest,
    seal,
    unseal,
)

KEY, OTHER = new_key(), new_key()
BASE = Envelope(
    run="run-1",
    agreement="a" * 64,
    round=3,
    sender="site-0",
    receiver="server",
    time=1_800_000_000,
    kind="step",
    nonce="0" * 32,
    about="f" * 64,
    cohort=("site-0", "site-1"),
    payload=b"payload",
)
KEYS = {"site-0": KEY.public_key(), "site-1": OTHER.public_key()}
SEALED = seal(BASE, KEY)  # once, since signatures differ in length

texts = st.text(max_size=60)
numbers = st.integers(1 - MAX_NUMBER, MAX_NUMBER - 1)
cohorts = st.sets(texts, max_size=5).map(sorted).map(tuple)
envelopes = st.builds(
    Envelope,
    *(texts, texts, numbers, texts, texts, numbers, texts, texts, texts, cohorts, st.binary(max_size=3000)),
)


def sealed_header(fields: object, payload: bytes = b"") -> bytes:
    """Any header, truly signed."""
    header = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
    signature = KEY.sign(header, ALGORITHM)
    return MAGIC + LENGTHS.pack(len(header), len(signature)) + header + signature + payload


def fields_of(envelope: Envelope) -> dict:
    return {**dataclasses.asdict(envelope), "payload": hashlib.sha256(envelope.payload).hexdigest()}


@given(envelopes)
def test_what_is_sealed_is_unsealed_the_same(envelope):
    assert unseal(seal(envelope, KEY), {envelope.sender: KEY.public_key()}) == envelope


@pytest.mark.parametrize("size", [0, 1, 1_000_000])
def test_a_payload_of_any_size_travels(size):
    envelope = dataclasses.replace(BASE, payload=bytes(size))
    assert unseal(seal(envelope, KEY), KEYS).payload == bytes(size)


@given(st.integers(0, 560), st.integers(0, 560), st.binary(max_size=40))
def test_any_change_of_the_bytes_is_refused_with_a_codec_error(start, end, instead):
    bad = SEALED[: min(start, end)] + instead + SEALED[max(start, end) :]
    assume(bad != SEALED)
    with pytest.raises(CodecError):
        unseal(bad, KEYS)


def test_every_flipped_byte_is_refused():
    for place in range(len(SEALED)):
        bad = bytearray(SEALED)
        bad[place] ^= 1 << (place % 8)
        with pytest.raises(CodecError):
            unseal(bytes(bad), KEYS)


def test_every_cut_is_refused():
    for end in range(len(SEALED)):
        with pytest.raises(CodecError):
            unseal(SEALED[:end], KEYS)


@given(st.binary(max_size=300))
def test_bytes_that_start_like_an_envelope_are_refused_with_a_codec_error(rest):
    for data in (rest, MAGIC + rest, sealed_header(rest)):
        with pytest.raises(CodecError):
            unseal(data, KEYS)


def test_a_foreign_key_cannot_sign_for_a_site():
    with pytest.raises(CodecError, match="the signature is not that of 'site-0'"):
        unseal(seal(BASE, OTHER), KEYS)


def test_a_sender_without_registered_key_is_named():
    stranger = dataclasses.replace(BASE, sender="mallory")
    with pytest.raises(CodecError, match="'mallory', for whom no key is registered"):
        unseal(seal(stranger, KEY), KEYS)


def test_another_payload_than_the_signed_one_is_refused():
    with pytest.raises(CodecError, match="does not match what was signed"):
        unseal(SEALED[: -len(BASE.payload)] + b"PAYLOAD", KEYS)


def test_a_header_above_the_limit_is_refused_even_if_signed():
    with pytest.raises(CodecError, match="header is too long"):
        unseal(seal(dataclasses.replace(BASE, about="x" * MAX_HEADER), KEY), KEYS)


def test_another_version_is_told_as_such():
    with pytest.raises(CodecError, match="Do all sites run one version"):
        unseal(b"FSE1" + seal(BASE, KEY)[4:], KEYS)


@pytest.mark.parametrize(
    "change",
    [
        {"more": "x"},
        {"round": "3"},
        {"round": True},
        {"round": 3.0},
        {"sender": 1},
        {"payload": None},
        {"about": ["x"]},
        {"time": 1.8e9},
        {"cohort": "site-0"},
        {"cohort": {"site-0": 1}},
        {"cohort": ["site-0", 1]},
        {"cohort": [["site-0"]]},
    ],
    ids=str,
)
def test_a_signed_header_of_other_fields_or_types_is_refused(change):
    fields = fields_of(BASE)
    assert unseal(sealed_header(fields, BASE.payload), KEYS) == BASE
    with pytest.raises(CodecError, match="other fields"):
        unseal(sealed_header({**fields, **change}, BASE.payload), KEYS)


@pytest.mark.parametrize(
    "change", [{"round": MAX_NUMBER}, {"time": -(10**4000)}, {"time": 10**4000}], ids=["round", "early", "late"]
)
def test_a_signed_number_that_no_round_or_clock_has_is_refused(change):
    with pytest.raises(CodecError, match="a number above"):
        unseal(sealed_header({**fields_of(BASE), **change}, BASE.payload), KEYS)


@pytest.mark.parametrize(
    "cohort",
    [["site-1", "site-0"], ["site-0", "site-0"], [f"{number:05d}" for number in range(MAX_COHORT + 1)]],
    ids=["unsorted", "one counted twice", "too many"],
)
def test_a_cohort_counts_every_name_once(cohort):
    with pytest.raises(CodecError, match=f"at most {MAX_COHORT} names, sorted, none of them twice"):
        unseal(sealed_header({**fields_of(BASE), "cohort": cohort}, BASE.payload), KEYS)


def test_thousands_of_sites_with_the_longest_names_fit_into_a_header():
    cohort = tuple(f"{number:064d}" for number in range(MAX_COHORT))
    envelope = dataclasses.replace(BASE, cohort=cohort)
    assert unseal(seal(envelope, KEY), KEYS) == envelope


@pytest.mark.parametrize("age", [-60, 0, 360])
def test_a_request_lives_as_long_as_the_server_waits_and_clocks_may_differ_by_a_minute(age):
    BASE.require_fresh(BASE.time + age + 0.5, 300)


@pytest.mark.parametrize("age", [-61, 361, 10**9])
def test_a_request_of_another_time_is_refused_and_may_be_a_matter_of_clocks(age):
    with pytest.raises(CodecError, match="compare the clocks of both machines"):
        BASE.require_fresh(BASE.time + age + 0.5, 300)


def test_the_age_of_an_expired_request_is_told_by_whose_clock():
    with pytest.raises(CodecError, match=r"^sent 395 s ago by the server's clock; a request is answered for 300 s"):
        BASE.require_fresh(BASE.time + 395, 300)
    with pytest.raises(CodecError, match=r"^sent 95 s in the future by this machine's clock"):
        BASE.require_fresh(BASE.time - 95, 300)


def test_a_signed_header_that_lacks_a_field_is_refused():
    for missing in fields_of(BASE):
        fields = {name: value for name, value in fields_of(BASE).items() if name != missing}
        with pytest.raises(CodecError, match="other fields"):
            unseal(sealed_header(fields, BASE.payload), KEYS)


@pytest.mark.parametrize(
    "header", [b"[]", b"5", b"null", b"\xff", b"{", b"[" * 4000, b"1" * 4096, b"[" * MAX_HEADER, b"1" * MAX_HEADER]
)
def test_a_signed_header_that_is_no_object_is_refused(header):
    with pytest.raises(CodecError, match="cannot be read"):
        unseal(sealed_header(header), KEYS)


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("run", "run-2", ["'run-1'", "'run-2'", "sent again"]),
        ("agreement", "b" * 64, ["a" * 12, "b" * 12, "fedsieve federation pack"]),
        ("round", 4, ["round 3", "not to 4"]),
        ("sender", "site-9", ["'site-0'", "'site-9'"]),
        ("receiver", "site-1", ["'server'", "'site-1'"]),
        ("kind", "result", ["'step'", "'result'"]),
        ("about", "e" * 64, ["another request", "sent again"]),
    ],
)
def test_a_genuine_envelope_that_belongs_elsewhere_is_refused_with_both_values(name, wrong, said):
    BASE.require(**{name: getattr(BASE, name)})
    with pytest.raises(CodecError) as refused:
        BASE.require(**{name: wrong})
    assert all(part in str(refused.value) for part in said)


def test_two_messages_have_two_digests():
    assert digest(seal(BASE, KEY)) != digest(seal(dataclasses.replace(BASE, about="0"), KEY))
