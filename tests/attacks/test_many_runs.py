"""A patient operator: runs that are proper one by one, against a site without the rule that counts over all of them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from attacks.many_runs import covariances_by_packing, indicators_by_moved_ranges, products_by_blocks
from fedsieve.audit.attacks.binary_rows import rows_from_products
from fedsieve.audit.attacks.chosen_requests import RefusedError
from fedsieve.audit.score import share_of_rows
from fedsieve.audit.sites import site, site_in_runs
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.membership import create
from fedsieve.messages import Refusal, Scaling
from fedsieve.messages.columns import DECLARED
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.information import AskInformation
from fedsieve.messages.moments import AskMoments
from fedsieve.messages.pair_sums import AskPairSums
from fedsieve.messages.projections import AskProjections, coarse_weights
from fedsieve.messages.relation import Relation
from fedsieve.methods import FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.privacy import LIBRARY, SITE
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.operator import Operator
from fedsieve.transport.site import JoinedSite
from fedsieve.transport.site_state import TransientState
from policies import take_part, write_rules

SITES = ["siteA", "siteB", "siteC"]
N_ROWS, N_COLUMNS = 51, 104
AT_ONCE = N_ROWS // SITE.rows_per_column
FEATURES = tuple(f"f{place}" for place in range(N_COLUMNS))
X = np.random.default_rng(1).integers(0, 2, (N_ROWS, N_COLUMNS)).astype(float)
UNCOUNTED = {"library": LIBRARY, "site without rows_per_column": replace(SITE, rows_per_column=0)}
TOO_MANY = r"with all that it told before, need \d+ .*\(rows_per_column = 3\).*same columns.*secure sums"


def declared(features):
    return dict.fromkeys(features, (0.0, 1.0))


def unit(n_columns):
    return Scaling(np.zeros(n_columns), np.ones(n_columns), DECLARED)


def under_agreements(method_of, policy):
    """A site that consents to agreement after agreement, each about the columns that its one run is to compare."""
    state, table = TransientState(), ArrayTable(FEATURES, X)

    def ask(request, run, columns=None):
        method = method_of((columns or request.columns).features)
        return decode(Endpoint.of_table(table, method, policy, Bare(run, tuple(SITES)), state).answer(encode(request)))

    return ask


def blocks(policy):
    ask = under_agreements(lambda features: SieveMethod(features, ranges=declared(features)), policy)
    return products_by_blocks(ask, SieveMethod(FEATURES).columns, AT_ONCE)


@pytest.mark.parametrize("policy", ["library", pytest.param("site without rows_per_column", marks=pytest.mark.full)])
def test_without_the_rule_blocks_of_columns_give_all_rows(policy):
    assert share_of_rows(rows_from_products(blocks(UNCOUNTED[policy])), X) == 1.0


def test_blocks_of_columns_are_counted_together():
    with pytest.raises(RefusedError, match=rf"has 51 rows; covariances of 1\d columns, of 2\d {TOO_MANY}"):
        blocks(SITE)


class Joined:
    """A joined site with a ledger on disk, which meets every message in a new process; as many agreements as asked."""

    def __init__(self, place, features):
        self.place, self.n_agreements = place, 0
        self.agree(features)

    def agree(self, features):
        """Under a new agreement about these columns, in the same folder with the same ledger."""
        self.n_agreements += 1
        text = agreement_text(
            "fed", "127.0.0.1:9443", SITES, list(features), ["y"], method="Sieve", ranges=declared(features)
        )
        before = getattr(self, "folder", None)
        self.server = create(self.place / f"fed{self.n_agreements}", text, SITES, "127.0.0.1:9443")
        self.folder = self.server.site("siteA")
        if before is not None:
            before.ledger.rename(self.folder.ledger)
        write_rules(self.folder.path, SITE)
        self.folder.write_rows(features, X[:, [FEATURES.index(name) for name in features]], None)
        take_part(self.folder)

    def ask(self, features, run):
        operator, columns = Operator.of(self.server, run), self.folder.agreement().method.columns
        request = AskCovariances(columns.only(features), unit(len(features)))
        sealed = operator.seal(1, "siteA", encode(request), cohort=SITES)
        return decode(operator.open(JoinedSite(self.folder).answer(sealed), "siteA", 1, sealed).payload)


def test_the_count_outlives_runs_and_agreements_and_the_same_again_is_free(tmp_path):
    first, others = FEATURES[:AT_ONCE], FEATURES[1 : AT_ONCE + 1]
    joined = Joined(tmp_path, first)
    for run in ("a", "b", "c"):
        assert not isinstance(joined.ask(first, run), Refusal)
    assert not isinstance(joined.ask(first[3:9], "d"), Refusal)
    joined.agree(others)
    refused = joined.ask(others, "e")
    assert "covariances of 17 columns, of 18 with all that it told before, need 54 at one site" in refused.reason
    assert not isinstance(joined.ask(others[3:9], "f"), Refusal)
    joined.agree(first)
    assert not isinstance(joined.ask(first, "g"), Refusal)


def test_pair_sums_are_counted_over_runs():
    ask = under_agreements(lambda features: SSFMLFSMethod(features, ranges=declared(features)), SITE)

    def pair_sums(names, run):
        columns = SSFMLFSMethod(names).columns
        total = ask(AskMoments(columns, unit(17)), run)
        radius = total.deviation / SSFMLFSMethod(names).lam
        return ask(AskPairSums(Relation(columns, unit(17), radius, "distance", total)), run, columns)

    assert not isinstance(pair_sums(FEATURES[:17], "a"), Refusal)
    assert not isinstance(pair_sums(FEATURES[:17], "b"), Refusal)
    refused = pair_sums(FEATURES[17:34], "c")
    assert "pair sums of 17 columns, of 34 with all that it told before, need 102" in refused.reason


def test_what_was_told_under_one_agreement_counts_under_another():
    """Whatever the method: information of some columns, then covariances of others."""
    state, table = TransientState(), ArrayTable(FEATURES, X, ("y",), X[:, :1])
    some, others = FEATURES[1:17], FEATURES[17:34]
    fmlfs = FMLFSMethod(some, labels=("y",), n_bins=2, ranges=declared(some))
    sieve = SieveMethod(others, ranges=declared(others))
    requests = {
        fmlfs: AskInformation(fmlfs.columns, ("y",), unit(16), 2),
        sieve: AskCovariances(sieve.columns, unit(17)),
    }
    first, second = (
        decode(Endpoint.of_table(table, method, SITE, Bare(method.name, tuple(SITES)), state).answer(encode(request)))
        for method, request in requests.items()
    )
    assert not isinstance(first, Refusal)
    assert "covariances of 17 columns, of 34 with all that it told before, need 102" in second.reason


ORDERED = np.random.default_rng(2).integers(0, 5, (60, 20)).astype(float)


def by_moved_ranges(policy):
    method = SieveMethod(FEATURES[:20], ranges="robust")
    table = ArrayTable(FEATURES[:20], ORDERED)
    return indicators_by_moved_ranges(site_in_runs(table, method, policy), method.columns, 4)


def test_without_the_rule_moved_ranges_make_four_columns_of_one():
    """80 columns of 0 and 1, of 60 rows: those of the two halves with each other, and of each step among themselves."""
    found, steps = by_moved_ranges(UNCOUNTED["site without rows_per_column"]), np.arange(4)
    above = (ORDERED[:, :, None] > steps).astype(float)
    true = np.einsum("npa,nbc->pabc", above, above)
    known = ~np.isnan(found)
    assert known[:10, :, 10:].all()
    np.testing.assert_allclose(found[known], true[known], atol=1e-9)


def test_a_column_in_another_range_counts_as_another_column():
    with pytest.raises(RefusedError, match=rf"covariances of 20 columns, of \d+ {TOO_MANY}"):
        by_moved_ranges(SITE)


def packing(policy, base, per, n_sums):
    method = SieveMethod(FEATURES[:60], ranges=declared(FEATURES[:60]), screen=10, n_features_to_select=2)
    rows = X[:, :60]
    ask = site(ArrayTable(FEATURES[:60], rows), method, policy)
    found = covariances_by_packing(ask, method.columns, n_sums, base, per)
    assert_array_equal(found, rows.T @ rows[:, : n_sums * per])


def test_without_rules_one_weighted_sum_packs_several_columns():
    packing(LIBRARY, base=64, per=6, n_sums=10)


def test_weights_of_many_bits_are_refused():
    with pytest.raises(RefusedError, match="weights of more than 8 bits"):
        packing(SITE, base=64, per=3, n_sums=4)


def test_what_coarse_weights_pack_counts_as_columns():
    rare = np.zeros((N_ROWS, 20))
    for place in range(20):  # five rows each, and two columns share two at most: none is held back
        slope, start = divmod(place, 10)
        rare[np.arange(5) * 10 + (start + slope * np.arange(5)) % 10, place] = 1
    features = FEATURES[:20]
    method = SieveMethod(features, ranges=declared(features), screen=10, n_features_to_select=2)
    ask = site(ArrayTable(features, rare), method, SITE)
    found = covariances_by_packing(ask, method.columns, 4, 6, 4)
    assert_array_equal(found, rare.T @ rare[:, :16])
    ask = site(ArrayTable(features, rare), method, SITE)
    with pytest.raises(RefusedError, match=r"has 51 rows; weighted sums of 20 columns need 60"):
        covariances_by_packing(ask, method.columns, 5, 6, 4)


def test_weighted_sums_and_columns_are_counted_together():
    method = SieveMethod(FEATURES, ranges=declared(FEATURES), screen=13, n_features_to_select=2)
    ask = site(ArrayTable(FEATURES, X), method, SITE)
    weights = coarse_weights(np.random.default_rng(4).normal(size=(N_COLUMNS, 2)))
    assert not isinstance(ask(AskProjections(method.columns, unit(N_COLUMNS), weights)), Refusal)
    refused = ask(AskCovariances(method.columns.only(FEATURES[:10]), unit(10)))
    assert "covariances of 10 columns, of 18 with all that it told before, need 54" in refused.reason
    assert not isinstance(ask(AskCovariances(method.columns.only(FEATURES[:9]), unit(9))), Refusal)
