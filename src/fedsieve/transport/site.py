"""The endpoint of a site that joined a federation. Each message may be met by a new process, so all lies on disk."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property

from fedsieve.deployment import keys
from fedsieve.deployment.folders import make_private
from fedsieve.deployment.logs import site_log
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.site_shift import FILE, compared, words, write_shift
from fedsieve.errors import ProtocolError
from fedsieve.files import held_file
from fedsieve.messages import Refusal, Reply, Request
from fedsieve.privacy import SITE, GuardedTable, HeldBack, Policy, SiteRules, with_views
from fedsieve.protocol import Client
from fedsieve.selection_file import write_selection
from fedsieve.tables import Table
from fedsieve.transport.departures import record_departure
from fedsieve.transport.endpoint import Endpoint, Letter, Respond
from fedsieve.transport.envelope import HELLO, RESULT
from fedsieve.transport.folder_state import FolderState
from fedsieve.transport.follow_up_site import FollowUpSite
from fedsieve.transport.results import read_result
from fedsieve.transport.secure_answers import SecureAnswers, secure_answers
from fedsieve.transport.signed import Signed


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
            sums=None if respond else self._sums,
            record=self._record,
            log_for=lambda run: site_log(folder, run),
            place=str(folder.path),
        )

    def answer(self, data: bytes) -> bytes:
        """The sealed reply to a sealed request; of several at once, one after the other.

        Each may be met by a process of its own, and two would both find that nothing was asked yet.
        """
        with self._one_at_a_time():
            return self._endpoint.answer(data)

    def greet(self, data: bytes) -> bytes:
        """Say who this is, to whoever asks in the server's name: the signature is the answer."""
        return self._endpoint.receive(data, HELLO, lambda _letter: b"", to_anyone=True)

    def take_result(self, data: bytes) -> bytes:
        """Keep the result of a run."""
        with self._one_at_a_time():
            return self._endpoint.receive(data, RESULT, self._keep_result)

    def follow_up(self, data: bytes) -> bytes:
        """The sealed reply to a request of what follows a run."""
        if self._has_no_rows:
            raise ProtocolError("an edge server has no rows of its own, so that nothing follows a run here.")
        with self._one_at_a_time():
            return FollowUpSite(self._folder, self._policy_in_force).answer(data)

    def _one_at_a_time(self) -> AbstractContextManager[None]:
        return held_file(make_private(self._folder.ledger) / "answering")

    def _rules(self) -> SiteRules:
        agreement = self._folder.agreement()
        n_above = 0 if agreement.above is None else agreement.above.max_sites
        return SiteRules(agreement.method, self._policy_in_force(), sites_above=n_above)

    def _policy_in_force(self) -> Policy:
        return self._policy or read_policy(self._folder)

    def _record(self, letter: Letter, request: Request | None, reply: Reply, n_bytes: int) -> None:
        """Write down what is about to leave; without that, nothing leaves."""
        told = not isinstance(reply, Refusal) and not self._has_no_rows
        held = self._seen(request, letter.run).held.constant if told else ()
        rule = "" if isinstance(reply, Refusal) else f"agreed on ({self._rules().method.name}), and within policy.toml"
        n_rows = self._rows.n_rows if told else 0
        record_departure(self._folder, letter, request, reply, n_bytes, rule=rule, n_rows=n_rows, held=held)
        if told and request is not None:
            self._compare(request, letter.run)

    def _compare(self, request: Request, run: str) -> None:
        """Tell this site, and nobody else, how unlike the others its rows are, once it is told the total."""
        told, place = request.told_spread(), self._folder.results / run
        if told is None or (place / FILE).exists():
            return
        found = compared(self._rows, self._seen(request, run), *told)
        write_shift(place, found)
        site_log(self._folder, run).info("%s (%s)", words(found), place / FILE)

    def _from_rows(self, request: Request, run: str) -> Reply:
        return Client(self._seen(request, run), self._state.memory(run)).answer(request)

    def _sums(self) -> SecureAnswers:
        """Its part in secure sums: with members of its agreement only, each known by its key there."""
        agreement = self._folder.agreement()
        members = {name: keys.public_key(agreement.members[name]) for name in agreement.approved}
        key = keys.read_private_key(self._folder.path / "site.key")
        return secure_answers(self.name, key, members, agreement.fingerprint, self._state)

    def _seen(self, request: Request | None, run: str) -> GuardedTable:
        """The rows as a request sees them, without what is held back."""
        method = self._folder.agreement().method
        if method.secure:
            return self._sums().table(self._rows, method, run)
        if method.private:
            return GuardedTable(self._rows, HeldBack())
        min_cell = self._policy_in_force().min_cell
        if request is None:
            return GuardedTable(self._rows, self._folder.held_back(self._rows, min_cell, new=self._state.changes().new))
        views, new = with_views(self._state.views(), request.views()), self._state.changes().new
        return GuardedTable(self._rows, self._folder.held_back(self._rows, min_cell, request.clips(), views, new))

    @cached_property
    def _rows(self) -> Table:
        return self._folder.rows()

    def _keep_result(self, letter: Letter) -> bytes:
        record = read_result(letter.payload, self._folder.agreement(), letter.run)
        if self._pass_on is not None:
            self._pass_on(letter.run, letter.round, letter.payload)
        place = make_private(self._folder.results / letter.run)
        write_selection(record, place)
        if self._folder.agreement().method.secure:
            self._state.end_sums(letter.run, "was given the result of this run")
        site_log(self._folder, letter.run).info("the result is in %s", place)
        return b""
