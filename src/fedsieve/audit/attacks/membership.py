"""Whether given rows are among a site's rows: several scores of each row, and which of them a server would trust.

A server cannot see how well a score does at the site. But it has rows of its own: some of them stand for the site,
others for rows that are not there, and the score that tells these apart best is the one to use.
"""

from typing import TypeAlias

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.gram import Gram, gram_of
from fedsieve.audit.attacks.relation_values import values_of_relations
from fedsieve.audit.attacks.told_moments import moments_told
from fedsieve.audit.attacks.tracing import pulls_towards, some_rows
from fedsieve.audit.curves import area_under_curve
from fedsieve.audit.sites import Seen, asked_for, first_of
from fedsieve.messages import Refusal
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.relation_matrices import AskRelations
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from fedsieve.values import dense

Scores: TypeAlias = dict[str, Float]
"""How much speaks for each candidate being in the table, by what the score is made of."""
RIDGE = 1e-3  # of the mean variance
MOST_OWN = 300  # of the server's rows, by which a score is chosen


def nearness_to_moments(gram: Gram, rows: Float, ridge: float = RIDGE) -> Float:
    """Minus the squared Mahalanobis distance of each row; a site's own rows helped to make the matrix so wide.

    A row x of the site has xᵀG⁻¹x of d / n on average, any other one of d / (n - d): few rows tell them apart.
    """
    n, sums = gram.products[0, 0], gram.products[0, 1:]
    covariance = gram.products[1:, 1:] / n - np.outer(sums, sums) / n**2
    covariance += ridge * np.mean(np.diagonal(covariance)) * np.eye(len(sums))
    deviation = rows - sums / n
    nearness: Float = -np.einsum("ij,ij->i", deviation, np.linalg.solve(covariance, deviation.T).T)
    return nearness


def membership_scores(seen: Seen, own: ArrayTable, candidates: ArrayTable, only: str = "") -> Scores:
    """All scores that what was seen allows, or one of them; `own` are the server's rows."""
    scores: Scores = {}
    for kind in dict.fromkeys(type(request) for request, _ in seen):
        answers = [(request, reply) for request, reply in seen if type(request) is kind]
        if kind is not AskRelations and only in ("", kind.reply.__name__):
            scores[kind.reply.__name__] = pulls_towards(answers, own, candidates)
    if asked_for(seen, AskCovariances) and first_of(seen, AskCovariances)[0].scaling.low is not None:
        gram = gram_of(*first_of(seen, AskCovariances))
        if set(gram.names) <= set(candidates.names):  # codes have columns of their own
            scores["distance to the covariances"] = nearness_to_moments(gram, dense(candidates.whole(gram.names)))
    if asked_for(seen, AskRelations):
        request, reply = first_of(seen, AskRelations)
        known, rows = (dense(table.whole(reply.features)) for table in (own, candidates))
        values = values_of_relations(request, reply, moments_told(seen), known)
        scores["rows read"] = np.array([-np.abs(values - row).sum(axis=1).min() for row in rows])
    return scores


def strongest_score(seen: Seen, own: ArrayTable, rng: np.random.Generator) -> str:
    """The score that tells some of the server's own rows from others, if they answer in the site's place."""
    members, others, rest = np.array_split(rng.permutation(own.n_rows)[:MOST_OWN], 3)
    answered = answered_by(seen, some_rows(own, members))
    inside, outside = (
        membership_scores(answered, some_rows(own, rest), some_rows(own, rows)) for rows in (members, others)
    )
    return max(inside, key=lambda name: area_under_curve(inside[name], outside[name]), default="")


def answered_by(seen: Seen, table: ArrayTable) -> Seen:
    """What another table would have answered to the same requests; a kind that it cannot answer is left out."""
    client = Client(table)
    answers = [(request, client.answer(request)) for request, _ in seen]
    failed = {type(request) for request, reply in answers if isinstance(reply, Refusal)}
    return [(request, reply) for request, reply in answers if type(request) not in failed]
