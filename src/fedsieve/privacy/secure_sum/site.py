"""One site's side of the secure sums of a run. All it knows lies in its vault, since a new process may meet each step.

A step is answered once: the same request gets the same bytes, another one for the same step is refused. So a site hands
out its numbers of a sum behind one set of masks, signs one list of survivors, and reveals one share for each site.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from typing import NamedTuple, Protocol

import numpy as np

from fedsieve.arrays import Bytes, Ring
from fedsieve.errors import ProtocolError, listed
from fedsieve.messages.base import Reply
from fedsieve.messages.secure_sum import (
    KEY,
    MASK_KEYS,
    SHARE,
    SIGNATURE,
    AskKeys,
    AskMasked,
    AskShares,
    AskSignature,
    AskUnmasking,
    Keys,
    Masked,
    Shares,
    Signature,
    Step,
    Unmasking,
)
from fedsieve.privacy.secure_sum import masks, shamir
from fedsieve.privacy.secure_sum.signatures import PrivateKey, PublicKey, is_signed, sign
from fedsieve.privacy.secure_sum.statements import Run, Sum
from fedsieve.text import counted

DIGEST = 32
NO_SHARE = b"\xff" * SHARE  # beyond the field


class Vault(Protocol):
    """What a site keeps of one run's secure sums, for its own eyes only."""

    def keep(self, name: str, data: bytes) -> None:
        """Instead of any before."""

    def recall(self, name: str) -> bytes | None:
        """What was kept last, if anything."""

    def remove(self, name: str) -> None:
        """For good, if it is there."""


@dataclass(frozen=True)
class Identity:
    """Who a site is: its name, its key, the public keys of all members that it agreed to sum up with, and on what."""

    name: str
    key: PrivateKey
    members: Mapping[str, PublicKey]
    agreement: str  # its fingerprint; within a process, the method's


class Summand(NamedTuple):
    """A site's own numbers in a sum.

    What else decides their scale is bound into the masks: with numbers of unlike scales a server could tell them apart
    in the total. All sums that tell of one thing are of the same sites.
    """

    numbers: Ring
    told_of: str
    scaled_by: str = ""


class SumSite:
    """Answers the steps of one run's sums, `n_sums` at most, with the sites of `cohort`."""

    def __init__(self, identity: Identity, run: str, cohort: tuple[str, ...], n_sums: int, vault: Vault) -> None:
        self._me, self._key, self._members = identity.name, identity.key, identity.members
        self._run = Run(run, identity.agreement, cohort)
        self._cohort, self._n_sums, self._vault = cohort, n_sums, vault
        self._needed = shamir.threshold(len(cohort))

    def answer_once(self, payload: bytes, request: Step, make: Callable[[], bytes]) -> bytes:
        """What `make` makes of the request, or made of the same payload before."""
        place, asked = f"answer, {request.name}", hashlib.sha256(payload).digest()
        kept = self._vault.recall(place)
        if kept is None:
            answer = make()
            self._vault.keep(place, asked + answer)
            if isinstance(request, AskUnmasking):
                self._forget(request.number)
            return answer
        if kept[:DIGEST] != asked:
            raise ProtocolError(f"was asked for {request.name} twice, and not the same: it answers the first alone.")
        return kept[DIGEST:]

    def answer(self, request: Step, summand: Callable[[AskMasked], Summand]) -> Reply:
        """The reply to one step; `summand` is what this site adds to a sum."""
        match request:
            case AskKeys():
                return self._keys(request)
            case AskShares():
                return self._shares(request)
            case AskMasked():
                return self._masked(request, summand)
            case AskSignature():
                return self._signature(request)
            case AskUnmasking():
                return self._unmasking(request)
        raise ProtocolError(f"knows no step {type(request).__name__} of a secure sum.")

    def told_of(self, number: int) -> str:
        """What a sum tells of, once its numbers were asked for."""
        return self._recalled(f"told of {number}", "its numbers").decode()

    def _keys(self, request: AskKeys) -> Keys:
        if request.cohort != self._cohort or list(self._cohort) != sorted(set(self._cohort)):
            raise ProtocolError("was asked to sum up with other sites than those of the run.")
        if len(self._cohort) < self._needed:
            raise ProtocolError(
                f"was asked for a secure sum of {counted(len(self._cohort), 'site')}; it takes {self._needed}."
            )
        strangers = [name for name in self._cohort if name not in self._members]
        if strangers or self._me not in self._cohort:
            raise ProtocolError(f"was asked to sum up with {listed(strangers) or 'others'}, no members it knows.")
        if request.n_sums != self._n_sums:
            raise ProtocolError(f"was asked for keys of {request.n_sums} sums; the method makes {self._n_sums}.")
        box = secrets.token_bytes(KEY)
        self._vault.keep("box", box)
        public = bytearray()
        for number in range(self._n_sums):
            own = secrets.token_bytes(2 * KEY)
            self._vault.keep(f"secrets {number}", own)
            public += masks.public_key(own[:KEY]) + masks.seed_digest(own[KEY:])
        told = self._run.signed_keys(self._me, masks.public_key(box), bytes(public))
        return Keys(
            _array(masks.public_key(box), KEY),
            _array(bytes(public), self._n_sums, MASK_KEYS),
            _array(sign(self._key, told), SIGNATURE),
        )

    def _shares(self, request: AskShares) -> Shares:
        names = self._listed(request.sites, self._cohort, "shares of its keys")
        shapes = request.boxes.shape, request.masks.shape, request.signatures.shape
        if shapes != ((len(names), KEY), (len(names), self._n_sums, MASK_KEYS), (len(names), SIGNATURE)):
            raise ProtocolError("was sent keys that do not fit the sites or the sums.")
        for place, name in enumerate(names):
            box_key, mask_keys = request.boxes[place].tobytes(), request.masks[place]
            told = self._run.signed_keys(name, box_key, mask_keys.tobytes())
            if not is_signed(self._members[name], told, request.signatures[place].tobytes()):
                raise ProtocolError(
                    f"was sent keys that {name!r} did not sign for this run, cohort and agreement. Do both hold the "
                    "same one? Compare fingerprints, and start a new run."
                )
            if not all(masks.gives_secrets(key) for key in (box_key, *(one[:KEY].tobytes() for one in mask_keys))):
                raise ProtocolError(f"was sent a key of {name!r} that gives no secret (of low order).")
        box, own = self._recalled("box", "keys"), names.index(self._me)
        if request.boxes[own].tobytes() != masks.public_key(box):
            raise ProtocolError("was sent other keys as its own than those it made.")
        by_site = self._split()
        sealed = bytearray()
        for place, name in enumerate(names):
            content = by_site[self._cohort.index(name)]
            if name == self._me:
                sealed += bytes(request.box_size)
            else:
                sealed += masks.seal(box, request.boxes[place].tobytes(), self._run.name, self._me, name, content)
        self._vault.keep("own shares", by_site[self._cohort.index(self._me)])
        self._vault.keep("sites", json.dumps(names).encode())
        self._vault.keep("boxes", request.boxes.tobytes())
        for number in range(self._n_sums):
            self._vault.keep(f"keys {number}", request.masks[:, number, :KEY].tobytes())
        return Shares(_array(bytes(sealed), len(names), request.box_size))

    def _split(self) -> list[bytes]:
        """For each site of the cohort its share of each secret, sum by sum."""
        by_site = [bytearray() for _ in self._cohort]
        for number in range(self._n_sums):
            own = self._recalled(f"secrets {number}", "keys")
            for secret in (own[:KEY], own[KEY:]):
                shares = shamir.split(int.from_bytes(secret, "big"), len(by_site), self._needed)
                for content, share in zip(by_site, shares, strict=True):
                    content += share.to_bytes(SHARE, "big")
        return [bytes(content) for content in by_site]

    def _masked(self, request: AskMasked, summand: Callable[[AskMasked], Summand]) -> Masked:
        sites = json.loads(self._recalled("sites", "shares"))
        names = self._listed(request.sites, sites, "its numbers")
        self._pin("the sites that share secrets", json.dumps(names))
        if request.boxes is not None:
            self._open(names, sites, request.boxes)
        own = self._vault.recall(f"secrets {request.number}")
        if own is None or self._vault.recall(f"shares {request.number}") is None:
            raise ProtocolError(f"has no secrets of sum {request.number}: it is over, or was never prepared.")
        own_numbers, told_of, scaled_by = summand(request)
        this, values = self._run.sum(request.number, request.request.tobytes(), scaled_by, names), own_numbers.copy()
        values += masks.own_mask(this, own[KEY:], self._me, len(values))
        public = self._recalled(f"keys {request.number}", "shares")
        for name in names:
            if name != self._me:
                place = sites.index(name) * KEY
                mask = masks.pair_mask(this, own[:KEY], public[place : place + KEY], (self._me, name), len(values))
                if self._me < name:
                    values += mask
                else:
                    values -= mask
        self._vault.keep(f"sum {request.number}", json.dumps(astuple(this)).encode())
        self._vault.keep(f"told of {request.number}", told_of.encode())
        return Masked(values.view(np.int64))

    def _open(self, names: list[str], sites: list[str], boxes: Bytes) -> None:
        """Take everyone's shares out of their boxes, and keep them sum by sum."""
        box = self._recalled("box", "boxes, which are open already, or keys")
        if boxes.ndim != 2 or len(boxes) != len(names):
            raise ProtocolError("was sent boxes that do not fit the sites.")
        public, contents = self._recalled("boxes", "shares"), []
        for name, sealed in zip(names, boxes, strict=True):
            place = sites.index(name) * KEY
            if name == self._me:
                contents.append(self._recalled("own shares", "shares"))
            else:
                contents.append(self._opened(box, public[place : place + KEY], name, sealed.tobytes()))
        for number in range(self._n_sums):
            part = slice(2 * SHARE * number, 2 * SHARE * (number + 1))
            self._vault.keep(f"shares {number}", b"".join(content[part] for content in contents))
        for done in ("box", "boxes", "own shares"):
            self._vault.remove(done)

    def _opened(self, box: bytes, public: bytes, name: str, sealed: bytes) -> bytes:
        """What another site put into its box; no shares at all where it did not make it so.

        That is no reason to refuse: enough others hold shares, and who cannot open a box is not to be lost for it.
        """
        nothing = NO_SHARE * 2 * self._n_sums
        try:
            content = masks.open_box(box, public, self._run.name, name, self._me, sealed)
        except ProtocolError:
            return nothing
        return content if len(content) == len(nothing) else nothing

    def _signature(self, request: AskSignature) -> Signature:
        names = self._listed(request.survivors, self._sharing(), "a signature")
        self._pin(f"the sites whose {self.told_of(request.number)} are added up", json.dumps(names))
        self._vault.keep(f"survivors {request.number}", json.dumps(names).encode())
        return Signature(_array(sign(self._key, self._told(request.number, names)), SIGNATURE))

    def _unmasking(self, request: AskUnmasking) -> Unmasking:
        sharing = self._sharing()
        names = self._listed(request.survivors, sharing, "the shares that unmask a total")
        if names != json.loads(self._recalled(f"survivors {request.number}", "a signature")):
            raise ProtocolError("was asked to unmask the total over other sites than those it signed for.")
        signers = self._listed(request.signers, names, "the shares that unmask a total", with_me=False)
        if request.signatures.shape != (len(signers), SIGNATURE):
            raise ProtocolError("was sent signatures that do not fit the signers.")
        told = self._told(request.number, names)
        for name, signature in zip(signers, request.signatures, strict=True):
            if not is_signed(self._members[name], told, signature.tobytes()):
                raise ProtocolError(f"was shown no signature of {name!r} under the list of survivors it was told.")
        held = self._recalled(f"shares {request.number}", "shares")
        shares = np.frombuffer(held, dtype=np.uint8).reshape(len(sharing), 2, SHARE)
        alive = np.array([name in names for name in sharing])
        return Unmasking(shares[alive, 1], shares[~alive, 0])

    def _forget(self, number: int) -> None:
        """A sum is over: nothing of it can be masked or unmasked again."""
        for what in ("secrets", "shares", "keys", "sum"):
            self._vault.remove(f"{what} {number}")
        self._vault.remove(f"answer, masked numbers of sum {number}")

    def _told(self, number: int, survivors: list[str]) -> bytes:
        this = Sum(*json.loads(self._recalled(f"sum {number}", "its numbers")))
        return this.signed_survivors(survivors)

    def _sharing(self) -> list[str]:
        names: list[str] = json.loads(self._recalled("the sites that share secrets", "its numbers"))
        return names

    def _listed(
        self, names: tuple[str, ...], among: tuple[str, ...] | list[str], what: str, *, with_me: bool = True
    ) -> list[str]:
        """The names of a list that is in order, of members only, of this site too, and long enough."""
        if list(names) != sorted(set(names)) or not set(names) <= set(among):
            raise ProtocolError(f"was asked for {what} with sites listed twice, out of order, or of no part in it.")
        if with_me and self._me not in names:
            raise ProtocolError(f"was asked for {what} where it is said to be lost itself.")
        if len(names) < self._needed:
            raise ProtocolError(
                f"was asked for {what} with {len(names)} of {len(self._cohort)} sites; it takes {self._needed}."
            )
        return list(names)

    def _pin(self, name: str, text: str) -> None:
        kept = self._vault.recall(name)
        if kept is not None and kept != text.encode():
            raise ProtocolError(f"was told another story than before: {name} changed.")
        self._vault.keep(name, text.encode())

    def _recalled(self, name: str, before: str) -> bytes:
        kept = self._vault.recall(name)
        if kept is None:
            raise ProtocolError(f"was asked for a step of a secure sum before it was asked for {before}.")
        return kept


def _array(data: bytes, *shape: int) -> Bytes:
    return np.frombuffer(data, dtype=np.uint8).reshape(shape)
