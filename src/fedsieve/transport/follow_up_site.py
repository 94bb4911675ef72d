"""A joined site's answers to what follows a run: by the rules of every answer, on the columns that the run selected.

Which run is meant follows from the name under which a letter comes, and what it selected from the result that this
site was given. Rows themselves leave only where somebody consented to that apart.
"""

from collections.abc import Callable
from functools import cached_property

from fedsieve.deployment import keys
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.followed_run import FollowedRun, followed
from fedsieve.deployment.logs import site_log
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.site_scores import write_scores
from fedsieve.errors import ProtocolError
from fedsieve.messages import Refusal, Reply, Request
from fedsieve.privacy import GuardedTable, HeldBack, Policy, SiteRules, rows_leave, why_forbidden
from fedsieve.protocol import Client
from fedsieve.protocol.follow_up import FollowUp, name_at_sites
from fedsieve.tables import ChosenColumns, Table
from fedsieve.transport.departures import record_departure
from fedsieve.transport.endpoint import Endpoint, Letter
from fedsieve.transport.envelope import AFTER
from fedsieve.transport.folder_state import FolderState
from fedsieve.transport.secure_answers import SecureAnswers, secure_answers
from fedsieve.transport.signed import Signed


class FollowUpSite:
    """What one letter about a run that is over makes of a site."""

    def __init__(self, folder: SiteFolder, policy: Callable[[], Policy]) -> None:
        self._folder, self._policy = folder, policy
        self._name = ""
        self._state = FolderState(folder, policy, rows=lambda: self._rows)

    def answer(self, data: bytes) -> bytes:
        """The sealed reply to a sealed request."""
        signed = Signed(self._folder)
        self._name = signed.open(data).run
        endpoint = Endpoint(
            self._rules,
            lambda request, run: Client(self._seen(request, run)).answer(request),
            signed,
            self._state,
            hides_defects=True,
            table=self._seen,
            sums=self._sums,
            record=self._record,
            log_for=lambda run: site_log(self._folder, run),
            place=str(self._folder.path),
        )
        return endpoint.answer(data, AFTER)

    @cached_property
    def _followed(self) -> tuple[FollowedRun, str]:
        return followed(self._folder, self._name)

    @cached_property
    def _method(self) -> FollowUp:
        run, what = self._followed
        return run.follow_up(what)

    @cached_property
    def _rows(self) -> Table:
        """With the labels that are known here, where they are counted."""
        return self._folder.rows() if rows_leave(self._method) else self._folder.rows_with_labels()

    def _seen(self, _request: Request | None, run: str) -> Table:
        """As they are where they leave; else without what is held back of the columns."""
        if rows_leave(self._method):
            return self._rows
        if self._method.secure:
            return self._sums().table(self._rows, self._method, run)
        if not self._policy().min_cell:
            return GuardedTable(self._rows, HeldBack())
        names = self._folder.agreement().method.features  # labels are counted, and never shown as if constant
        features, new = ChosenColumns(self._rows, names), self._state.changes().new
        return GuardedTable(self._rows, self._folder.held_back(features, self._policy().min_cell, new=new))

    def _sums(self) -> SecureAnswers:
        agreement = self._folder.agreement()
        members = {name: keys.public_key(agreement.members[name]) for name in agreement.approved}
        key = keys.read_private_key(self._folder.path / "site.key")
        return secure_answers(self._folder.name, key, members, agreement.fingerprint, self._state)

    def _rules(self) -> SiteRules:
        """The rules of every answer; raises where rows would leave to which nobody consented apart."""
        method, policy = self._method, self._policy()
        if reason := why_forbidden(method, policy):
            raise ProtocolError(reason)
        if rows_leave(method):
            released = self._followed[0].released(method)
            if reason := ConsentRecord(self._folder.path).why_rows_stay(released):
                raise ProtocolError(reason)
        return SiteRules(method, policy)

    def _record(self, letter: Letter, request: Request | None, reply: Reply, n_bytes: int) -> None:
        refused = isinstance(reply, Refusal)
        apart = ", consented to apart" if not refused and rows_leave(self._method) else ""
        rule = "" if refused else f"agreed on ([after] {self._method.name}), within policy.toml{apart}"
        n_rows = 0 if refused else self._rows.n_rows
        record_departure(self._folder, letter, request, reply, n_bytes, rule=rule, n_rows=n_rows)
        if request is not None and not refused:
            self._keep_table(request)

    def _keep_table(self, request: Request) -> None:
        """Keep what a request brings the site itself, computed from its rows as they are."""
        table = request.table_for_site(self._rows)
        if table is not None:
            run, what = self._followed
            number = self._name.removeprefix(name_at_sites(run.run, what)).removeprefix(".")
            file = write_scores(self._folder.results / run.run, *table, number)
            site_log(self._folder, self._name).info("scores of the labels are in %s", file)
