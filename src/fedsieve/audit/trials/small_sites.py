"""Small sites: sums of a few rows can be solved for the rows, all of them."""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.binary_rows import rows_from_products
from fedsieve.audit.attacks.bounded_rows import rows_within_extremes
from fedsieve.audit.attacks.second_moments import KnownMoments
from fedsieve.audit.finding import Finding
from fedsieve.audit.setting import Setting
from fedsieve.audit.sites import Overheard, asked_for, first_of
from fedsieve.audit.trials.lone_values import moments_known, rows_read, true_rows
from fedsieve.messages.ranges import AskRanges
from fedsieve.messages.ranges_and_moments import AskRangesAndMoments

N_ROWS = 11  # of the small site; odd, which settles more signs of pair sums
N_SITES = 3  # tried, one after the other
ASKED = f"Which rows has a site of only {N_ROWS} rows, from its sums?"
MOST_COLUMNS = 150  # that the lattice is made of; they are many more than the rows


def small_site_to_rows(setting: Setting) -> Finding:
    """The share of a small site's rows that are read whole, over a few such sites."""
    what = ("small sites", ASKED, "of the rows")
    guesses, truths, known, told = [], [], None, Overheard()
    for number in range(N_SITES):
        rows = np.arange(number * N_ROWS, (number + 1) * N_ROWS)
        if rows[-1] >= len(setting.parties.members):
            break
        small = setting.parties.with_site(setting.parties.members.only(rows))
        told = setting.run(small)
        found = moments_known(setting, small, told)
        if isinstance(found, str):
            return setting.finding(*what, refused=told.ended, note="" if told.ended else found)
        known = found
        truths.append(true_rows(setting, small, known))
        guesses.append(_rows(told, known))
    if known is None:
        return setting.finding(*what, note=f"the site has fewer than {N_ROWS} rows")
    return rows_read(setting, what, told, np.vstack(guesses), known, np.vstack(truths))


def _rows(told: Overheard, known: KnownMoments) -> Float:
    """By whole numbers, and, where exact ranges of this very site were told, by them."""
    guess = rows_from_products(known.gram, most_columns=MOST_COLUMNS)
    kind = next((kind for kind in (AskRanges, AskRangesAndMoments) if asked_for(told.seen, kind)), None)
    if len(guess) or kind is None:
        return guess
    ranges = first_of(told.seen, kind)[1]
    if len(ranges.low) != len(known.columns) or ranges.n_rows != known.gram.products[0, 0]:
        return guess
    return rows_within_extremes(known.gram, ranges.low, ranges.high)
