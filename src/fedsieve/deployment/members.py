"""`[members]` of an agreement: who may speak, by public key; checked, and written back into the file in its place.

A key is text here, as OpenSSH writes it, so that an agreement can be read without the package that uses keys.
"""

import base64
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from fedsieve.checks import repeated
from fedsieve.errors import DataError, ParameterError, listed
from fedsieve.protocol import SERVER

KEY_TYPE = "ecdsa-sha2-nistp384"  # the curve of the engine's nodes
_BLOB_START = b"".join(
    len(part).to_bytes(4, "big") + part for part in (KEY_TYPE.encode(), b"nistp384", b"\x04" + bytes(96))
)[:-96]
_SECTION = re.compile(r"^\[members\].*\n?(?:^(?!\[).*\n?)*", re.MULTILINE)
HEADER = "[members]  # who may speak, by public key; \"\" until 'fedsieve federation site --approve' takes a site's own"


def check_members(section: Any) -> dict[str, str]:
    """Name -> key of all that belong, the server too; a site whose request was not approved yet has "" for a key."""
    if not isinstance(section, dict):
        raise ParameterError(f"[members] must be a section; got {section!r}.")
    if SERVER not in section:
        raise ParameterError(f"[members] lacks {SERVER!r}, the operator's key.")
    for name, key in section.items():
        if key != "":
            check_key(f"[members] {name}", key)
    twice = repeated([key for key in section.values() if key])
    if twice:
        same = [name for name, key in section.items() if key in twice]
        raise ParameterError(f"[members] has one key for {listed(same)}. Each must have its own.")
    return dict(section)


def check_key(owner: str, key: Any) -> None:
    """Refuse what is no public key in the one form that counts: type and base64, no comment, no other spelling."""
    if not isinstance(key, str) or _blob(key) is None:
        raise ParameterError(f"{owner} must be a public key, '{KEY_TYPE} ...'; got {str(key)[:40]!r}.")


def fingerprint(key: str) -> str:
    """What people compare by phone: half of the key's SHA-256, in groups.

    128 bits are enough here, since a forger would have to meet a given fingerprint.

    >>> fingerprint("ecdsa-sha2-nistp384 AAAA")
    '709e 80c8 8487 a241 1e1e e4df b9f2 2a86'
    """
    text = hashlib.sha256(base64.b64decode(key.split()[1])).hexdigest()[:32]
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def members_text(members: Mapping[str, str]) -> str:
    """The section as a file has it."""
    return "\n".join([HEADER, *_entries(members), ""])


def replace_members(text: str, members: Mapping[str, str]) -> str:
    """The file's text with other members; all else stays as it is, comments too."""

    def section(old: re.Match[str]) -> str:
        header, *lines = old[0].splitlines(keepends=True)
        kept = [line for line in lines if not line.strip() or line.lstrip().startswith("#")]
        return "".join([header.rstrip("\n") + "\n", *(line + "\n" for line in _entries(members)), *kept])

    changed, n_changed = _SECTION.subn(section, text)
    if n_changed != 1 or not _is_meant(text, changed, members):
        raise DataError("has no section [members] that can be changed. Write it as 'fedsieve federation init' does.")
    return changed


def _is_meant(before: str, after: str, members: Mapping[str, str]) -> bool:
    try:
        return tomllib.loads(after) == {**tomllib.loads(before), "members": dict(members)}
    except tomllib.TOMLDecodeError:
        return False


def _entries(members: Mapping[str, str]) -> list[str]:
    return [f"{json.dumps(name)} = {json.dumps(key)}" for name, key in members.items()]


def _blob(key: str) -> bytes | None:
    """The key's bytes; None for another type, curve or spelling."""
    kind, _, text = key.partition(" ")
    try:
        blob = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    right = kind == KEY_TYPE and len(blob) == len(_BLOB_START) + 96 and blob.startswith(_BLOB_START)
    return blob if right and base64.b64encode(blob).decode() == text else None
