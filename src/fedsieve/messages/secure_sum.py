"""Secure sums: keys and shares once a run; for each sum masked numbers, signatures, and shares that unmask the total.

Nothing here is about rows; what a site adds to a sum is the reply to the request that travels within `AskMasked`.
`privacy/secure_sum` has both sides. A name's place in the cohort, from 1 on, is where its shares are taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from fedsieve.arrays import Bytes, Int
from fedsieve.errors import ProtocolError
from fedsieve.messages.base import Known, Reply, Request
from fedsieve.messages.cells import Cells
from fedsieve.tables import Table

KEY, SHARE, SIGNATURE, MASK_KEYS = 32, 33, 96, 64  # bytes; of a sum a public key and the digest of a seed


class Step(Request):
    """One step of the secure sums of a run."""

    machinery: ClassVar = True

    def answer(self, table: Table) -> Reply:  # noqa: ARG002
        """No rows answer it."""
        raise ProtocolError("was asked for a secure sum; agreed: plain replies.")

    def column_names(self) -> tuple[str, ...]:
        """None by itself."""
        return ()

    @property
    def name(self) -> str:
        """Which step it is; a site answers each once."""
        raise NotImplementedError


class TellsNoRows:
    """What the replies to steps have in common."""

    n_rows = 0
    why_no_sum: ClassVar[str] = "it is no sum by itself."


def _shape_rule(name: str, array: Bytes, *shape: int) -> Iterator[str]:
    if array.shape != shape:
        yield f"sent {name} of shape {array.shape}; the sum needs {shape}."


@dataclass(frozen=True, eq=False)
class Keys(TellsNoRows, Reply):
    """A site's keys of one run: for boxes, and for each sum a public key and the digest of a seed; all of it signed.

    Reveals nothing of its rows.
    """

    box: Bytes  # (32,)
    masks: Bytes  # (n_sums, 64)
    signature: Bytes  # (96,)


@dataclass(frozen=True, eq=False)
class AskKeys(Step):
    """Server: fresh keys for so many sums of this cohort. Reveals who takes part."""

    reply: ClassVar = Keys
    title: ClassVar = "keys for secure sums"

    cohort: tuple[str, ...]
    n_sums: int

    @property
    def name(self) -> str:
        """Once a run."""
        return "keys"

    def complaints(self, reply: Keys, known: Known) -> Iterator[str]:  # noqa: ARG002
        """As many keys as sums."""
        yield from _shape_rule("a key", reply.box, KEY)
        yield from _shape_rule("keys", reply.masks, self.n_sums, MASK_KEYS)
        yield from _shape_rule("a signature", reply.signature, SIGNATURE)


@dataclass(frozen=True, eq=False)
class Shares(TellsNoRows, Reply):
    """For each site a box that only this one opens: a share of each of the sender's secrets.

    Reveals nothing of its rows; as many shares as the threshold give the secrets.
    """

    boxes: Bytes  # (n_sites, size)


@dataclass(frozen=True, eq=False)
class AskShares(Step):
    """Server: shares of your secrets for these sites, whose signed keys are here. Reveals who takes part."""

    reply: ClassVar = Shares
    title: ClassVar = "shares of the keys"

    sites: tuple[str, ...]
    boxes: Bytes  # (n_sites, 32)
    masks: Bytes  # (n_sites, n_sums, 64)
    signatures: Bytes  # (n_sites, 96)

    @property
    def name(self) -> str:
        """Once a run."""
        return "shares"

    @property
    def box_size(self) -> int:
        """Nonce and tag of a box, and two shares for each sum."""
        return 12 + 16 + 2 * SHARE * int(self.masks.shape[1])

    def complaints(self, reply: Shares, known: Known) -> Iterator[str]:  # noqa: ARG002
        """One box per site."""
        yield from _shape_rule("boxes", reply.boxes, len(self.sites), self.box_size)


@dataclass(frozen=True, eq=False)
class Masked(TellsNoRows, Reply):
    """A site's numbers of one sum behind its masks, modulo 2**64: by themselves they cannot be told from random ones.

    Reveals nothing of its rows before the total is unmasked, and then its part in the total.
    """

    values: Int


@dataclass(frozen=True, eq=False)
class AskMasked(Step):
    """Server: your reply to this request, as numbers behind masks. Reveals what the request within it reveals.

    `request` is an encoded message. With the first sum travel the boxes that the other sites made for this one, with
    the second the cells of all sites together.
    """

    reply: ClassVar = Masked
    title: ClassVar = "a secure sum"

    number: int
    request: Bytes
    sites: tuple[str, ...]
    boxes: Bytes | None = None  # (n_sites, size)
    cells: Cells | None = None

    @property
    def name(self) -> str:
        """Once a sum."""
        return f"masked numbers of sum {self.number}"

    def complaints(self, reply: Masked, known: Known) -> Iterator[str]:  # noqa: ARG002
        """Their number is known to whoever knows the request within."""
        if reply.values.ndim != 1:
            yield "sent masked numbers that are no list."


@dataclass(frozen=True, eq=False)
class Signature(TellsNoRows, Reply):
    """A site's signature under the list of those whose numbers the sum is of. Reveals nothing of its rows."""

    signature: Bytes  # (96,)


@dataclass(frozen=True, eq=False)
class AskSignature(Step):
    """Server: these sites' numbers arrived; sign that you were told so. Reveals who was lost."""

    reply: ClassVar = Signature
    title: ClassVar = "signatures under the list of sites"

    number: int
    survivors: tuple[str, ...]

    @property
    def name(self) -> str:
        """Once a sum."""
        return f"signature of sum {self.number}"

    def complaints(self, reply: Signature, known: Known) -> Iterator[str]:  # noqa: ARG002
        """One signature."""
        yield from _shape_rule("a signature", reply.signature, SIGNATURE)


@dataclass(frozen=True, eq=False)
class Unmasking(TellsNoRows, Reply):
    """Shares of the seeds of those in the sum, and of the keys of those that were lost: never both of one site.

    Reveals the total, and nothing else of any site, once as many sites as the threshold sent theirs.
    """

    seeds: Bytes  # (n_survivors, 33)
    keys: Bytes  # (n_lost, 33)


@dataclass(frozen=True, eq=False)
class AskUnmasking(Step):
    """Server: the shares that unmask the total over these sites, who signed that list. Reveals who was lost."""

    reply: ClassVar = Unmasking
    title: ClassVar = "shares that unmask the total"

    number: int
    survivors: tuple[str, ...]
    signers: tuple[str, ...]
    signatures: Bytes  # (n_signers, 96)

    @property
    def name(self) -> str:
        """Once a sum."""
        return f"shares of sum {self.number}"

    def complaints(self, reply: Unmasking, known: Known) -> Iterator[str]:  # noqa: ARG002
        """One share per site; how many were lost is known to whoever asks."""
        yield from _shape_rule("shares", reply.seeds, len(self.survivors), SHARE)
        yield from _shape_rule("shares", reply.keys, reply.keys.shape[0] if reply.keys.ndim else 0, SHARE)
