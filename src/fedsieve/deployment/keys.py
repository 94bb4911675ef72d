"""Keys and certificates of a federation, made with the `cryptography` package; private keys are their owner's only."""

import base64
import datetime
import hmac
import ipaddress
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from fedsieve.errors import DataError
from fedsieve.files import read_once, write_atomically

PRIVATE, PUBLIC = 0o600, 0o644
ALGORITHM = ec.ECDSA(SHA256())  # of all signatures that files and envelopes carry
PrivateKey = ec.EllipticCurvePrivateKey
PublicKey = ec.EllipticCurvePublicKey
Authority = tuple[PrivateKey, x509.Certificate]


def new_key() -> PrivateKey:
    """A key on the curve that the engine's nodes use."""
    return ec.generate_private_key(ec.SECP384R1())


def signature_text(key: PrivateKey, content: bytes) -> str:
    """A signature for a file."""
    return base64.b64encode(key.sign(content, ALGORITHM)).decode()


def is_signed(key: PublicKey, content: bytes, signature: str | bytes) -> bool:
    """Whether that is a signature of the key's owner over the content, as text."""
    try:
        key.verify(base64.b64decode(signature, validate=True), content, ALGORITHM)
    except (InvalidSignature, ValueError):  # the latter of base64
        return False
    return True


def write_private_key(key: PrivateKey, path: Path, *, ssh: bool = True) -> None:
    """Write a private key, readable by its owner only; in OpenSSH's form for nodes, in PKCS 8 for TLS."""
    form = serialization.PrivateFormat.OpenSSH if ssh else serialization.PrivateFormat.PKCS8
    _write(path, key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()), PRIVATE)


def secret_of(key: PrivateKey) -> bytes:
    """Bytes that only the key's owner knows, for drawing at random; they tell nothing of the key."""
    private = key.private_numbers().private_value.to_bytes((key.key_size + 7) // 8)
    return hmac.digest(private, b"fedsieve: drawn at random", "sha256")


def public_text(key: PublicKey) -> str:
    """A public key as OpenSSH writes it, without a comment: the form that agreements hold."""
    return key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH).decode()


@lru_cache(maxsize=1 << 14)
def public_key(text: str) -> PublicKey:
    """The key that a text of the form above stands for."""
    try:
        key = serialization.load_ssh_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, PublicKey):
        raise DataError(f"{text[:40]!r}... is no point of its elliptic curve, so no public key.")
    return key


def write_public_key(key: PublicKey, path: Path) -> None:
    """Write a public key in OpenSSH's form."""
    _write(path, public_text(key).encode() + b"\n", PUBLIC)


def read_private_key(path: Path) -> PrivateKey:
    """Read a private key in OpenSSH's form; refuse one that others may read."""
    return read_once(path, _private_key)


def _private_key(path: Path) -> PrivateKey:
    if path.is_file() and path.stat().st_mode & 0o077:
        raise DataError(f"{path}: may be read by others. Make it yours alone: chmod 600 {path}")
    key = _load(path, lambda data: serialization.load_ssh_private_key(data, None))
    if not isinstance(key, PrivateKey):
        raise DataError(f"{path}: is no elliptic-curve key.")
    return key


def read_public_key(path: Path) -> PublicKey:
    """Read a public key in OpenSSH's form."""
    return read_once(path, _public_key)


def _public_key(path: Path) -> PublicKey:
    key = _load(path, serialization.load_ssh_public_key)
    if not isinstance(key, PublicKey):
        raise DataError(f"{path}: is no elliptic-curve key.")
    return key


def new_authority(name: str, days: int) -> Authority:
    """The federation's own certificate authority; sites trust no other."""
    key = new_key()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{name} authority"[:64])])
    usage = x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = (
        _builder(subject, subject, key.public_key(), key.public_key(), days)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
    )
    return key, builder.sign(key, SHA256())


def new_certificate(authority: Authority, hosts: list[str], days: int) -> Authority:
    """A TLS certificate for the names and addresses under which a server is reached."""
    key, (issuer_key, issuer) = new_key(), authority
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0][:64])])
    builder = (
        _builder(subject, issuer.subject, key.public_key(), issuer_key.public_key(), days)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([_name(host) for host in hosts]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )
    return key, builder.sign(issuer_key, SHA256())


def write_certificate(certificate: x509.Certificate, path: Path) -> None:
    """Write a certificate as PEM."""
    _write(path, certificate.public_bytes(serialization.Encoding.PEM), PUBLIC)


def read_authority(folder: Path) -> Authority:
    """The authority whose key and certificate lie in a folder as `ca.key` and `ca.crt`."""
    key = _load(folder / "ca.key", lambda data: serialization.load_pem_private_key(data, None))
    assert isinstance(key, PrivateKey)
    return key, read_certificate(folder / "ca.crt")


def read_certificate(path: Path) -> x509.Certificate:
    """Read a certificate in PEM."""
    certificate = _load(path, x509.load_pem_x509_certificate)
    assert isinstance(certificate, x509.Certificate)
    return certificate


def days_left(certificate: x509.Certificate) -> int:
    """For how many days it is still valid."""
    return (certificate.not_valid_after_utc - datetime.datetime.now(datetime.UTC)).days


def _builder(
    subject: x509.Name, issuer: x509.Name, key: PublicKey, issuer_key: PublicKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))  # clocks differ
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
    )


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write(path: Path, data: bytes, mode: int) -> None:
    write_atomically(path, lambda file: file.write_bytes(data), mode=mode)


def _load(path: Path, load: Callable[[bytes], object]) -> object:
    try:
        return load(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from None
    except (ValueError, UnsupportedAlgorithm, NotImplementedError):
        raise DataError(f"{path}: is no key or certificate of the expected form.") from None
