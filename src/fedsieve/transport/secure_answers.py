"""Secure sums at an endpoint: what a site adds to a sum passes all its checks, as if it were asked for by itself.

The package `cryptography` is loaded only where a method asks for secure sums.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from fedsieve.errors import CodecError, FalseTotalError, ProtocolError, extra_needed
from fedsieve.messages import Known, Reply, Request
from fedsieve.messages.cells import AskCells, Cells
from fedsieve.messages.secure_sum import AskKeys, AskMasked, AskSignature, Step
from fedsieve.privacy import GuardedTable, HeldBack, SiteRules, held_back_in_total
from fedsieve.protocol import Method
from fedsieve.protocol.parties import GatherCohort
from fedsieve.tables import Table
from fedsieve.transport.codec import decode, encode

if TYPE_CHECKING:
    from fedsieve.privacy.secure_sum.site import Identity, Summand
    from fedsieve.transport.endpoint import Letter
    from fedsieve.transport.site_state import SiteState

ReplyTo: TypeAlias = Callable[[Request, str, SiteRules], Reply]
"""The reply to a request of this digest under these rules, once it passed all checks."""
OWN_CELLS, ALL_CELLS, BEGUN = "own cells", "cells", "begun"  # in the vault


def within(request: Step) -> Request:
    """The request that a sum is about, where the step names one; else the step itself."""
    if not isinstance(request, AskMasked):
        return request
    inner = decode(request.request.tobytes())
    if not isinstance(inner, Request) or isinstance(inner, Step):
        raise CodecError(f"was sent {type(inner).__name__}, no request for a sum.")
    return inner


class SecureAnswers:
    """A site's part in secure sums: who it is, and where it keeps what it knows of them."""

    def __init__(self, identity: "Identity", state: "SiteState") -> None:
        self._identity, self._state = identity, state

    def payload(self, letter: "Letter", request: Step, rules: SiteRules, reply_to: ReplyTo) -> bytes:
        """The encoded reply to one step."""
        sums = _package()
        vault = self._state.vault(letter.run)
        if vault.recall(BEGUN) is None and self._state.story(letter.run).asked:
            raise ProtocolError("has answered in this run already, and its secrets of it are gone. Start a new run.")
        self._admit(letter, request, rules)
        site = sums.SumSite(self._identity, letter.run, letter.cohort, sums.n_sums(rules.method), vault)

        def summand(masked: AskMasked) -> "Summand":
            return self._summand(letter, masked, rules, reply_to)

        def reply() -> bytes:
            if isinstance(request, AskSignature) and _tells_apart(rules):
                told_of = site.told_of(request.number)
                self._state.check_cohort(letter.run, request.survivors)
                self._state.keep_cohort(letter.run, request.survivors, told_of)
            return encode(site.answer(request, summand))

        payload: bytes = site.answer_once(letter.payload, request, reply)
        return payload

    def _admit(self, letter: "Letter", request: Step, rules: SiteRules) -> None:
        """A run is entered before its first step is answered."""
        if not isinstance(request, AskKeys):
            return
        if _tells_apart(rules):
            self._state.check_cohort(letter.run, request.cohort)
        if rules.policy.keeps_story:
            rules.check_run(letter.cohort)
            self._state.admit(letter.run)
            self._state.end_other_sums(letter.run)
        self._state.vault(letter.run).keep(BEGUN, b"")

    def table(self, table: Table, method: Method, run: str) -> GuardedTable:
        """A site's rows as a run's sums see them: without columns of which the total would tell of few rows."""
        cells = self._recalled(run, ALL_CELLS)
        if cells is None:
            return GuardedTable(table, HeldBack())
        few = cells.too_few(method.min_cell)
        left_out = [name for name, out in zip((*cells.features, *cells.labels), few, strict=True) if out]
        return GuardedTable(table, held_back_in_total(table, left_out, method.nominal, method.min_cell))

    def _summand(self, letter: "Letter", masked: AskMasked, rules: SiteRules, reply_to: ReplyTo) -> "Summand":
        content, request = masked.request.tobytes(), within(masked)
        first = isinstance(request, AskCells)
        if first != (masked.number == 0 and not rules.method.private):
            raise ProtocolError("was asked for its cells, the first sum of a run, at another time.")
        n_rows, scaled_by = rules.method.max_rows * len(letter.cohort), ""
        if not first and not rules.method.private:
            cells = self._cells(letter.run, masked.cells, rules.method, len(letter.cohort))
            n_rows, scaled_by = cells.n_rows, hashlib.sha256(encode(cells)).hexdigest()
            rules = rules.for_total(n_rows)
        reply = reply_to(request, hashlib.sha256(content).hexdigest(), rules)
        if first:
            self._state.vault(letter.run).keep(OWN_CELLS, encode(reply))
        sums = _package()
        summand: Summand = sums.Summand(sums.ring_of(request, reply, n_rows), sums.told_of(request), scaled_by)
        return summand

    def _cells(self, run: str, told: Cells | None, method: Method, n_sites: int) -> Cells:
        """The cells of all sites, as they were told with the second sum of the run."""
        kept, own = self._recalled(run, ALL_CELLS), self._recalled(run, OWN_CELLS)
        if told is None and kept is None:
            raise ProtocolError("was asked for a sum before it was told the cells of all sites.")
        if told is None:
            assert kept is not None
            return kept
        if own is None or not told.holds(own):
            raise FalseTotalError("was told cells of all sites that do not hold its own.")
        labels = method.columns_read[len(method.features) :]
        known = Known(max_sites=max(n_sites, 1), max_rows=method.max_rows)
        wrong = AskCells(method.columns, labels).why_refused(told, known)
        if wrong:
            raise ProtocolError(f"was told cells that no {n_sites} sites have together, as if one {wrong}")
        if kept is not None and encode(kept) != encode(told):
            raise ProtocolError("was told another story than before: the cells of all sites changed.")
        self._state.vault(run).keep(ALL_CELLS, encode(told))
        return told

    def _recalled(self, run: str, name: str) -> Cells | None:
        kept = self._state.vault(run).recall(name)
        cells = None if kept is None else decode(kept)
        assert cells is None or isinstance(cells, Cells)
        return cells


def secure_members(
    method: Method, states: Mapping[str, "SiteState"]
) -> tuple[dict[str, Any], dict[str, SecureAnswers]]:
    """Sites within one process: a key for each that lives as long as the run; the public keys, and the sites' parts."""
    sums = _package()
    keys = {name: sums.new_key() for name in states}
    members = {name: key.public_key() for name, key in keys.items()}
    agreed = method_digest(method)
    return members, {name: secure_answers(name, keys[name], members, agreed, states[name]) for name in states}


def secure_answers(
    name: str, key: Any, members: Mapping[str, Any], agreement: str, state: "SiteState"
) -> SecureAnswers:
    """The part of a site of this name and key, which sums up with these members under this agreement and no others."""
    return SecureAnswers(_package().Identity(name, key, members, agreement), state)


def secure_cohorts(method: Method, run: str, agreement: str, members: Mapping[str, Any]) -> GatherCohort:
    """How the server's loop gets a cohort of which only totals are seen."""
    sums = _package()
    return lambda sites, rounds: sums.SecureCohort(method, sites, run, agreement, members, encode, rounds)


def method_digest(method: Method) -> str:
    """What stands for the agreement within one process, where nobody wrote one."""
    return hashlib.sha256(repr(method).encode()).hexdigest()


def _tells_apart(rules: SiteRules) -> bool:
    """Whether subtracting two totals tells of single sites: noise hides that."""
    return not rules.method.private


def _package() -> Any:
    try:
        from fedsieve.privacy.secure_sum import protocol
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "cryptography":
            raise
        raise extra_needed("secure=True", "cryptography", "secure") from None
    return protocol
