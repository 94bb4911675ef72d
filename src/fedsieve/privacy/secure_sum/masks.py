"""Masks and boxes: what two sites alone know becomes a stream of random integers, or a box that only one of them opens.

X25519 and HKDF-SHA256 make keys, each bound to one use; ChaCha20 makes the streams, ChaCha20-Poly1305 the boxes.
"""

import hashlib
import secrets

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from fedsieve.arrays import Ring
from fedsieve.errors import ProtocolError
from fedsieve.privacy.secure_sum.statements import Sum, statement

NONCE = 12
PROBE = bytes(range(32))  # any private key: what is of low order gives the same nothing with all of them


def pair_mask(this: Sum, private: bytes, public: bytes, names: tuple[str, str], size: int) -> Ring:
    """The mask of two sites in a sum, from the private key of one and the public key of the other."""
    return _stream(_key(_exchanged(private, public), "pair", *this.bound(), *sorted(names)), size)


def own_mask(this: Sum, seed: bytes, name: str, size: int) -> Ring:
    """The mask of one site in a sum, from its seed."""
    return _stream(_key(seed, "own", *this.bound(), name), size)


def public_key(private: bytes) -> bytes:
    """Of a private key."""
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def gives_secrets(public: bytes) -> bool:
    """Whether others share a secret with whoever has this public key; with one of low order they share none.

    >>> gives_secrets(public_key(PROBE)), gives_secrets(bytes(32))
    (True, False)
    """
    try:
        _exchanged(PROBE, public)
    except ProtocolError:
        return False
    return True


def seed_digest(seed: bytes) -> bytes:
    """What a site tells of its seed beforehand, so that no other can take its place."""
    return hashlib.sha256(statement("seed") + seed).digest()


def seal(private: bytes, public: bytes, run: str, sender: str, receiver: str, content: bytes) -> bytes:
    """A box that the receiver alone opens."""
    cipher, bound = _box(private, public, run, sender, receiver)
    nonce = secrets.token_bytes(NONCE)
    return nonce + cipher.encrypt(nonce, content, bound)


def open_box(private: bytes, public: bytes, run: str, sender: str, receiver: str, box: bytes) -> bytes:
    """What is in it; `ProtocolError` where the sender did not make it so, for this receiver and run."""
    cipher, bound = _box(private, public, run, sender, receiver)
    try:
        return cipher.decrypt(box[:NONCE], box[NONCE:], bound)
    except InvalidTag:
        raise ProtocolError(f"was sent a box that {sender!r} did not make for it in this run.") from None


def _box(private: bytes, public: bytes, run: str, sender: str, receiver: str) -> tuple[ChaCha20Poly1305, bytes]:
    bound = ("box", run, sender, receiver)
    return ChaCha20Poly1305(_key(_exchanged(private, public), *bound)), statement(*bound)


def _exchanged(private: bytes, public: bytes) -> bytes:
    try:
        return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise ProtocolError("was sent a public key that is none.") from None


def _key(secret: bytes, *bound: object) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=statement(*bound)).derive(secret)


def _stream(key: bytes, size: int) -> Ring:
    encryptor = Cipher(ChaCha20(key, bytes(16)), mode=None).encryptor()
    return np.frombuffer(encryptor.update(bytes(8 * size)), dtype="<u8")
