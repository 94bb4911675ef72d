"""Chosen requests: what a malicious server asks instead of the method's own questions, if the site answers."""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.chosen_requests import (
    Asked,
    RefusedError,
    all_correlations,
    distances_by_unit_vectors,
    extreme_row,
)
from fedsieve.audit.attacks.moved_ranges import fine_edges, row_beyond_an_edge, row_by_halving
from fedsieve.audit.attacks.usual_values import usual_row
from fedsieve.audit.curves import Measured, share_with_interval
from fedsieve.audit.finding import Finding
from fedsieve.audit.parties import Rows
from fedsieve.audit.score import share_of_values
from fedsieve.audit.setting import Setting
from fedsieve.audit.sites import AskInRun, asked_for, first_of, site_in_runs
from fedsieve.messages.columns import ROBUST
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.information import AskInformation
from fedsieve.messages.pair_sums import AskPairSums
from fedsieve.messages.partial_correlations import AskPartialCorrelations
from fedsieve.messages.products import AskProducts

NEXT_EDGE = "Which row lies alone beyond an edge, if ranges move by one bin between two runs?"
HALVING = "Where does a row that lies alone beyond an edge lie in all columns, if ranges halve them from run to run?"
SCALING = "Which row has the largest value of a column, if ranges of the server's choice clip all others?"
UNIT_VECTORS = "What are all distances of two columns, if the server sends unit vectors?"
TESTS = "What are all correlations, if the server tests every pair?"
LEAST_BINS, MOST_BINS = 2, 3  # of FMLFS, that chosen edges can halve


def chosen_requests(setting: Setting) -> Finding:
    """The strongest attack we know on the method's last message."""
    method = setting.method
    kinds = {terms.request for terms in method.terms()}
    ask = site_in_runs(
        setting.parties.tables(method)[setting.parties.attacked], method, setting.policy, tuple(setting.parties.sites)
    )
    asked, unit, attack = "What does the site answer to requests of the server's choice?", "of the values", None
    if AskCovariances in kinds and method.ranges == ROBUST and not setting.has_own_ranges:
        asked, unit, attack = NEXT_EDGE, "of that row's values", _row_beyond_an_edge
    elif AskInformation in kinds and method.ranges == ROBUST:
        asked, unit, attack = HALVING, "of that row's values", _row_by_halving
    elif AskPairSums in kinds:
        asked, unit, attack = SCALING, "of that row's values", _extreme_row
    elif AskProducts in kinds:
        asked, unit, attack = UNIT_VECTORS, "of the distances", _distances
    elif AskPartialCorrelations in kinds:
        asked, unit, attack = TESTS, "of the correlations", _correlations
    what = ("chosen requests", asked, unit)
    if attack is None:
        return setting.finding(*what, note="we know no request that tells more than the method's own")
    try:
        found = attack(setting, ask)
    except RefusedError as refusal:
        return setting.finding(*what, refused=str(refusal))
    if found is None:
        return setting.finding(*what, note="no value lies alone beyond an edge")
    return setting.finding(*what, read=found[0], control=found[1], server_alone=found[2])


def _row_beyond_an_edge(setting: Setting, ask: AskInRun) -> tuple[Measured, float, float] | None:
    parties, method = setting.parties, setting.method
    labels = parties.labels if method.sites_hold_labels else ()
    found = row_beyond_an_edge(ask, method.columns, fine_edges(parties.server.X), labels)
    return None if found is None else _row_found(setting, *found)


def _row_by_halving(setting: Setting, ask: AskInRun) -> tuple[Measured, float, float] | None:
    parties, n_bins = setting.parties, setting.method.n_bins  # type: ignore[attr-defined] # of FMLFS
    if not LEAST_BINS <= n_bins <= MOST_BINS:
        return None
    edges = fine_edges(parties.server.X)
    found = row_by_halving(ask, setting.method.columns, parties.labels, edges, n_bins)
    if found is None:
        return None
    column, row, labels = found
    step = edges[:, 1] - edges[:, 0]
    nearest = np.array([_nearest(value, own) for value, own in zip(row, parties.server.X.T, strict=True)])
    row = np.where(np.abs(nearest - row) <= step, nearest, row)  # values that the server has seen
    return _row_found(setting, column, np.append(row, labels))


def _extreme_row(setting: Setting, ask: AskInRun) -> tuple[Measured, float, float] | None:
    parties = setting.parties
    low, high = parties.server.X.min(axis=0) - 1.0, parties.server.X.max(axis=0) + 1.0
    asked = Asked(lambda request: ask(request, "run"))
    row = extreme_row(asked, setting.method.columns, low, high, len(parties.members))
    return _row_found(setting, 0, row)


def _distances(setting: Setting, ask: AskInRun) -> tuple[Measured, float, float]:
    """With the relation of an honest run, so that nothing but the vectors is the server's choice."""
    told, parties = setting.overheard, setting.parties
    if not asked_for(told.seen, AskProducts):
        raise RefusedError(told.ended)
    relation = first_of(told.seen, AskProducts)[0].relation
    found = distances_by_unit_vectors(Asked(lambda request: ask(request, "another")), relation)
    pairs = np.triu_indices(len(found), 1)

    def distances(rows: Rows) -> Float:
        sums = relation.pair_sums(parties.table(rows, setting.method)) / len(rows) ** 2
        own = np.diagonal(sums)
        apart: Float = (own[:, None] + own - 2 * sums)[pairs]
        return apart

    truth, alone = distances(parties.members), distances(parties.server)
    read = share_of_values(found[pairs] / len(parties.members) ** 2, truth)
    shuffled = np.random.default_rng([setting.seed, 12]).permutation(truth)
    return share_with_interval(read, len(truth)), share_of_values(shuffled, truth), share_of_values(alone, truth)


def _correlations(setting: Setting, ask: AskInRun) -> tuple[Measured, float, float]:
    parties, pairs = setting.parties, np.triu_indices(len(setting.method.columns_read), 1)
    found = all_correlations(Asked(lambda request: ask(request, "run")), setting.method.columns, parties.labels)

    def correlations(rows: Float) -> Float:
        with np.errstate(invalid="ignore", divide="ignore"):
            told: Float = np.atleast_2d(np.corrcoef(rows, rowvar=False))[pairs]
        return told

    truth, alone = (correlations(setting.columns_of(rows)) for rows in (parties.members, parties.server))
    varies = ~np.isnan(truth)
    truth, alone, found = truth[varies], alone[varies], found[varies]
    shuffled = np.random.default_rng([setting.seed, 13]).permutation(truth)
    read = share_with_interval(share_of_values(found, truth), len(truth))
    return read, share_of_values(shuffled, truth), share_of_values(alone, truth)


def _row_found(setting: Setting, column: int, row: Float) -> tuple[Measured, float, float]:
    """How much of the true row a guess has right: that with the largest value of the column."""
    rows = setting.columns_of(setting.parties.members)
    truth, own = rows[int(np.argmax(rows[:, column]))], setting.columns_of(setting.parties.server)
    row, truth = row[: len(truth)], truth[: len(row)]
    made = ~np.isnan(row)
    other = setting.columns_of(setting.parties.outside)[0][: len(row)]
    read = share_with_interval(share_of_values(row, truth), int(made.sum()))
    return read, share_of_values(other, truth), share_of_values(usual_row(own)[: len(row)], truth)


def _nearest(value: float, own: Float) -> float:
    return float(own[np.argmin(np.abs(own - value))]) if np.isfinite(value) else np.nan
