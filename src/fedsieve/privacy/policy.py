"""What a site answers, whoever asks: what it agreed to, and the rules of its own policy.

One policy, two presets. `library` is for one machine that holds all rows anyway: only the agreement is checked.
`site` is for a site that joined a federation: all rules.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fedsieve.checks import check_choice
from fedsieve.errors import ProtocolError, listed
from fedsieve.messages import Memory, Reply, Request, Terms
from fedsieve.messages.site_view import SiteView
from fedsieve.privacy.noise import Words, least_honest, with_noise
from fedsieve.privacy.story import Story, pinned
from fedsieve.protocol.method import Method
from fedsieve.tables import Table
from fedsieve.text import counted

LEAST_ROWS = 2  # of a site in secure sums, whose min_rows is of all sites together
HOW_TO_ALLOW = "in policy.toml ('join --init-policy' writes one that says what that gives up)"
Pins: TypeAlias = Mapping[str, str]
"""What must not change, by its digest."""
Told: TypeAlias = Mapping[str, int]
"""What a site's answers compared so far, and as how many columns each counts."""


@dataclass(frozen=True)
class Policy:
    """A site's own rules, which no agreement and no server can lower. `policy.toml` has the same names.

    0 means no limit.
    """

    min_rows: int = 50  # that an answer is about at least
    min_cell: int = 5  # rows that must differ from a column's most frequent value, or it is answered as if constant
    rows_per_column: int = 3  # that second moments of the site alone need
    min_cohort: int = 3  # sites that take part in a run at least
    max_runs_per_day: int = 24
    max_runs: int = 240  # in all, since the ledger began
    min_difference_rows: int = 5  # by which a table must differ from each one answered for, or not at all
    min_difference_sites: int = 2  # that sums which follow from all secure totals on the same rows are of, at least
    max_epsilon: float = 10.0  # that all noisy answers since the ledger began may cost together
    max_delta: float = 1e-5  # at which that is counted
    allow_exact_ranges: bool = False  # smallest and largest values
    allow_matrices: bool = False  # SSFMLFS's wire form "matrices", as good as the rows themselves
    allow_tests: bool = False  # FedCMFS's wire form "tests", in the end all correlations
    methods: tuple[str, ...] = ()  # that may be run; empty: all
    columns_never_used: tuple[str, ...] = ()
    rows_may_leave: bool = False  # for messages that send rows, as `federation collect` does after a run
    keeps_story: bool = True  # whether a run's requests must make one story: order, number, columns, ranges, cohort
    hides_defects: bool = True  # whether an unforeseen error is told by its kind alone, since its text could hold data


SITE = Policy()
LIBRARY = Policy(
    min_rows=0,
    min_cell=0,
    rows_per_column=0,
    min_cohort=0,
    max_runs_per_day=0,
    max_runs=0,
    min_difference_rows=0,
    min_difference_sites=0,
    max_epsilon=0.0,
    allow_exact_ranges=True,
    allow_matrices=True,
    allow_tests=True,
    rows_may_leave=True,
    keeps_story=False,
    hides_defects=False,
)
PRESETS = {"library": LIBRARY, "site": SITE}


def preset(name: str, owner: str) -> Policy:
    """The preset of that name."""
    check_choice(owner, "policy", name, PRESETS)
    return PRESETS[name]


class SiteRules:
    """What one site checks before it computes, and before an answer leaves."""

    def __init__(
        self, method: Method, policy: Policy, n_rows_in_total: int | None = None, sites_above: int = 0
    ) -> None:
        self.policy, self.terms = policy, method.terms()
        self.method, self._n_rows_in_total = method, n_rows_in_total
        self._sites_above = sites_above  # below an edge server: of how many sites a total from above can be

    def for_total(self, n_rows: int) -> "SiteRules":
        """The rules where only a total over all sites is told, which is of so many rows."""
        return SiteRules(self.method, self.policy, n_rows)

    def check_request(self, request: Request) -> None:
        """Raise `ProtocolError` where the request is outside the agreement, or the policy forbids what was agreed."""
        terms = self._of(request)
        if terms is None:
            agreed = ", ".join(one.request.__name__ for one in self.terms)
            raise ProtocolError(f"was asked {type(request).__name__}, which was not agreed on; agreed: {agreed}.")
        self._check_allowed()
        terms.check(request)

    def check_run(self, cohort: tuple[str, ...]) -> None:
        """Raise `ProtocolError` where no run of the method is answered, or none with so few sites."""
        self._check_allowed()
        self._check_cohort(cohort)

    def check_story(self, request: Request, digest: str, cohort: tuple[str, ...], story: Story, lasting: Pins) -> Story:
        """The run's story with this request; raises `ProtocolError` where it does not fit, or too few take part."""
        self._check_cohort(cohort)
        return story.told_on(request, digest, cohort, self.terms, lasting)

    def check_site(
        self,
        request: Request,
        tables: tuple[Table | None, Table | None],
        memory: Memory,
        told: Told,
        n_changed: int,
        cohort: tuple[str, ...],
    ) -> Told:
        """What the site will have told with this answer; raises `ProtocolError` where that is too much of its rows.

        `tables` are its rows as they are, and as the request sees them; `told` is by all answers before.
        """
        terms, method = self._of(request), self.method
        assert terms is not None
        view = SiteView(
            *tables,
            memory,
            self.policy.rows_per_column,
            told,
            n_changed,
            self._n_rows_in_total,
            max(len(cohort) * method.max_sites_per_client, self._sites_above, 1),
            method.max_rows,
            self.policy.min_cell,
        )
        terms.check_site(request, view)
        return told if tables[0] is None else {**told, **terms.tells(request, view)}

    def lasting_pins(self, request: Request) -> Pins:
        """What later runs under the same agreement must not change."""
        terms = self._of(request)
        return pinned(request) if terms is not None and terms.lasting else {}

    def check_reply(self, request: Request, reply: Reply) -> None:
        """Raise `ProtocolError` where the answer would tell more than the request was agreed to ask."""
        self.check_rows(reply.n_rows)
        terms = self._of(request)
        assert terms is not None
        terms.check_reply(reply)

    def released(
        self, request: Request, reply: Reply, cohort: tuple[str, ...], spend: Callable[[float], None], words: Words
    ) -> Reply:
        """The answer as it may leave: with the agreed noise, once what it costs is spent.

        Where single answers are seen each has the whole noise, and in a secure sum its share.
        """
        terms = self._of(request)
        budget = None if terms is None else terms.noise_budget()
        if budget is not None:
            n_shares = least_honest(len(cohort)) if self.method.secure else 1
            return with_noise(request, reply, budget, spend, words, n_shares)
        if self.method.private:
            raise ProtocolError(f"never answers {type(request).__name__} under an agreement with noise (epsilon).")
        return reply

    def shelf(self, request: Request, run: str) -> str:
        """Where an answer is kept for asking again: a noisy one for all runs of one promise, or it would cost again.

        Under another promise it is another answer. The name is no run's.
        """
        terms = self._of(request)
        budget = None if terms is None else terms.noise_budget()
        return run if budget is None else f".noisy-{budget.epsilon!r}-{budget.delta!r}"

    def check_rows(self, n_rows: int) -> None:
        """Raise `ProtocolError` where an answer would be about too few rows."""
        if self.method.secure:
            if n_rows < LEAST_ROWS:
                raise ProtocolError(f"has too few rows; a site needs at least {LEAST_ROWS}.")
            if self._n_rows_in_total is None:  # of the first sum, which tells
                return
            n_rows = self._n_rows_in_total
        if n_rows < self.policy.min_rows:
            counted = "fewer rows than it needs" if self.method.private else f"{n_rows} rows"  # no exact number
            raise ProtocolError(
                f"has {counted}{' in all' * self.method.secure}; its rules ask for {self.policy.min_rows} "
                "(min_rows): sums of few rows hide little. Wait for more rows, or lower min_rows in the agreement and "
                "in policy.toml."
            )

    def _check_allowed(self) -> None:
        reason = why_forbidden(self.method, self.policy)
        if reason:
            raise ProtocolError(reason)

    def _check_cohort(self, cohort: tuple[str, ...]) -> None:
        if len(cohort) < self.policy.min_cohort:
            raise ProtocolError(
                f"was asked in a run of {counted(len(cohort), 'site')}; its policy asks for {self.policy.min_cohort} "
                "(min_cohort): in a small cohort a total tells of single sites. Wait for more sites, or lower it."
            )

    def _of(self, request: Request) -> Terms | None:
        return next((terms for terms in self.terms if terms.request is type(request)), None)


def why_forbidden(method: Method, policy: Policy) -> str:
    """Why a policy does not allow a method at all; empty where it does. `join` asks before anything is sent."""
    if policy.methods and method.permitted_as not in policy.methods:
        return (
            f"its policy allows {listed(policy.methods)} (methods); the agreement's method is "
            f"{method.permitted_as!r}. "
            "Add it to methods in policy.toml, or agree on another method."
        )
    read = set(method.columns_read)
    if never := [name for name in policy.columns_never_used if name in read]:
        return (
            f"the agreement asks for {listed(never)}, which its policy never uses (columns_never_used). "
            "Agree on other columns, or take them out of columns_never_used in policy.toml."
        )
    for rule in ("min_cell", "rows_per_column"):
        if method.secure and getattr(method, rule) < getattr(policy, rule):
            return (
                f"the secure sums of the agreement go by {rule} = {getattr(method, rule)}, its policy asks for "
                f"{getattr(policy, rule)}. Agree on more, or lower {rule} in policy.toml."
            )
    for terms in method.terms():
        if policy.keeps_story and terms.why_unchecked:
            return terms.why_unchecked
        if (rule := terms.permission) and not getattr(policy, rule):
            return (
                f"the agreement's {method.name} sends {terms.reveals()}; its policy does not allow that "
                f"({rule} = false). Agree on another form of the method, or set {rule} = true {HOW_TO_ALLOW}."
            )
    if rows_leave(method) and not policy.rows_may_leave:
        return (
            f"{method.name!r} sends rows as they are; its policy does not allow that (rows_may_leave = false). If they "
            f"may leave, set rows_may_leave = true {HOW_TO_ALLOW}."
        )
    return ""


def rows_leave(method: Method) -> bool:
    """Whether some message sends rows themselves."""
    return any(terms.sends_rows for terms in method.terms())


def what_leaves(method: Method) -> list[tuple[str, str]]:
    """For a person who must consent: each message that a site will send, and what it reveals."""
    how = "in a total over at least three sites and two thirds of all, never by itself: " if method.secure else ""
    return [(terms.request.reply.__name__, how + terms.reveals()) for terms in method.terms()]
