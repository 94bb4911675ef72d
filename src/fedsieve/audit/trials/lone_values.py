"""Lone columns to rows: a value that one row alone has, or in which it alone differs, gives away the whole row."""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.lone_values import disagreeing_rows, distinct, lone_rows
from fedsieve.audit.attacks.second_moments import KnownMoments, known_moments
from fedsieve.audit.attacks.usual_values import usual_row
from fedsieve.audit.curves import share_with_interval
from fedsieve.audit.finding import Finding
from fedsieve.audit.parties import Parties
from fedsieve.audit.score import share_by_chance, share_of_rows
from fedsieve.audit.setting import Setting
from fedsieve.audit.sites import Overheard

ASKED = "Which rows follow from columns that one row alone has a value in, or that differ in one row?"
MOST_COMPARED = 300  # columns of which each two are compared


def lone_columns_to_rows(setting: Setting) -> Finding:
    """The share of the site's rows that are read whole."""
    told = setting.overheard
    what = ("lone columns", ASKED, "of the rows")
    known = moments_known(setting, setting.parties, told)
    if isinstance(known, str):
        return setting.finding(*what, refused=told.ended, note="" if told.ended else known)
    truth = true_rows(setting, setting.parties, known)
    own = setting.columns_of(setting.parties.server)[:, known.columns]
    baselines = np.array([own.min(axis=0), own.max(axis=0), usual_row(own)])  # what all other rows may have
    guess = lone_rows(known.gram, baselines)
    if truth.shape[1] <= MOST_COMPARED:
        guess = distinct(np.vstack([guess, disagreeing_rows(known.gram)]))
    return rows_read(setting, what, told, guess, known, truth)


def moments_known(setting: Setting, parties: Parties, told: Overheard) -> KnownMoments | str:
    """What second moments the server knows after a run, or why none."""
    names = setting.method.columns_read
    return known_moments(told.seen, setting.columns_of(parties.server), names)


def true_rows(setting: Setting, parties: Parties, known: KnownMoments) -> Float:
    """The rows under attack, in the columns and as the attack would write them."""
    truth = setting.columns_of(parties.members, parties.members)[:, known.columns]
    return np.where(2 * truth.sum(axis=0) >= len(truth), truth, 1 - truth) if known.turned else truth


def rows_read(
    setting: Setting, what: tuple[str, str, str], told: Overheard, guess: Float, known: KnownMoments, truth: Float
) -> Finding:
    """The finding: the share of rows in the guess, of rows drawn by chance, and of rows that the server has too."""
    own = setting.columns_of(setting.parties.server)[:, known.columns]
    return setting.finding(
        *what,
        read=share_with_interval(share_of_rows(guess, truth), len(truth)),
        control=share_by_chance(truth),
        server_alone=share_of_rows(own, truth),
        refused=told.ended,
    )
