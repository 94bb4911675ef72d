"""What a site answers, whoever asks: what it agreed to, and the rules of its own policy.

One policy, two presets. `library` is for one machine that holds all rows anyway: only the agreement is checked.
`site` is for a site that joined a federation: all rules.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fedsieve.checks import check_choice
from fedsieve.errors import ProtocolError
from fedsieve.messages import Reply, Request
from fedsieve.protocol.method import Method


@dataclass(frozen=True)
class Policy:
    """A site's own rules, which no agreement and no server can lower. `policy.toml` has the same names.

    0 means no limit.
    """

    min_rows: int = 10  # that an answer is about at least
    min_cell: int = 5  # rows that must differ from a column's most frequent value, or it is answered as if constant
    rows_per_column: int = 3  # that second moments of the site alone need
    min_cohort: int = 3  # sites that take part in a run at least
    max_runs_per_day: int = 24
    max_runs: int = 240  # in all, since the ledger began
    min_difference_rows: int = 5  # by which a table must differ from the last one answered for, or not at all
    allow_exact_ranges: bool = False  # smallest and largest values
    allow_matrices: bool = False  # SSFMLFS's wire form "matrices", as good as the rows themselves
    allow_tests: bool = False  # FedCMFS's wire form "tests", in the end all correlations
    methods: tuple[str, ...] = ()  # that may be run; empty: all
    columns_never_used: tuple[str, ...] = ()
    rows_may_leave: bool = False
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
    """What one site checks before it computes, and before an answer leaves.

    `among_first(kind, digest, n)` says whether a request is one of the first n unlike ones of its kind that the site
    was asked while it has joined.
    """

    def __init__(self, method: Method, policy: Policy, among_first: Callable[[str, str, int], bool]) -> None:
        self.policy = policy
        self._terms = {terms.request: terms for terms in method.terms()}
        self._among_first = among_first

    def check_request(self, request: Request, digest: str) -> None:
        """Raise `ProtocolError` where the request is outside the agreement or the site's rules."""
        terms = self._terms.get(type(request))
        if terms is None:
            agreed = ", ".join(kind.__name__ for kind in self._terms)
            raise ProtocolError(f"was asked {type(request).__name__}, which was not agreed on; agreed: {agreed}.")
        terms.check(request)
        kind, most = type(request).__name__, terms.max_different
        if self.policy.keeps_story and most is not None and not self._among_first(kind, digest, most):
            raise ProtocolError(f"was asked {kind} in more than {most} ways since it joined, which is enough.")

    def check_reply(self, request: Request, reply: Reply) -> None:
        """Raise `ProtocolError` where the answer would tell more than the request was agreed to ask."""
        self.check_rows(reply.n_rows)
        self._terms[type(request)].check_reply(reply)

    def check_rows(self, n_rows: int) -> None:
        """Raise `ProtocolError` where an answer would be about too few rows."""
        if n_rows < self.policy.min_rows:
            raise ProtocolError(
                f"has {n_rows} rows, the agreement asks for {self.policy.min_rows} (min_rows): sums of few rows hide "
                "little."
            )


def what_leaves(method: Method) -> list[tuple[str, str]]:
    """For a person who must consent: each message that a site will send, and what it reveals."""
    return [(terms.request.reply.__name__, terms.reveals()) for terms in method.terms()]
