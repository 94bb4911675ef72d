"""A model's way to the sites and the counts' way back: of each site by itself, or, in secure sums, of all together."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from fedsieve.errors import ProtocolError, why_each
from fedsieve.measures.binned_metrics import between, label_metrics
from fedsieve.messages import Known, Reply, Request
from fedsieve.methods.labeling import Labeling
from fedsieve.protocol import Labeled, Question, Steps
from fedsieve.protocol.parties import GatherCohort
from fedsieve.transport.exchange import Exchange


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """How many rows were scored, the counts of their scores where any came, and why others did not."""

    n_rows: int
    counts: Any  # a reply of the method's second request, over all sites that sent one
    not_scored: dict[str, str]
    not_counted: dict[str, str]


def label(
    method: Labeling, sites: Iterable[str], cohort: tuple[str, ...], exchange: Exchange, gather: GatherCohort | None
) -> ScoredRows:
    """Send the model to these sites, and ask for the counts; `cohort` are all sites of the run that it follows."""
    names = tuple(sorted(sites))
    if gather is not None:
        return _together(method, names, exchange, gather)
    scored, not_scored = _asked(method, 1, names, method.scoring(), cohort, exchange)
    counted, not_counted = _asked(method, 2, tuple(scored), method.counting(), cohort, exchange)
    if not scored:
        raise ProtocolError(f"no site took the model: {why_each(not_scored)}")
    n_rows = reduce(add, scored.values()).n_rows
    return ScoredRows(n_rows, reduce(add, counted.values()) if counted else None, not_scored, not_counted)


def metrics_of(found: ScoredRows) -> dict[str, Any]:
    """What the counts tell of the model; empty where nobody counted."""
    if found.counts is None or not found.counts.counts.any():
        return {}
    counts = found.counts
    return {**label_metrics(counts.counts, counts.labels), "ranked": [between(one) for one in counts.ranked]}


def _asked(
    method: Labeling, round_: int, sites: tuple[str, ...], request: Request, cohort: tuple[str, ...], exchange: Exchange
) -> tuple[dict[str, Reply], dict[str, str]]:
    """The replies that break no rule, and why others are none."""
    if not sites:
        return {}, {}
    answers = exchange(Question(round_, sites, request, cohort))
    known = Known(max_rows=method.max_rows)
    reasons = {
        name: request.why_refused(answers[name].reply, known) if name in answers else "did not answer."
        for name in sites
    }
    right = {name: answers[name].reply for name in sites if not reasons[name]}
    return right, {name: reason for name, reason in reasons.items() if reason}


def _together(method: Labeling, sites: tuple[str, ...], exchange: Exchange, gather: GatherCohort) -> ScoredRows:
    """Both totals as secure sums; nobody sees a single site's reply."""
    cohort = gather(sites, 0)
    own = Labeled(np.zeros((1, len(method.features))), np.zeros((1, 1)))  # the server has no part in these sums

    def steps() -> Steps[Any]:
        yield from cohort.begin(method, own)
        return (yield from method.run(own, cohort))

    going = steps()
    question = next(going)
    while True:
        try:
            question = going.send({name: answer.reply for name, answer in exchange(question).items()})
        except StopIteration as finished:
            scored, counts = finished.value
            return ScoredRows(scored.n_rows, counts, dict(cohort.dropped), {})
