"""Masks cancel for two sites in one use and for nothing else; boxes open for one receiver; signatures for one key."""

import secrets
from dataclasses import replace

import numpy as np
import pytest

from fedsieve.errors import ProtocolError
from fedsieve.privacy.secure_sum import masks
from fedsieve.privacy.secure_sum.signatures import is_signed, new_key, sign
from fedsieve.privacy.secure_sum.statements import Run, Sum, statement

SUM = Sum("run", "agreed", 3, "digest of the request", "digest of the cohort")
ONE, OTHER = secrets.token_bytes(32), secrets.token_bytes(32)
NAMES = ("b", "a")


def pair(this=SUM, private=ONE, public=OTHER, names=NAMES, size=5):
    return masks.pair_mask(this, private, masks.public_key(public), names, size).tolist()


def test_two_sites_have_one_mask():
    assert pair() == pair(private=OTHER, public=ONE, names=("a", "b"))
    assert pair(size=9)[:5] == pair()
    assert len(set(pair())) == 5


@pytest.mark.parametrize(
    "other",
    [{"run": "run.1"}, {"agreement": "another"}, {"number": 4}, {"content": "another"}, {"cohort": "another"}],
    ids=lambda x: next(iter(x)),
)
def test_another_use_has_another_mask_and_is_signed_otherwise(other):
    assert pair(replace(SUM, **other)) != pair()
    assert masks.own_mask(replace(SUM, **other), ONE, "a", 5).tolist() != masks.own_mask(SUM, ONE, "a", 5).tolist()
    assert replace(SUM, **other).signed_survivors(["a"]) != SUM.signed_survivors(["a"])


def test_keys_are_signed_for_one_run_agreement_cohort_and_site():
    run, keys = Run("run", "agreed", ("a", "b")), ("a", ONE, OTHER)
    others = [replace(run, name="x"), replace(run, agreement="x"), replace(run, cohort=("a",))]
    signed = [one.signed_keys(*keys) for one in (run, *others)] + [run.signed_keys("b", ONE, OTHER)]
    assert len(set(signed)) == 5


def test_other_sites_have_another_mask():
    assert pair(names=("a", "c")) != pair()
    assert masks.own_mask(SUM, ONE, "b", 5).tolist() != masks.own_mask(SUM, ONE, "a", 5).tolist()
    assert masks.own_mask(SUM, OTHER, "a", 5).tolist() != masks.own_mask(SUM, ONE, "a", 5).tolist()


def test_names_cannot_be_moved_from_one_field_to_the_next():
    assert statement("a", "b") != statement("a,b")
    assert statement('a","b') != statement("a", "b")


def test_a_stream_is_that_of_the_cipher():
    """RFC 8439, 2.3.2: the first block for this key, nonce and counter begins so."""
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

    nonce = bytes([1, 0, 0, 0]) + bytes.fromhex("000000090000004a00000000")
    block = Cipher(ChaCha20(bytes(range(32)), nonce), mode=None).encryptor().update(bytes(64))
    assert block[:16].hex() == "10f1e7e4d13b5915500fdd1fa32071c4"
    key = masks._key(ONE, "own", *SUM.bound(), "a")
    whole = Cipher(ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes(40))
    assert masks.own_mask(SUM, ONE, "a", 5).tolist() == np.frombuffer(whole, dtype="<u8").tolist()


BOX = {"private": ONE, "public": masks.public_key(OTHER), "run": "run", "sender": "a", "receiver": "b"}
OPEN = {**BOX, "private": OTHER, "public": masks.public_key(ONE)}


def test_a_box_opens_for_its_receiver():
    box = masks.seal(**BOX, content=b"shares")
    assert masks.open_box(**OPEN, box=box) == b"shares"
    assert masks.seal(**BOX, content=b"shares") != box


@pytest.mark.parametrize(
    "other", [{"run": "run.1"}, {"sender": "c"}, {"receiver": "c"}, {"private": bytes(31) + b"1"}], ids=str
)
def test_a_box_opens_for_nobody_else_and_for_no_other_use(other):
    box = masks.seal(**BOX, content=b"shares")
    with pytest.raises(ProtocolError, match="did not make for it in this run"):
        masks.open_box(**{**OPEN, **other}, box=box)


@pytest.mark.parametrize("place", [0, 12, -1])
def test_a_changed_box_does_not_open(place):
    box = bytearray(masks.seal(**BOX, content=b"shares"))
    box[place] ^= 1
    with pytest.raises(ProtocolError, match="did not make for it"):
        masks.open_box(**OPEN, box=bytes(box))


def test_a_key_that_is_none_is_refused():
    with pytest.raises(ProtocolError, match="a public key that is none"):
        masks.pair_mask(SUM, ONE, bytes(32), NAMES, 1)


def test_a_signature_is_of_one_key_and_one_statement():
    key, signed = new_key(), statement("x")
    signature = sign(key, signed)
    assert len(signature) == 96
    assert is_signed(key.public_key(), signed, signature)
    assert not is_signed(key.public_key(), statement("y"), signature)
    assert not is_signed(new_key().public_key(), signed, signature)
    assert not is_signed(key.public_key(), signed, bytes(96))
