"""Relations to values: SSFMLFS's relation matrices, as the paper sends them, are as good as the rows."""

import numpy as np

from fedsieve.audit.attacks.relation_values import values_of_relations
from fedsieve.audit.attacks.told_moments import moments_told
from fedsieve.audit.attacks.usual_values import usual_row
from fedsieve.audit.curves import share_with_interval
from fedsieve.audit.finding import Finding
from fedsieve.audit.score import share_of_values
from fedsieve.audit.setting import Setting
from fedsieve.audit.sites import asked_for, first_of
from fedsieve.messages.relation_matrices import AskRelations

ASKED = "Which values do the site's rows have, from how alike its rows are in each column?"


def relations_to_values(setting: Setting) -> Finding:
    """The share of values that follow from relation matrices; shuffled, and as the server would guess them."""
    told, parties = setting.overheard, setting.parties
    what = ("relations", ASKED, "of the values")
    if not asked_for(told.seen, AskRelations):
        sends = any(terms.request is AskRelations for terms in setting.method.terms())
        note = "" if sends and told.ended else "the method sends no relation matrices"
        return setting.finding(*what, refused=told.ended if sends else "", note=note)
    request, reply = first_of(told.seen, AskRelations)
    columns = [parties.features.index(name) for name in reply.features]
    truth, own = parties.members.X[:, columns], parties.server.X[:, columns]
    guess = values_of_relations(request, reply, moments_told(told.seen), own)
    shuffled = np.random.default_rng([setting.seed, 11]).permutation(guess)
    return setting.finding(
        *what,
        read=share_with_interval(share_of_values(guess, truth), len(truth)),
        control=share_of_values(shuffled, truth),
        server_alone=share_of_values(np.tile(usual_row(own), (len(truth), 1)), truth),
    )
