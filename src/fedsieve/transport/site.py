"""The endpoint of a site that joined a federation. Each message may be met by a new process, so all lies on disk."""

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from fedsieve.arrays import Float
from fedsieve.deployment import keys
from fedsieve.deployment.admission import check_own_place
from fedsieve.deployment.agreement import NAME
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.folders import JOIN_AGAIN, SiteFolder, make_private
from fedsieve.deployment.ledger import Ledger
from fedsieve.deployment.logs import site_log
from fedsieve.deployment.members import fingerprint
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.spent_noise import SpentNoise
from fedsieve.deployment.what_left import Departure, WhatLeft
from fedsieve.errors import CodecError, FedSieveError, ProtocolError, listed
from fedsieve.files import write_atomically
from fedsieve.messages import Memory, Refusal, Reply, Request
from fedsieve.privacy import SITE, GuardedTable, HeldBack, Pins, Policy, SiteRules, Story
from fedsieve.protocol import SERVER, Client
from fedsieve.reading import read_array
from fedsieve.selection_file import write_selection_json
from fedsieve.tables import Table
from fedsieve.transport.endpoint import Endpoint, Letter, Respond
from fedsieve.transport.envelope import ANYONE, HELLO, RESULT, digest, seal, unseal
from fedsieve.transport.results import read_result


class JoinedSite:
    """A site as its server sees it: answers requests, says who it is, takes results.

    An edge server asks its own sites: `respond` computes replies instead of the rows here, and `pass_on` is given the
    run, round and content of a result. `policy` takes the place of the one that follows from the agreement.
    """

    def __init__(
        self,
        folder: SiteFolder,
        respond: Respond | None = None,
        pass_on: Callable[[str, int, bytes], None] | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.name = folder.name
        self._folder, self._pass_on, self._policy = folder, pass_on, policy
        self._has_no_rows = respond is not None
        self._state = FolderState(folder, self._policy_in_force, has_rows=respond is None)
        self._endpoint = Endpoint(
            self._rules,
            respond or self._from_rows,
            Signed(folder),
            self._state,
            hides_defects=(policy or SITE).hides_defects,
            table=None if respond else self._seen,
            record=self._record,
            log_for=lambda run: site_log(folder, run),
        )

    def answer(self, data: bytes) -> bytes:
        """The sealed reply to a sealed request."""
        return self._endpoint.answer(data)

    def greet(self, data: bytes) -> bytes:
        """Say who this is, to whoever asks in the server's name: the signature is the answer."""
        return self._endpoint.receive(data, HELLO, lambda _letter: b"", to_anyone=True)

    def take_result(self, data: bytes) -> bytes:
        """Keep the result of a run."""
        return self._endpoint.receive(data, RESULT, self._keep_result)

    def _rules(self) -> SiteRules:
        return SiteRules(self._folder.agreement().method, self._policy_in_force())

    def _policy_in_force(self) -> Policy:
        return self._policy or read_policy(self._folder)

    def _record(self, letter: Letter, request: Request | None, reply: Reply, n_bytes: int) -> None:
        """Write down what is about to leave; without that, nothing leaves."""
        refused = reply.reason if isinstance(reply, Refusal) else ""
        try:
            agreement = self._folder.agreement()
            asked_by, under, method = (
                fingerprint(agreement.members[SERVER]),
                agreement.fingerprint,
                agreement.method.name,
            )
        except FedSieveError:  # the reason of the refusal
            asked_by, under, method = "", "", ""
        columns = () if request is None else request.column_names()
        held = () if refused or self._has_no_rows else self._seen(request).held.constant
        WhatLeft(self._folder.path).add(
            Departure(
                run=letter.run,
                round=letter.round,
                request="" if request is None else type(request).__name__,
                reply=type(reply).__name__,
                columns=columns,
                n_rows=0 if refused else reply.n_rows,
                n_bytes=n_bytes,
                asked_by=asked_by,
                agreement=under,
                rule="" if refused else f"agreed on ({method}), and within policy.toml",
                held_back=[name for name in columns if name in held],
                refused=refused,
            )
        )

    def _from_rows(self, request: Request, run: str) -> Reply:
        return Client(self._seen(request), self._state.memory(run)).answer(request)

    def _seen(self, request: Request | None) -> GuardedTable:
        """The rows as a request sees them, without what is held back."""
        if request is not None and request.noisy:
            return GuardedTable(self._rows, HeldBack())
        ranges = {} if request is None else dict(request.clips())
        min_cell = self._policy_in_force().min_cell
        return GuardedTable(self._rows, self._folder.held_back(self._rows, min_cell, ranges))

    @cached_property
    def _rows(self) -> Table:
        return self._folder.rows()

    def _keep_result(self, letter: Letter) -> bytes:
        text = read_result(letter.payload, self._folder.agreement(), letter.run)
        if self._pass_on is not None:
            self._pass_on(letter.run, letter.round, letter.payload)
        write_selection_json(text, make_private(self._folder.results / letter.run))
        return b""


class Signed:
    """Payloads in signed envelopes; a request that the operator did not sign is not answered at all."""

    def __init__(self, folder: SiteFolder) -> None:
        self._folder, self._name = folder, folder.name

    def open(self, data: bytes, *, to_anyone: bool = False) -> Letter:
        """Only what the operator signed."""
        envelope = unseal(data, {SERVER: keys.read_public_key(self._folder.path / "operator.pub")})
        if not NAME.fullmatch(envelope.run):  # it becomes a file's name here
            raise CodecError("a request of a run that has no proper name.")
        receiver = ANYONE if to_anyone else self._name
        reference = (envelope, digest(data), receiver)
        return Letter(envelope.run, envelope.round, envelope.payload, reference, envelope.kind, envelope.cohort)

    def refuse_foreign(self, letter: Letter, kind: str) -> None:
        """What the operator signed for another site or use, under another agreement, long ago, or with strangers."""
        envelope, _, receiver = letter.reference
        agreement = self._folder.agreement()
        envelope.require(sender=SERVER, receiver=receiver, kind=kind, agreement=agreement.fingerprint)
        envelope.require_fresh(time.time(), agreement.timeout_seconds)
        check_own_place(self._folder, agreement)
        strangers = sorted(set(letter.cohort) - set(agreement.approved))
        if strangers:
            raise ProtocolError(f"is asked to take part with {listed(strangers)}, no member of its agreement.")
        if kind != HELLO and self._name not in letter.cohort:
            raise ProtocolError("is asked for a run of which it is said to be no part.")

    def seal(self, letter: Letter, payload: bytes) -> bytes:
        """Names the one request that it answers."""
        request, about, _ = letter.reference
        fresh = {"time": int(time.time()), "nonce": secrets.token_hex(16), "cohort": ()}
        reply = replace(request, sender=self._name, receiver=SERVER, about=about, payload=payload, **fresh)
        return seal(reply, keys.read_private_key(self._folder.path / "site.key"))


class FolderState:
    """What a site remembers, for its own eyes only.

    Values and answers lie in the folder that is removed when it leaves; stories and the ledger stay.
    """

    def __init__(self, folder: SiteFolder, policy: Callable[[], Policy], *, has_rows: bool = True) -> None:
        self._folder, self._policy, self._has_rows = folder, policy, has_rows
        self._ledger = Ledger(folder.ledger)

    def memory(self, run: str) -> Memory:
        """Files of one run."""
        return _FileMemory(self._folder.prepared, Path(run).name)

    def story(self, run: str) -> Story:
        """From the ledger."""
        return self._ledger.story(run)

    def keep_story(self, run: str, story: Story) -> None:
        """In the ledger."""
        self._ledger.keep_story(run, story)

    def answer(self, run: str, digest: str) -> bytes | None:
        """From its file."""
        file = self._answer_file(run, digest)
        return file.read_bytes() if file.is_file() else None

    def keep_answer(self, run: str, digest: str, payload: bytes) -> None:
        """In a file of its own."""
        file = self._answer_file(run, digest)
        make_private(file.parent)
        write_atomically(file, lambda path: path.write_bytes(payload), mode=keys.PRIVATE)

    def lasting(self) -> Pins:
        """Of the present agreement."""
        return self._ledger.lasting(self._folder.agreement().fingerprint)

    def keep_lasting(self, pins: Pins) -> None:
        """Of the present agreement."""
        self._ledger.keep_lasting(self._folder.agreement().fingerprint, pins)

    def admit(self, run: str) -> None:
        """Entered in the ledger, with the rows as they are in the site's own file, once consent is seen to cover it.

        Under noise rows are not compared with earlier ones: the budget covers what answers about both tell.
        """
        private = self._folder.agreement().method.private
        rows = self._folder.rows() if self._has_rows and not private else None
        if self._has_rows:
            consent = ConsentRecord(self._folder.path)
            reason = consent.allowed_now(run, self._ledger.runs_since(consent.since()))
            if reason:
                raise ProtocolError(reason)
        self._ledger.admit(run, self._folder.agreement().fingerprint, self._policy(), rows)

    def spend(self, run: str, digest: str, multiplier: float) -> None:
        """Entered in the ledger of all runs and agreements."""
        agreement = self._folder.agreement().fingerprint
        SpentNoise(self._folder.ledger).spend(run, agreement, digest, multiplier, self._policy())

    def _answer_file(self, run: str, digest: str) -> Path:
        return self._folder.prepared / "answers" / Path(run).name / digest


class _FileMemory:
    def __init__(self, folder: Path, run: str) -> None:
        self._folder, self._run = folder, run

    def keep(self, name: str, values: Float) -> None:
        def save(path: Path) -> None:
            with path.open("wb") as file:
                np.save(file, values)

        write_atomically(self._file(name), save, mode=keys.PRIVATE)

    def recall(self, name: str) -> Float | None:
        file = self._file(name)
        if not file.is_file():
            return None
        return read_array(file, way_out=JOIN_AGAIN)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name.replace(' ', '-')}-{self._run}.npy"
