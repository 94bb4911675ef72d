"""What a patient operator asks: in many runs, each of them proper and small, what no site would tell in one.

Each attack takes `ask(request, run)` and returns its guess. A refusal ends it, with `RefusedError`.
"""

from collections.abc import Callable, Iterator
from itertools import combinations, product

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.audit.attacks.chosen_requests import RefusedError
from fedsieve.audit.attacks.gram import Gram
from fedsieve.audit.attacks.moved_ranges import AskInRun, answered, ranges_between
from fedsieve.messages import Reply, Request, Scaling
from fedsieve.messages.columns import Bins, Columns, square
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.projections import AskProjections


def pairs_of_blocks(n_columns: int, at_once: int) -> Iterator[Int]:
    """Blocks of columns, two at a time, until each column was asked for with each."""
    blocks = np.array_split(np.arange(n_columns), -(-n_columns // (at_once // 2)))
    for first, second in combinations(blocks, 2):
        yield np.concatenate([first, second])


def products_by_blocks(ask: AskInRun, columns: Columns, at_once: int) -> Gram:
    """Sieve, 0/1 columns in declared ranges: all sums of products, of so many columns in a run."""
    d = len(columns.features)
    products = np.zeros((d + 1, d + 1))
    for number, some in enumerate(pairs_of_blocks(d, at_once)):
        scaling = Scaling(np.zeros(len(some)), np.ones(len(some)), "declared")
        request = AskCovariances(columns.only([columns.features[place] for place in some]), scaling)
        reply = answered(ask, request, f"run-{number}")
        sums = reply.sums + reply.n_rows / 2  # from the middle of the ranges back to 0
        own = square(reply.upper, len(some)) + (sums[:, None] + sums) / 2 - reply.n_rows / 4
        here = some + 1
        products[0, 0] = reply.n_rows
        products[0, here] = products[here, 0] = sums
        products[np.ix_(here, here)] = own
    return Gram(columns.features, products)


def indicators_by_moved_ranges(ask: AskInRun, columns: Columns, n_steps: int) -> Float:
    """Sieve, whole numbers from 0 to `n_steps` in robust ranges: the products of "above 0", "above 1", ... of each two.

    A run per two steps: the columns of one half are clipped to one step, those of the other to another, so that they
    are 0 or 1. The ranges follow from totals in which nearly all rows are made up.
    """
    d = len(columns.features)
    bins = Bins.of([np.arange(2 * n_steps + 1) / 2] * d)  # halves: a range of one bin would be widened
    half = np.arange(d) < d // 2
    found = np.full((d, n_steps, d, n_steps), np.nan)
    for number, (one, other) in enumerate(product(range(n_steps), repeat=2)):
        run = f"run-{number}"
        own = answered(ask, AskHistograms(columns, bins), run).counts
        step = np.where(half, one, other)
        ranges = ranges_between(bins, own, 2 * step, 2 * step + 2)
        reply = answered(ask, AskCovariances(columns, ranges), run)
        sums = reply.sums + reply.n_rows / 2
        raw = square(reply.upper, d) + (sums[:, None] + sums) / 2 - reply.n_rows / 4
        for p, b in np.ndindex(d, d):
            found[p, step[p], b, step[b]] = raw[p, b]
    return found


def covariances_by_packing(
    ask: Callable[[Request], Reply], columns: Columns, n_sums: int, base: int, per: int
) -> Float:
    """Sieve, weights 1, b, b², ...: products of several 0/1 columns as the digits of one number to the base b.

    Returns the counts of rows that each column shares with each of the packed ones, (n_columns, n_sums * per).
    """
    d, n_packed = len(columns.features), n_sums * per
    weights = np.zeros((d, n_sums))
    weights[np.arange(n_packed), np.arange(n_packed) // per] = float(base) ** (np.arange(n_packed) % per)
    reply = ask(AskProjections(columns, Scaling(np.zeros(d), np.ones(d), "declared"), weights))
    if not hasattr(reply, "products"):
        raise RefusedError(reply.reason)
    # Sums of products of values in {-1/2, 1/2}, from which counts of shared rows follow.
    ones = reply.sums + reply.n_rows / 2
    shift = (ones[:, None] @ weights.sum(axis=0)[None] + (ones @ weights)[None]) / 2
    rest = reply.products + shift - reply.n_rows / 4 * weights.sum(axis=0)
    counts = np.zeros((d, n_packed))
    whole = np.round(rest).astype(np.int64)
    for place in range(per):
        counts[:, place::per] = whole % base
        whole //= base
    return counts
