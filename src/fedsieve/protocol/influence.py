"""How far the order moves without each of the sites: the last replies of a run are added up again, one site left out.

Ranges and radius stay those of all sites, so that kept replies are enough and nobody is asked again. One site that
moves the order far more than the others do may be special, or wrong: people should look at it.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import add
from statistics import median
from typing import Any

import numpy as np

from fedsieve.errors import FedSieveError
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages import Reply, Request
from fedsieve.protocol.cohort import Steps
from fedsieve.protocol.method import Labeled, Method
from fedsieve.protocol.outcome import Selection

MAX_KEPT = 1 << 27  # bytes of replies that are kept for it: with more sites there are none, and no influence is told
MAX_FACTS = 200_000  # columns of single sites of which facts are kept: with more, the shift is not told from replies
ODD = 0.15  # share of the chosen features that one site alone replaces
TIMES = 3  # as much as the median site
ROUNDING = 1e-9
SPREADS = 2.0  # times that a column deviates more, or less, with a site than without it


class KeptReplies:
    """An observer that keeps the checked replies of a run's last attempt, as long as they are not too large.

    What they tell of single columns is smaller, and kept of more sites: `facts`, by request and client. Whatever is too
    large is given up as a whole, so that memory does not grow with the number of sites.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A new attempt: forget the one before."""
        self._said: list[tuple[Request, dict[str, Any]]] = []
        self._n_bytes = 0
        self.facts: list[tuple[Request, dict[str, ColumnFacts]]] = []
        self._n_facts = 0

    def __call__(self, client: str, request: Request, reply: Any) -> None:
        """Keep a reply."""
        facts = request.facts(reply) if self._n_facts <= MAX_FACTS else None
        self._n_facts += 0 if facts is None else len(facts.features)
        if self._n_facts > MAX_FACTS:
            self.facts = []
        elif facts is not None:
            if not self.facts or self.facts[-1][0] is not request:
                self.facts.append((request, {}))
            self.facts[-1][1][client] = facts
        self._n_bytes += sum(getattr(value, "nbytes", 0) for value in vars(reply).values())
        if self._n_bytes > MAX_KEPT:
            self._said = []
        elif not self._said or self._said[-1][0] is not request:
            self._said.append((request, {client: reply}))
        else:
            self._said[-1][1][client] = reply

    @property
    def rounds(self) -> list[tuple[Request, dict[str, Any]]]:
        """Each request with the replies to it; empty where they were too large."""
        return [] if self._n_bytes > MAX_KEPT else self._said


class _Replayed:
    """A cohort that repeats what was said; the replies to the last request come without one client's, or whole."""

    unseen, noise_shares, compares_all = "", 1, False

    def __init__(self, rounds: list[tuple[Request, dict[str, Any]]], left_out: str | None) -> None:
        self.n_rows: dict[str, int] | None = None
        self._rounds = [replies for _, replies in rounds]
        last = self._rounds[-1]
        self._rounds[-1] = {name: reply for name, reply in last.items() if name != left_out}

    def observe(self, observer: Any) -> None:
        """All was observed before."""

    def total(self, request: Request, own: Reply | None = None) -> Steps[Any]:
        """The sum of the replies of then."""
        replies = (yield from self.each(request)).values()
        return reduce(add, replies if own is None else [own, *replies])

    def each(self, request: Request, take: Callable[[Any], Any] | None = None) -> Steps[dict[str, Any]]:  # noqa: ARG002
        """The replies of then."""
        yield from ()
        replies = self._rounds.pop(0)
        return replies if take is None else {name: take(reply) for name, reply in replies.items()}


def influence(method: Method, labeled: Labeled, found: Selection, kept: KeptReplies) -> dict[str, float] | None:
    """Per site the share of the selected features that others would replace without it.

    `None` where it cannot be told: too few sites, replies that were too large, noise in them, which would be told
    instead, or a method whose later requests follow from earlier replies, as products do. A site without which no order
    is found, since PageRank does not converge or nothing varies, is left out: a run that has its result must not fail
    afterwards.
    """
    rounds = kept.rounds
    kinds = [type(request) for request, _ in rounds]
    if method.private or not rounds or len(rounds[-1][1]) < 3 or len(set(kinds)) < len(kinds):
        return None
    selected = found.order[: method.k if found.n_selected is None else found.n_selected]
    if not len(selected):  # nothing was selected, so nothing is replaced
        return None
    again = method.ranking_again(selected)
    chosen = _selected_again(again, labeled, _Replayed(rounds, None))  # by what the others are selected by
    moved = {}
    for site in rounds[-1][1]:
        try:
            without = _selected_again(again, labeled, _Replayed(rounds, site))
        except FedSieveError:
            continue
        moved[site] = 1 - len(chosen & without) / len(chosen)
    return moved


def _selected_again(method: Method, labeled: Labeled, cohort: _Replayed) -> set[int]:
    steps = method.run(labeled, cohort)
    try:
        next(steps)
    except StopIteration as finished:
        found: Selection = finished.value
        return set(found.order[: method.k if found.n_selected is None else found.n_selected].tolist())
    raise AssertionError("what was said before is all that is asked for")


def stretch(kept: KeptReplies) -> dict[str, float]:
    """Per site the largest factor by which a column deviates more, or less, with it than without it.

    What one site sends can also work through ranges and radius, which `influence` leaves as they are.
    """
    factors: dict[str, float] = {}
    for _, replies in kept.rounds:
        if len(replies) < 3 or any(reply.deviation_by_column() is None for reply in replies.values()):
            continue
        whole = reduce(add, replies.values()).deviation_by_column()
        for site in replies:
            rest = reduce(add, (reply for name, reply in replies.items() if name != site)).deviation_by_column()
            both = (whole > 0) & (rest > 0)
            ratio = whole[both] / rest[both]
            factors[site] = max(factors.get(site, 1.0), float(np.maximum(ratio, 1 / ratio).max(initial=1.0)))
    return factors


def odd_sites(moved: Mapping[str, float] | None, factors: Mapping[str, float] | None = None) -> dict[str, str]:
    """Those that move the order much and far more than sites usually do, or a column's spread; and a warning for each.

    >>> list(odd_sites({"a": 0.0, "b": 0.1, "c": 0.05, "d": 0.5}, {"a": 1.2, "b": 3.0, "c": 1.0, "d": 1.1}))
    ['d', 'b']
    """
    moved, factors = moved or {}, factors or {}
    usual = median(moved.values()) if moved else 0.0
    odd = {
        site: f"{site!r} alone decides {100 * share:.0f} % of the selected features, far more than the other sites"
        for site, share in moved.items()
        if share >= ODD and share > TIMES * usual + ROUNDING
    }
    for site, factor in factors.items():
        if factor > SPREADS and site not in odd:
            odd[site] = f"{site!r} alone changes how far a column spreads by a factor of {factor:.1f}"
    look = "It may be special, or its table wrong (units, typing errors, made-up rows)."
    return {site: f"{words}. {look}" for site, words in odd.items()}
