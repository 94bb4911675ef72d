"""Membership: is a given row in the site's table? Rows of the site against rows of the same source that are nowhere."""

from functools import partial

import numpy as np

from fedsieve.audit.attacks.membership import answered_by, membership_scores, strongest_score
from fedsieve.audit.attacks.tracing import some_rows
from fedsieve.audit.curves import area_under_curve, true_positives_at, with_interval
from fedsieve.audit.finding import AUC, Finding
from fedsieve.audit.setting import Setting

ASKED = "Is a row that the server knows in the site's table?"
MOST_MEMBERS, MOST_OTHERS = 200, 400
RATES = {"found at 1 % false alarms": 0.01, "found at 5 % false alarms": 0.05}


def membership(setting: Setting) -> Finding:
    """The area under the curve, and how many members are found at 1 and 5 % false alarms."""
    told, parties, method = setting.overheard, setting.parties, setting.method
    what = ("membership", ASKED, AUC)
    if not told.seen:
        return setting.finding(*what, refused=told.ended, note="" if told.ended else "nothing was told")
    rng = np.random.default_rng([setting.seed, 21])
    own = parties.table(parties.server, method)
    members = parties.table(parties.members.only(np.arange(min(MOST_MEMBERS, len(parties.members)))), method)
    others = parties.table(parties.outside.only(np.arange(min(MOST_OTHERS, len(parties.outside)))), method)
    used = strongest_score(told.seen, own, rng)
    inside, outside = (membership_scores(told.seen, own, rows, used)[used] for rows in (members, others))
    first, second = np.array_split(rng.permutation(own.n_rows), 2)
    alone = answered_by(told.seen, some_rows(own, first))
    known = [membership_scores(alone, some_rows(own, second), rows, used).get(used) for rows in (members, others)]
    return setting.finding(
        *what,
        read=with_interval(area_under_curve, inside, outside, rng),
        control=area_under_curve(outside[::2], outside[1::2]),
        server_alone=None if known[0] is None or known[1] is None else area_under_curve(known[0], known[1]),
        more={
            name: with_interval(partial(true_positives_at, rate), inside, outside, rng) for name, rate in RATES.items()
        },
        refused=told.ended,
        note=f"by {used}",
    )
