"""A lie about the total of the moments: a radius that relates one pair of rows, or two radii with one pair between."""

from dataclasses import replace

import numpy as np
import pytest

from fedsieve.audit.attacks.chosen_requests import RefusedError
from fedsieve.audit.attacks.moved_ranges import answered
from fedsieve.audit.sites import site_in_runs
from fedsieve.kernels import MAX_ROWS
from fedsieve.messages import Scaling
from fedsieve.messages.columns import DECLARED
from fedsieve.messages.moments import AskMoments, Moments
from fedsieve.messages.pair_sums import AskPairSums
from fedsieve.messages.relation import Relation
from fedsieve.methods import SSFMLFSMethod
from fedsieve.privacy import SITE
from fedsieve.tables import ArrayTable

N_ROWS, N_SITES, FEATURES = 200, 3, tuple(f"f{place}" for place in range(20))
N_NARROW = 10  # columns in which few pairs are to be related; in the others all are
X = np.random.default_rng(3).uniform(0, 1, (N_ROWS, len(FEATURES)))
UNIT = Scaling(np.zeros(len(FEATURES)), np.ones(len(FEATURES)), DECLARED)
UNGUARDED = replace(SITE, min_cell=0)


def method(max_rows):
    return SSFMLFSMethod(FEATURES, ranges=dict.fromkeys(FEATURES, (0.0, 1.0)), max_rows=max_rows)


def pair_sums(ask, plan, radius, count, run):
    """The site's pair sums in a radius of the server's choice, for which it makes up rows, or a spread."""
    own = answered(ask, AskMoments(plan.columns, UNIT), run)
    m2 = (radius * plan.lam) ** 2 * (count - 1)
    total = Moments(int(count.max()), FEATURES, count, own.mean, m2, 0)
    relation = Relation(plan.columns, UNIT, total.deviation / plan.lam, plan.relation, total, plan.max_pairs)
    return answered(ask, AskPairSums(relation), run).matrix()


def gaps(rows, place):
    """How far each two rows are apart in a column, in rising order."""
    return np.sort(np.abs(rows[:, None, place] - rows[None, :, place])[np.triu_indices(len(rows), 1)])


def pairs_read(difference, rows):
    """Of how many columns a sum is about one pair of rows; what it says of other columns must be that pair's."""
    apart = np.abs(rows[:, None] - rows[None, :])[np.triu_indices(len(rows), 1)][:, N_NARROW:]
    n_read = 0
    for line in difference[:N_NARROW][np.diagonal(difference)[:N_NARROW] > 0.5]:
        told = (line[N_NARROW:] > 0) & (line[N_NARROW:] < 0.9)  # where the pair is related, but not as nearly as here
        wrong = np.abs(apart - (1 - line[N_NARROW:]))[:, told]
        n_read += bool(told.any()) and wrong.max(axis=1).min() < 1e-6
    return n_read


def few_pairs_by_made_up_rows(policy, rows=X[:60]):
    """In how many columns a few pairs are related: by the smallest radius that a total with made-up rows can give."""
    plan = method(MAX_ROWS - 1)
    n_rows, narrow = N_SITES * plan.max_rows, np.arange(len(FEATURES)) < N_NARROW
    own = rows.var(axis=0) * len(rows)
    least = np.sqrt(own / (n_rows - 1)) / plan.lam
    nearest = np.array([gaps(rows, place)[:2].mean() for place in range(len(FEATURES))])
    radius = np.where(narrow, np.maximum(nearest, least * 1.001), 0.4)
    ask = site_in_runs(ArrayTable(FEATURES, rows), plan, policy)
    sums = pair_sums(ask, plan, radius, np.full(len(FEATURES), n_rows), "run")
    n_related = np.round(np.diagonal(sums - len(rows))[:N_NARROW] / 2)
    return int(((n_related > 0) & (n_related < SITE.min_cell)).sum())


def one_pair_between_two_radii(policy):
    """Radii that real rows could have, with the 2,000th and then with the 2,001st nearest pair of each column."""
    plan = method(10**5)
    ask = site_in_runs(ArrayTable(FEATURES, X), plan, policy)
    seen = []
    for run, n_pairs in (("first", 2000), ("second", 2001)):
        narrow = np.array([gaps(X, place)[n_pairs - 1 : n_pairs + 1].mean() for place in range(N_NARROW)])
        radius = np.append(narrow, np.full(len(FEATURES) - N_NARROW, 0.4))
        seen.append(pair_sums(ask, plan, radius, np.full(len(FEATURES), 10**5), run))
    return pairs_read((seen[1] - seen[0]) / 2, X)


def test_a_total_of_more_rows_than_agreed_is_refused():
    plan = method(1000)
    ask = site_in_runs(ArrayTable(FEATURES, X), plan, UNGUARDED)
    with pytest.raises(RefusedError, match=r"no 3 sites have, as if one claims 3001 rows, more than .* \(max_rows\)"):
        pair_sums(ask, plan, np.full(20, 0.3), np.full(20, 3001), "run")


def test_a_spread_that_no_values_have_is_refused():
    plan = method(1000)
    ask = site_in_runs(ArrayTable(FEATURES, X), plan, SITE)
    with pytest.raises(RefusedError, match=r"no 3 sites have, as if one sent a spread that no values in \[0, 1\]"):
        pair_sums(ask, plan, np.full(20, 1.5), np.full(20, 600), "run")


def test_without_the_rule_two_radii_have_one_pair_between():
    assert one_pair_between_two_radii(UNGUARDED) == N_NARROW


def test_a_column_of_which_two_radii_tell_few_pairs_apart_is_held_back():
    assert one_pair_between_two_radii(SITE) == 0


def test_without_the_rule_made_up_rows_leave_few_pairs_related():
    assert few_pairs_by_made_up_rows(UNGUARDED) > 0


def test_a_column_in_which_few_pairs_are_related_is_held_back():
    assert few_pairs_by_made_up_rows(SITE) == 0


def related_in_a_sample(policy):
    """In how many columns a few pairs of a sample are related, by radii at which 40 pairs of all rows are."""
    rows = np.random.default_rng(5).random((400, len(FEATURES)))
    plan = replace(method(10**9), max_pairs=4000)  # of 79,800
    narrow = np.arange(len(FEATURES)) < N_NARROW
    radius = np.where(narrow, [gaps(rows, place)[39:41].mean() for place in range(len(FEATURES))], 0.4)
    ask = site_in_runs(ArrayTable(FEATURES, rows), plan, policy)
    sums = pair_sums(ask, plan, radius, np.full(len(FEATURES), N_SITES * plan.max_rows), "run")
    n_related = np.round((np.diagonal(sums) - len(rows))[:N_NARROW] / (2 * 79_800 / 4000))
    return int(((n_related > 0) & (n_related < SITE.min_cell)).sum())


def test_without_the_rule_a_sample_has_few_of_the_related_pairs():
    assert related_in_a_sample(UNGUARDED) > 0


def test_a_column_of_which_a_sample_could_tell_few_pairs_is_held_back():
    assert related_in_a_sample(SITE) == 0
