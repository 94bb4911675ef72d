"""Poisoning: how far one site that lies moves the selected features, beside honest rows in its place."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from fedsieve.arrays import Int
from fedsieve.audit.attacks import lies
from fedsieve.audit.curves import share_with_interval
from fedsieve.audit.finding import Finding
from fedsieve.audit.parties import Parties, Rows
from fedsieve.audit.score import share_replaced
from fedsieve.audit.setting import Setting
from fedsieve.errors import FedSieveError, MissingExtraError
from fedsieve.messages.columns import FEDERATED
from fedsieve.privacy import LIBRARY
from fedsieve.protocol.cohort import BadReplyError
from fedsieve.transport import in_process

ASKED = "How many of the selected features does one site replace that sends made-up rows?"
MOST_SELECTED = 20


def poisoning(setting: Setting) -> Finding:
    """The worst of some lies; of other honest rows, and how much of the selection the sites' rows decide at all."""
    parties, method = setting.parties, setting.method
    k = min(MOST_SELECTED, method.k)
    what = ("poisoning", ASKED, f"of the top {k}")
    try:
        before = _order(setting, parties)
    except MissingExtraError:
        raise
    except FedSieveError as error:
        return setting.finding(*what, refused=_reason(error, parties.attacked))
    rng = np.random.default_rng([setting.seed, 31])
    everything = np.vstack([rows.X for rows in (*parties.sites.values(), parties.server)])
    members, worst, named, refused = parties.members, 0.0, "no lie", ""
    for title, rows in lies.harmful(members.X, int(before[0]), rng):
        if method.ranges == FEDERATED:
            rows = lies.within(rows, everything.min(axis=0), everything.max(axis=0))
        try:
            moved = share_replaced(before, _order(setting, parties.with_site(Rows(rows, members.Y))), k)
        except FedSieveError as error:  # this lie is found out; others may not be
            refused = _reason(error, parties.attacked)
            continue
        if moved > worst:
            worst, named = moved, title
    others = parties.outside.only(
        np.random.default_rng([setting.seed, 32]).integers(0, len(parties.outside), len(members))
    )
    return setting.finding(
        *what,
        read=share_with_interval(worst, k),
        control=share_replaced(before, _order(setting, parties.with_site(others)), k),
        server_alone=share_replaced(before, _alone(setting), k),
        note=f"the worst: {named}" + (f"; a lie that was refused: {refused}" if refused and not worst else ""),
    )


def _order(setting: Setting, parties: Parties) -> Int:
    method = _ranking(setting)
    tables = parties.tables(method)
    return in_process.select(method, parties.labeled, tables, policy=setting.policy).selection.order


def _alone(setting: Setting) -> Int:
    """The order from the server's rows, which also stand for the sites' here."""
    parties = setting.parties
    method = replace(_ranking(setting), secure=False, min_clients=1)
    tables = {"alone": parties.table(parties.server, method)}
    return in_process.select(method, parties.labeled, tables, policy=LIBRARY).selection.order


def _ranking(setting: Setting) -> Any:
    """The method without bootstraps, on which no order depends."""
    known = {part.name for part in fields(setting.method)}
    return replace(setting.method, **({"n_bootstraps": 0} if "n_bootstraps" in known else {}))  # type: ignore[arg-type]


def _reason(error: FedSieveError, attacked: str) -> str:
    if isinstance(error, BadReplyError):
        return error.reasons.get(attacked) or next(iter(error.reasons.values()))
    return str(error)
