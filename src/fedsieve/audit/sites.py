"""The real path between an attack and a site: its endpoint, and what a run shows of it, to its end or to a refusal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from fedsieve.errors import FedSieveError, extra_needed
from fedsieve.messages import Refusal, Reply, Request
from fedsieve.messages.whole_covariances import AskWholeCovariances, WholeCovariances
from fedsieve.privacy import Policy
from fedsieve.protocol import Labeled, Method, Question
from fedsieve.protocol.cohort import BadReplyError, RunCohort, Steps
from fedsieve.protocol.parties import GatherCohort
from fedsieve.tables import Table
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.exchange import Answer, drive
from fedsieve.transport.secure_answers import SecureAnswers, method_digest, secure_cohorts, secure_members
from fedsieve.transport.site_state import TransientState

Ask: TypeAlias = Callable[[Request], Reply]
"""One site, as a server meets it: a request in, a reply or a refusal out."""
AskInRun: TypeAlias = Callable[[Request, str], Reply]
"""The same, in a run of the server's choice."""
Seen: TypeAlias = list[tuple[Request, Any]]
"""What a server asked in one run, and was answered: by one site, or by all of them together in secure sums."""
COHORT = ("a", "b", "c")  # of a site that is asked by itself


class RememberingState(TransientState):
    """The state of a site whose ledger outlives its runs, as that of a joined site does."""

    def __init__(self, folder: Path, policy: Policy) -> None:
        super().__init__()
        self._ledger, self._policy = _ledger(folder), policy
        self.table: Table | None = None  # as it is at present

    def n_changed(self) -> int:
        """By how many rows the present table differs from the nearest that was answered for."""
        return 0 if self.table is None else int(self._ledger.changes(self.table).least)

    def admit(self, run: str) -> None:
        """Enter the run; raises where the rows differ too little from earlier ones."""
        self._ledger.admit(run, "the agreement", self._policy, self.table)


@dataclass(frozen=True, eq=False)
class Overheard:
    """What a server holds after a run: answers, and, where sites ended it, the reason of the one that is looked at."""

    seen: Seen = field(default_factory=list)
    ended: str = ""
    error: FedSieveError | None = None  # with the reasons of all


def site(table: Table, method: Method, policy: Policy, cohort: tuple[str, ...] = COHORT) -> Ask:
    """A site that joined under this policy, in a run of this cohort."""
    ask = site_in_runs(table, method, policy, cohort)
    return lambda request: ask(request, "")


def site_in_runs(table: Table, method: Method, policy: Policy, cohort: tuple[str, ...] = COHORT) -> AskInRun:
    """A site that is asked in several runs, and remembers all of them."""
    wrapping, state = Bare(cohort=cohort), TransientState()
    endpoint = Endpoint.of_table(table, method, policy, wrapping, state)

    def ask(request: Request, run: str) -> Reply:
        wrapping.run = run
        reply = decode(endpoint.answer(encode(request)))
        assert isinstance(reply, Reply)
        return reply

    return ask


def honest_run(method: Method, labeled: Labeled, tables: Mapping[str, Table], policy: Policy, of: str) -> Seen:
    """What a whole run of the method shows of one of its sites; raises where one of them refuses."""
    found = overheard_run(method, labeled, tables, policy, of)
    if found.error is not None:
        raise found.error
    return found.seen


def overheard_run(
    method: Method,
    labeled: Labeled,
    tables: Mapping[str, Table],
    policy: Policy,
    of: str,
    states: Mapping[str, TransientState] | None = None,
    run: str = "run",
) -> Overheard:
    """What a run shows of one of its sites, or in secure sums of all together, until it ends or a site refuses."""
    states = states or {name: TransientState() for name in tables}
    wrapping, seen = Bare(), Seen()
    gather: GatherCohort | None = None
    sums: dict[str, SecureAnswers] = {}
    if method.secure:
        members, sums = secure_members(method, states)
        gather = _overhearing(secure_cohorts(method, run, method_digest(method), members), seen)
    endpoints = {
        name: Endpoint.of_table(table, method, policy, wrapping, states[name], sums.get(name))
        for name, table in tables.items()
    }

    def exchange(question: Question) -> dict[str, Answer]:
        wrapping.run, wrapping.cohort = question.run_at_sites(run), question.cohort
        answers = {}
        for name in question.clients:
            reply = decode(endpoints[name].answer(encode(question.request_to(name))))
            assert isinstance(reply, Reply)
            answers[name] = Answer(reply, 1)
            if name == of and not method.secure and not isinstance(reply, Refusal):
                seen.append(_in_plain_words(question.request, reply))
        return answers

    try:
        drive(method, labeled, tuple(tables), exchange, gather=gather)
    except BadReplyError as bad:
        return Overheard(seen, bad.reasons.get(of) or next(iter(bad.reasons.values())), bad)
    except FedSieveError as error:
        return Overheard(seen, str(error), error)
    return Overheard(seen)


def _in_plain_words(request: Request, reply: Reply) -> tuple[Request, Reply]:
    """Covariances are covariances, whether asked for at once or after means."""
    if isinstance(request, AskWholeCovariances) and isinstance(reply, WholeCovariances) and not reply.n_missing:
        return request.of_all, reply.covariances
    return request, reply


def first_of(seen: Seen, kind: type[Request]) -> tuple[Any, Any]:
    """The first request of a kind, and its reply."""
    return next((request, reply) for request, reply in seen if type(request) is kind)


def asked_for(seen: Seen, kind: type[Request]) -> bool:
    """Whether a request of this kind was answered."""
    return any(type(request) is kind for request, _ in seen)


def _ledger(folder: Path) -> Any:
    """A joined site's ledger, which needs a package that sites without a network may lack."""
    try:
        from fedsieve.deployment.ledger import Ledger
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "cryptography":
            raise
        raise extra_needed("a site that remembers its runs", "cryptography", "secure") from None
    return Ledger(folder)


def _overhearing(gather: GatherCohort, seen: Seen) -> GatherCohort:
    """The same cohort, whose totals are kept as the server gets them, without its own part."""

    def gathered(sites: tuple[str, ...], rounds: int) -> RunCohort:
        cohort = gather(sites, rounds)
        total_of = cohort.total

        def total(request: Request, own: Reply | None = None) -> Steps[Any]:
            total = yield from total_of(request)
            seen.append((request, total))
            return total if own is None else total + own

        cohort.total = total  # type: ignore[method-assign]
        return cohort

    return gathered
