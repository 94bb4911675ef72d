"""A malicious operator: requests that no honest run makes, against a site without rules and one with them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fedsieve import kernels
from fedsieve.audit.attacks.chosen_requests import (
    Asked,
    RefusedError,
    all_values,
    covariances_by_identity,
    distances_by_unit_vectors,
    extreme_row,
    kth_largest_size,
    kth_smallest,
    rounds_of_pagerank,
    row_by_coarse_ranges,
    row_that_joined,
)
from fedsieve.audit.sites import site
from fedsieve.messages import Scaling
from fedsieve.messages.columns import DECLARED, scaled
from fedsieve.messages.covariances import AskCovariances, Covariances
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.moments import AskMoments
from fedsieve.messages.pair_sums import AskPairSums, PairSums
from fedsieve.messages.products import AskProducts
from fedsieve.messages.ranges import AskRanges
from fedsieve.messages.ranges_and_moments import AskRangesAndMoments
from fedsieve.messages.relation import Relation
from fedsieve.methods import SieveMethod, SSFMLFSMethod
from fedsieve.privacy import LIBRARY, SITE
from fedsieve.tables import ArrayTable

N_ROWS, FEATURES = 80, tuple("abcdef")
X = np.random.default_rng(7).uniform(-3, 3, (N_ROWS, len(FEATURES)))
LOW, HIGH = np.full(len(FEATURES), -9.0), np.full(len(FEATURES), 9.0)
FEW = np.random.default_rng(9).permuted(np.tile(np.arange(-300, 300) / 100, (6, 1)), axis=1)[:, :40].T  # 240 values
LARGE = np.random.default_rng(8).uniform(0, 3, (5000, len(FEATURES)))
LARGE[1234, 0] = 7.0


def asked(method, policy, rows=X):
    return Asked(site(ArrayTable(FEATURES, rows), method, policy))


def asked_before(rows):
    """A site whose messages are as they were when the attacks succeeded: whatever ranges are sent scale the values."""

    def answer(request):
        if isinstance(request, AskCovariances):
            encoding = Encoding.of(request.columns, request.scaling)
            U = encoding.table(rows) - encoding.midpoint
            return Covariances(len(U), FEATURES, (), U.sum(axis=0), (U.T @ U)[np.triu_indices(U.shape[1])])
        relation, none = request.relation, np.zeros(len(FEATURES), dtype=bool)
        U, _ = scaled(rows, relation.scaling.low, relation.scaling.high, none)
        return PairSums.of(len(U), FEATURES, kernels.pair_sums(U, relation.radius))

    return Asked(answer)


def values_of_a_small_table(ask):
    """All but the smallest of each column, 234 of 240."""
    columns = SSFMLFSMethod(features=FEATURES).columns
    found = all_values(ask, columns, LOW, HIGH, len(FEW), 0.01)
    for place, values in enumerate(found):
        assert_allclose(sorted(values), np.sort(FEW[:, place])[1:], atol=1e-9)
    assert ask.n_requests < 560


def row_of_5000(ask):
    """One row of 5,000."""
    row = row_by_coarse_ranges(
        ask, SieveMethod(features=FEATURES, ranges="federated").columns, np.zeros(6), np.full(6, 9.0)
    )
    assert_allclose(row, LARGE[1234, 1:], atol=1e-9)
    assert ask.n_requests <= 108


def all_values_by_chosen_scaling(policy):
    values_of_a_small_table(asked(SSFMLFSMethod(features=FEATURES), policy, FEW))


def values_by_chosen_scaling(policy):
    """Every column's values, rank by rank; here the four largest."""
    method = SSFMLFSMethod(features=FEATURES)
    ask, ranks = asked(method, policy), range(N_ROWS - 3, N_ROWS + 1)
    found = [kth_smallest(ask, method.columns, LOW, HIGH, rank) for rank in ranks]
    assert_allclose(found, np.sort(X, axis=0)[-4:], atol=1e-12)
    assert ask.n_requests == 240


def row_by_chosen_scaling(policy):
    """A whole row, from three searches."""
    method = SSFMLFSMethod(features=FEATURES)
    ask = asked(method, policy)
    row = extreme_row(ask, method.columns, LOW, HIGH, N_ROWS)
    assert_allclose(row, X[X[:, 0].argmax()], atol=1e-12)
    assert ask.n_requests == 180


def distances_by_chosen_vectors(policy):
    """All distances, in more rounds than were agreed."""
    method = SSFMLFSMethod(features=FEATURES, wire="vectors", max_iter=3)
    relation = Relation(method.columns, Scaling(LOW, HIGH), np.full(len(FEATURES), 0.05), "distance")
    ask = asked(method, policy)
    found = distances_by_unit_vectors(ask, relation)
    sums = kernels.pair_sums((X - LOW) / (HIGH - LOW), relation.radius)
    own = np.diagonal(sums)
    assert_allclose(found, own[:, None] + own - 2 * sums, atol=1e-9)
    assert ask.n_requests > method.max_iter + 1


def covariances_by_chosen_weights(policy):
    """All covariances, where those of three columns may be asked for."""
    method = SieveMethod(features=FEATURES, ranges="federated", screen=3, n_features_to_select=1)
    found = covariances_by_identity(asked(method, policy), method.columns, Scaling(LOW, HIGH))
    scaled = X / 18
    assert_allclose(found, scaled.T @ scaled, atol=1e-12)


def values_by_rounding(policy):
    """The largest absolute values, by ranges so wide that squares underflow."""
    method, sizes = SieveMethod(features=FEATURES, ranges="federated"), np.sort(np.abs(X), axis=0)[::-1]
    ask = asked(method, policy)
    for rank in (1, 2, 10):
        assert_allclose(kth_largest_size(ask, method.columns, sizes[0], rank), sizes[rank - 1], atol=1e-12)


def rounds_without_end(policy):
    """200 rounds, where five were agreed on."""
    method = SSFMLFSMethod(features=FEATURES, wire="vectors", max_iter=5)
    relation = Relation(method.columns, Scaling(LOW, HIGH), np.full(len(FEATURES), 0.05), "distance")
    assert rounds_of_pagerank(asked(method, policy), relation, np.ones(6), method.damping, 200) == 200


def row_by_joining_again(policy):
    """The row by which a site's table has grown since it was last asked."""
    method = SieveMethod(features=FEATURES, ranges="federated")
    before, after = asked(method, policy, X[:-1]), asked(method, policy)
    assert_allclose(row_that_joined(before, after, method.columns, Scaling(LOW, HIGH)), X[-1], atol=1e-12)


SUCCEEDS = (
    distances_by_chosen_vectors,
    rounds_without_end,
    covariances_by_chosen_weights,
    row_by_joining_again,  # what a site's ledger has against it is in test_rejoining.py
)


@pytest.mark.parametrize("attack", SUCCEEDS)
def test_without_rules_the_attack_succeeds(attack):
    attack(LIBRARY)


@pytest.mark.parametrize("attack", [values_by_chosen_scaling, row_by_chosen_scaling, all_values_by_chosen_scaling])
def test_ranges_that_do_not_hold_a_sites_values_are_refused_without_rules_too(attack):
    with pytest.raises(RefusedError, match="ranges that do not hold its own values"):
        attack(LIBRARY)


def test_ranges_so_wide_that_squares_underflow_give_a_wrong_guess_without_rules_too():
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        values_by_rounding(LIBRARY)


def test_ranges_that_round_values_show_no_row_without_rules_too():
    """Until they do not hold the values any more; the row used to show in the 52nd."""
    ask = asked(SieveMethod(features=FEATURES, ranges="federated"), LIBRARY, LARGE)
    with pytest.raises(RefusedError, match="ranges that do not hold its own values"):
        row_of_5000(ask)
    assert ask.n_requests > 52


def in_story(method, rows, *before, policy=SITE):
    """A site under its rules that was asked all that comes before the attack in a run of the method."""
    ask = asked(method, policy, rows)
    for request in before:
        ask(request)
    return ask


EXACT = replace(SITE, allow_exact_ranges=True)
HONEST = Scaling(LOW, HIGH)


def exact_relation(method, ask, scaling):
    """The relation in exact ranges that follows from the site's own moments, as if it were alone."""
    total = ask(AskRangesAndMoments(method.columns)).moments(scaling)
    return Relation(method.columns, scaling, total.deviation / method.lam, "distance", total)


def test_ranges_that_change_in_mid_run_are_a_second_story():
    method = SSFMLFSMethod(features=FEATURES, wire="vectors")
    ask = asked(method, EXACT)
    relation = exact_relation(method, ask, HONEST)
    ask(AskProducts(relation, np.ones(6)))
    with pytest.raises(RefusedError, match="told another story than before: the range of 'a' changed"):
        ask(AskProducts(replace(relation, scaling=Scaling(LOW - 1, HIGH), moments=None), np.ones(6)))


def test_ranges_are_told_once_with_the_moments_that_the_radius_follows_from():
    method = SSFMLFSMethod(features=FEATURES)
    for search in (
        lambda ask: kth_smallest(ask, method.columns, LOW, HIGH, 2),
        lambda ask: extreme_row(ask, method.columns, LOW, HIGH, N_ROWS),
    ):
        with pytest.raises(RefusedError, match="was not shown where the radius of 'a' comes from"):
            search(in_story(method, X, AskRangesAndMoments(method.columns), policy=EXACT))


@pytest.mark.parametrize("bad", [np.zeros(6), np.full(6, np.nan), np.full(6, -1e301)])
def test_ranges_that_do_not_hold_a_sites_values_are_refused_in_the_right_place_of_a_story_too(bad):
    method = SSFMLFSMethod(features=FEATURES)
    ask = asked(method, EXACT)
    relation = replace(exact_relation(method, ask, HONEST), scaling=Scaling(bad, HIGH))
    with pytest.raises(RefusedError, match=r"ranges that do not hold its own values|so far from its values"):
        ask(AskPairSums(relation))


def test_a_total_that_does_not_hold_what_a_site_told_with_its_ranges_is_refused():
    method = SSFMLFSMethod(features=FEATURES)
    ask = asked(method, EXACT)
    total = exact_relation(method, ask, HONEST).moments
    false = replace(total, m2=total.m2 / 2)
    relation = Relation(method.columns, HONEST, false.deviation / method.lam, "distance", false)
    with pytest.raises(RefusedError, match="a total of moments that does not hold its own values"):
        ask(AskPairSums(relation))


def declared(**parameters):
    ranges = dict.fromkeys(FEATURES, (float(LOW[0]), float(HIGH[0])))
    return {"features": FEATURES, "ranges": ranges, **parameters}


DECLARED_RANGES = Scaling(LOW, HIGH, DECLARED)


def told_relation(method, ask):
    """The relation that follows from the site's own moments, as if it were alone."""
    moments = ask(AskMoments(method.columns, DECLARED_RANGES))
    return Relation(method.columns, DECLARED_RANGES, moments.deviation / method.lam, "distance", moments)


def test_a_radius_of_the_servers_choice_is_refused():
    method = SSFMLFSMethod(**declared())
    ask = asked(method, SITE)
    chosen = replace(told_relation(method, ask), radius=np.full(6, 0.05))
    with pytest.raises(RefusedError, match="a radius that does not follow from the total of the moments"):
        ask(AskPairSums(chosen))


def test_vectors_that_pagerank_does_not_make_are_refused():
    method = SSFMLFSMethod(**declared(wire="vectors", max_iter=3))
    ask = asked(method, SITE)
    with pytest.raises(RefusedError, match="a vector that PageRank does not make of the weights and the last total"):
        distances_by_unit_vectors(ask, told_relation(method, ask))


def test_the_identity_as_weights_needs_rows_for_as_many_columns_as_could_be_packed():
    method = SieveMethod(**declared(screen=3, n_features_to_select=1))
    with pytest.raises(RefusedError, match="has 71 rows; weighted sums of 24 columns need 72 at one site"):
        covariances_by_identity(asked(method, SITE, X[:71]), method.columns, DECLARED_RANGES)


def test_ranges_so_wide_that_squares_underflow_are_refused_in_the_right_place_of_a_story_too():
    method = SieveMethod(features=FEATURES, ranges="federated")
    ask = in_story(method, X, AskRanges(method.columns), policy=EXACT)
    with pytest.raises(RefusedError, match="so far from its values that rounding would group them"):
        kth_largest_size(ask, method.columns, np.abs(X).max(axis=0), 1)


def test_on_messages_as_they_were_the_small_table_and_the_row_of_5000_are_read():
    """Or the attacks that no message allows any more would prove nothing."""
    values_of_a_small_table(asked_before(FEW))
    row_of_5000(asked_before(LARGE))


def test_ranges_that_round_values_are_refused_in_the_right_place_of_a_story_too():
    method = SieveMethod(features=FEATURES, ranges="federated")
    ask = in_story(method, LARGE, AskRanges(method.columns), policy=EXACT)
    with pytest.raises(RefusedError, match="so far from its values that rounding would group them"):
        row_of_5000(ask)


def test_proper_rounds_end_with_the_number_agreed_on():
    """Each vector follows from the total before, so that nothing but their number is wrong."""
    method = SSFMLFSMethod(**declared(wire="vectors", max_iter=5))
    ask = asked(method, SITE)
    relation = told_relation(method, ask)
    with pytest.raises(RefusedError, match="was asked AskProducts more often than a run of the method does"):
        rounds_of_pagerank(ask, relation, np.ones(6), method.damping, 200)
    assert ask.n_requests == 1 + 1 + 5 + 1  # moments, degrees, five rounds, and the one that was refused


def test_the_identity_as_weights_is_refused_by_any_site_that_knows_how_many_labels_there_are():
    method = SieveMethod(features=FEATURES, ranges="federated", screen=3, n_features_to_select=1, n_labels=2)
    with pytest.raises(RefusedError, match="asked for 6 weighted sums; agreed: one per label, 2"):
        covariances_by_identity(asked(method, LIBRARY), method.columns, Scaling(LOW, HIGH))


def test_more_columns_than_agreed_are_refused_where_they_are_asked_for_openly():
    """What the identity as weights goes around."""
    method = SieveMethod(features=FEATURES, ranges="federated", screen=3, n_features_to_select=1)
    with pytest.raises(RefusedError, match="at most 3"):
        asked(method, LIBRARY)(AskCovariances(method.columns, Scaling(LOW, HIGH)))
