"""A cohort of which only totals are seen: every `total` is one secure sum, of three rounds after two for the set-up."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from fedsieve.arrays import Bytes
from fedsieve.errors import ProtocolError, listed, why_each
from fedsieve.messages import Known, Reply, Request
from fedsieve.messages.cells import Cells
from fedsieve.messages.secure_sum import (
    KEY,
    AskKeys,
    AskMasked,
    AskShares,
    AskSignature,
    AskUnmasking,
    Keys,
    Masked,
    Signature,
    Unmasking,
)
from fedsieve.privacy.noise import least_honest
from fedsieve.privacy.secure_sum import masks, shamir, vectors
from fedsieve.privacy.secure_sum.rebuilding import at_odds
from fedsieve.privacy.secure_sum.server import Gathered, unmasked
from fedsieve.privacy.secure_sum.signatures import PublicKey, is_signed
from fedsieve.privacy.secure_sum.statements import Run, Sum
from fedsieve.privacy.taking_part import first_request, taking_part
from fedsieve.protocol.cohort import BadReplyError, Observer, Question, Steps
from fedsieve.protocol.method import Labeled, Method
from fedsieve.protocol.totals import KeptTotals
from fedsieve.text import is_or_are

AnyReply = TypeVar("AnyReply")


def n_sums(method: Method) -> int:
    """How many secure sums a run of the method makes at most."""
    return sum(terms.most for terms in method.terms())


@dataclass(frozen=True, eq=False)
class SetUp:
    """What the server forwards: the keys of those that sent any, and the boxes of those that shared their secrets."""

    public: Mapping[str, Bytes]  # (n_sums, 64) of each site
    sharing: tuple[str, ...]
    boxes: Mapping[str, Bytes]  # receiver -> (n_sharing, size)


class SecureCohort:
    """Sites whose single replies nobody sees; a lost one is left out of later sums, and rebuilt from shares.

    `encode` makes bytes of a message, `members` are the sites' public keys, `run` and `agreement` what sites know the
    run by.
    """

    unseen = "only the total over the sites is seen (secure sums)"
    compares_all = False

    def __init__(
        self,
        method: Method,
        sites: tuple[str, ...],
        run: str,
        agreement: str,
        members: Mapping[str, PublicKey],
        encode: Callable[[Request | Reply], bytes],
        rounds_before: int = 0,
    ) -> None:
        self.clients = tuple(sorted(sites))
        self.round, self.dropped = rounds_before, dict[str, str]()
        self.n_rows: dict[str, int] | None = None
        self._run = Run(run, agreement, self.clients)
        self._method, self._members, self._encode = method, members, encode
        self._needed = shamir.threshold(len(self.clients))
        self.noise_shares = least_honest(len(self.clients))
        self._set_up: SetUp | None = None
        self._cells: Cells | None = None
        self._number = 0
        self._disputes: set[tuple[str, str]] = set()  # holder and owner of shares that did not fit
        self._totals: KeptTotals | None = None
        self._summed: dict[str, tuple[str, ...]] = {}  # what totals tell of -> whose they are

    def observe(self, observer: Observer) -> None:
        """Nothing is there to see."""

    def keep_totals(self, totals: KeptTotals) -> None:
        """Show it every sum, that of cells too."""
        self._totals = totals
        totals.begin(self)

    def each(self, request: Request, take: Callable[[Any], Any] | None = None) -> Steps[dict[str, Any]]:  # noqa: ARG002
        """Refused: nobody sees single replies."""
        raise ProtocolError(f"{type(request).__name__} of single sites: {self.unseen}.")

    def begin(self, method: Method, labeled: Labeled) -> Steps[tuple[Method, Labeled, tuple[str, ...]]]:
        """Keys and shares, then the first sum: cells. What of the method and of the server's rows takes part follows.

        A column of which the total would tell of fewer than `min_cell` rows is constant, at the sites and here. Under
        noise no exact cells are told, and none are needed.
        """
        self._set_up = yield from self._keys_and_shares()
        if method.private:
            return method, labeled, ()
        first = first_request(method)
        self._cells = yield from self._sum(first)
        if self._totals is not None:
            self._totals.keep(first, self._cells)
        return taking_part(method, labeled, self._cells)

    def total(self, request: Request, own: Reply | None = None) -> Steps[Any]:
        """One secure sum; the server's own reply is added to it in the clear."""
        total = yield from self._sum(request)
        total = total if own is None else total + own
        if self._totals is not None:
            self._totals.keep(request, total)
        return total

    def _keys_and_shares(self) -> Steps[SetUp]:
        ask = AskKeys(self.clients, n_sums(self._method))
        keys: dict[str, Keys] = yield from self._asked(self.clients, ask)
        keys = self._right(keys, self._why_no_keys)
        parts = [(reply.box, reply.masks, reply.signature) for reply in keys.values()]
        forward = AskShares(tuple(keys), *(np.stack(part) for part in zip(*parts, strict=True)))
        shares = yield from self._asked(tuple(keys), forward)
        sharing = tuple(shares)
        boxes = {
            name: np.stack([shares[sender].boxes[list(keys).index(name)] for sender in sharing]) for name in sharing
        }
        return SetUp({name: reply.masks for name, reply in keys.items()}, sharing, boxes)

    def _sum(self, request: Request) -> Steps[Any]:
        """The reply of all remaining sites together."""
        number, set_up, content = self._number, self._set_up, self._encode(request)
        assert set_up is not None
        self._number += 1
        n_rows = len(self.clients) * self._method.max_rows if self._cells is None else self._cells.n_rows
        numbers = yield from self._masked(number, request, content, n_rows)
        survivors = tuple(numbers)
        if self._summed.setdefault(vectors.told_of(request), survivors) != survivors:
            lost = [name for name in set_up.sharing if name not in survivors]
            raise ProtocolError(
                f"{self._method.name}: {listed(lost)} lost between sums that belong together ({request.title}): their "
                "difference would tell of single sites. Start a new run."
            )
        scaled_by = "" if self._cells is None else hashlib.sha256(self._encode(self._cells)).hexdigest()
        this = self._run.sum(number, content, scaled_by, list(set_up.sharing))
        unmasking = yield from self._unmasking(this, survivors)
        lost = [name for name in set_up.sharing if name not in numbers]
        done = unmasked(
            this,
            Gathered(
                set_up.sharing,
                {name: reply.values.view(np.uint64) for name, reply in numbers.items()},
                {name: self._held(unmasking, "seeds", place) for place, name in enumerate(survivors)},
                {name: self._held(unmasking, "keys", place) for place, name in enumerate(lost)},
                self._needed,
                {self.clients.index(holder) + 1 for holder, _ in self._disputes},
            ),
            {name: keys[number] for name, keys in set_up.public.items()},
        )
        self._disputes |= {(self.clients[place - 1], owner) for place, owner in done.unfit}
        self._lose({name: why for name, why in at_odds(self._disputes).items() if name not in self.dropped})
        total = vectors.reply_of(request, done.total, n_rows, len(survivors))
        return self._believed(request, total, len(survivors))

    def _masked(self, number: int, request: Request, content: bytes, n_rows: int) -> Steps[dict[str, Masked]]:
        set_up = self._set_up
        assert set_up is not None
        ask = AskMasked(
            number,
            np.frombuffer(content, dtype=np.uint8),
            set_up.sharing,
            cells=self._cells if number == 1 else None,
        )
        alive = tuple(name for name in set_up.sharing if name not in self.dropped)
        own = {name: replace(ask, boxes=set_up.boxes[name]) for name in alive} if number == 0 else {}
        replies = yield from self._asked(alive, ask, own)
        length = vectors.length(request, n_rows)

        def why_wrong(_name: str, reply: Masked) -> str:
            n_numbers = len(reply.values)
            return "" if n_numbers == length else f"sent {n_numbers} masked numbers; the sum has {length}."

        return self._right(replies, why_wrong)

    def _unmasking(self, this: Sum, survivors: tuple[str, ...]) -> Steps[dict[str, Unmasking]]:
        """The survivors' signatures under the list of them, then their shares."""
        assert self._set_up is not None
        signed: dict[str, Signature] = yield from self._asked(survivors, AskSignature(this.number, survivors))
        told, n_lost = this.signed_survivors(list(survivors)), len(self._set_up.sharing) - len(survivors)

        def why_unsigned(name: str, reply: Signature) -> str:
            right = is_signed(self._members[name], told, reply.signature.tobytes())
            return "" if right else "did not sign the list of survivors."

        def why_wrong(_name: str, reply: Unmasking) -> str:
            n_keys = len(reply.keys)
            return "" if n_keys == n_lost else f"sent shares of {n_keys} lost sites, not of {n_lost}."

        signed = self._right(signed, why_unsigned)
        signatures = np.stack([reply.signature for reply in signed.values()])
        ask = AskUnmasking(this.number, survivors, tuple(signed), signatures)
        replies: dict[str, Unmasking] = yield from self._asked(tuple(signed), ask)
        return self._right(replies, why_wrong)

    def _held(self, unmasking: Mapping[str, Unmasking], what: str, place: int) -> dict[int, int]:
        """Who holds which share, by place in the cohort from 1 on; some may hold none."""
        shares = {name: getattr(reply, what)[place].tobytes() for name, reply in unmasking.items()}
        held = {self.clients.index(name) + 1: int.from_bytes(share, "big") for name, share in shares.items()}
        return {holder: share for holder, share in held.items() if share < shamir.PRIME}

    def _believed(self, request: Request, total: Reply, n_sites: int) -> Reply:
        """The total, once it breaks no rule that a reply of so many sites obeys."""
        known = Known(max_sites=n_sites, max_rows=self._method.max_rows)
        reason = next(request.complaints(total, known), None)
        if reason:
            raise ProtocolError(
                f"{self._method.name}: the total over {n_sites} sites broke a rule: it {reason} Which site broke it "
                "cannot be told from a secure sum; check the sites' tables, or run without secure sums."
            )
        return total

    def _asked(
        self, clients: tuple[str, ...], request: Request, own: Mapping[str, Request] | None = None
    ) -> Steps[dict[str, Any]]:
        """The replies of those that followed the protocol; the others are lost."""
        self.round += 1
        replies = yield Question(self.round, clients, request, self.clients, own=own or {})

        def why_refused(_name: str, reply: Reply | None) -> str | None:
            return "did not answer." if reply is None else request.why_refused(reply, Known())

        return self._right({name: replies.get(name) for name in clients}, why_refused)

    def _why_no_keys(self, name: str, reply: Keys) -> str:
        box, public = reply.box.tobytes(), reply.masks
        told = self._run.signed_keys(name, box, public.tobytes())
        if not is_signed(self._members[name], told, reply.signature.tobytes()):
            return "sent keys that it did not sign for this run, cohort and agreement."
        if not all(masks.gives_secrets(key) for key in (box, *(one[:KEY].tobytes() for one in public))):
            return "sent a key that gives no secret (of low order)."
        return ""

    def _right(
        self, replies: Mapping[str, AnyReply], why_wrong: Callable[[str, AnyReply], str | None]
    ) -> dict[str, AnyReply]:
        """Those that are not wrong; who sent the others is lost."""
        wrong = {name: reason for name, reply in replies.items() if (reason := why_wrong(name, reply))}
        self._lose(wrong)
        return {name: reply for name, reply in replies.items() if name not in wrong}

    def _lose(self, reasons: Mapping[str, str]) -> None:
        """Go on without some sites, where that is agreed on and enough remain."""
        if not reasons:
            return
        if self._method.on_bad_client == "raise":
            raise BadReplyError(dict(reasons))
        self.dropped.update(reasons)
        n_left = len(self.clients) - len(self.dropped)
        if n_left < self._needed:
            raise ProtocolError(
                f"{self._method.name}: {n_left} of {len(self.clients)} sites {is_or_are(n_left)} left; "
                f"a secure sum takes {self._needed}. Lost: {why_each(self.dropped)}"
            )
