"""Signatures of sites, in a form of one length: r and s of ECDSA with SHA-256."""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

PrivateKey = ec.EllipticCurvePrivateKey
PublicKey = ec.EllipticCurvePublicKey
HALF = 48  # bytes: enough for the curves of 256 and 384 bits
ALGORITHM = ec.ECDSA(SHA256())


def new_key() -> PrivateKey:
    """A key for one run within a process."""
    return ec.generate_private_key(ec.SECP256R1())


def sign(key: PrivateKey, statement: bytes) -> bytes:
    """The signature of a statement."""
    r, s = decode_dss_signature(key.sign(statement, ALGORITHM))
    return r.to_bytes(HALF, "big") + s.to_bytes(HALF, "big")


def is_signed(key: PublicKey, statement: bytes, signature: bytes) -> bool:
    """Whether it is the key's signature of the statement."""
    r, s = (int.from_bytes(half, "big") for half in (signature[:HALF], signature[HALF:]))
    try:
        key.verify(encode_dss_signature(r, s), statement, ALGORITHM)
    except InvalidSignature:
        return False
    return True
