"""What keys and masks are bound to and what sites sign, word by word the same at a site and at the server.

All of it names the agreement: sites that hold different ones would answer different questions in one sum, and a server
with two agreements could make all of them constant but one.
"""

import hashlib
import json
from dataclasses import dataclass

PROTOCOL = "fedsieve secure sum 2"


def statement(*parts: object) -> bytes:
    """Plain values as bytes that can be read in one way only.

    >>> statement("keys", 1)
    b'["fedsieve secure sum 2","keys",1]'
    """
    return json.dumps([PROTOCOL, *parts], separators=(",", ":")).encode()


def digest(*parts: object) -> str:
    """Of a statement."""
    return hashlib.sha256(statement(*parts)).hexdigest()


@dataclass(frozen=True)
class Run:
    """A run as its sites know it: its name, the digest of what was agreed on, and all sites that were announced."""

    name: str
    agreement: str
    cohort: tuple[str, ...]

    def signed_keys(self, site: str, box: bytes, public: bytes) -> bytes:
        """What a site signs with its keys."""
        told = box.hex(), hashlib.sha256(public).hexdigest()
        return statement("keys", self.agreement, self.name, list(self.cohort), site, *told)

    def sum(self, number: int, request: bytes, scaled_by: str, sharing: list[str]) -> "Sum":
        """One of its sums: about this request, of the sites that shared their secrets."""
        content = digest("request", hashlib.sha256(request).hexdigest(), scaled_by)
        return Sum(self.name, self.agreement, number, content, digest("cohort", list(self.cohort), sharing))


@dataclass(frozen=True)
class Sum:
    """One sum of a run: all that its masks and signatures are bound to."""

    run: str
    agreement: str
    number: int
    content: str  # the digest of the request that is answered, and of what else its numbers are scaled by
    cohort: str  # the digest of all sites, and of those that shared their secrets

    def signed_survivors(self, survivors: list[str]) -> bytes:
        """What a site signs before it unmasks."""
        return statement("survivors", *self.bound(), survivors)

    def bound(self) -> tuple[object, ...]:
        """What makes it this sum and no other."""
        return self.agreement, self.run, self.number, self.content, self.cohort
