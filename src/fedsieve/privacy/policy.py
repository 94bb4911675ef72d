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
    """A site's own rules."""

    min_rows: int  # that an answer is about at least
    limits_repetition: bool  # whether it counts how many unlike requests of a kind it has answered
    hides_defects: bool  # whether an unforeseen error is told by its kind alone, since its text could hold data


LIBRARY = Policy(min_rows=0, limits_repetition=False, hides_defects=False)
SITE = Policy(min_rows=10, limits_repetition=True, hides_defects=True)
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
        if self.policy.limits_repetition and most is not None and not self._among_first(kind, digest, most):
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
