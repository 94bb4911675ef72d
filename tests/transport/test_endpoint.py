"""A site's whole answer is the same object in every runtime, and no runtime decides anything about privacy."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from fedsieve import SSFMLFS, Sieve
from fedsieve import messages as m
from fedsieve.errors import ParameterError, ProtocolError
from fedsieve.methods import FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.privacy import LIBRARY, SITE, SiteRules
from fedsieve.protocol import Client, Question
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.flower.grid_exchange import link_for
from fedsieve.transport.flower.local_grid import LocalGrid
from fedsieve.transport.site_state import TransientState
from policies import LENIENT
from protocol.federation import example, labeled, sites
from strategies import Federation
from transport.edges import two_levels

NOT_AGREED = "was asked AskRelations, which was not agreed on; agreed: AskRangesAndMoments, AskPairSums."
FEATURES = ("f0", "f1")


class Curious(SSFMLFSMethod):
    """A server that asks for the matrices though sums were agreed on."""

    def run(self, _labeled, cohort):
        yield from cohort.each(relations_of(self.features))


def relations_of(features):
    columns = m.Columns(tuple(features), (), "error")
    return m.AskRelations(m.Relation(columns, m.Scaling(None, None), np.ones(len(features)), "distance"))


def endpoint(rows, policy=LIBRARY, **others):
    table = ArrayTable(FEATURES, np.asarray(rows, dtype=float))
    return Endpoint.of_table(
        table, SieveMethod(FEATURES, ranges="federated", missing="error"), policy, Bare(), TransientState(), **others
    )


def ask(site, request):
    return decode(site.answer(encode(request)))


RANGES = m.AskRanges(m.Columns(FEATURES, (), "error"))
ROWS = np.arange(24.0).reshape(12, 2)


def test_in_process_a_request_outside_the_agreement_is_refused():
    case = example()
    with pytest.raises(ProtocolError, match=NOT_AGREED):
        in_process.select(Curious(case.features), labeled(case), sites(case))


def test_at_an_edge_server_a_request_outside_the_agreement_is_refused(tmp_path):
    """Before it asks any of its own sites."""
    case = example(n_clients=4)
    made = two_levels(tmp_path, case)
    made.start("edge-0", Unused({}))
    nodes = LocalGrid({1: made.nodes["edge-0"]})
    link = link_for(nodes, made.top, "run", ("edge-0", "edge-1"), lambda *_, **__: None)
    link.nodes = {"edge-0": 1}
    reply = link.ask(Question(1, ("edge-0",), relations_of(case.features)))["edge-0"].reply
    assert (type(reply), reply.reason) == (m.Refusal, NOT_AGREED)


class Unused(LocalGrid):
    """A grid over which nothing may be sent."""

    def push_messages(self, messages):
        raise AssertionError(list(messages))


def test_a_library_checks_the_agreement_and_nothing_else():
    assert ask(endpoint(ROWS[:2]), RANGES).n_rows == 2


FEW = (
    "has 9 rows; its rules ask for {} (min_rows): sums of few rows hide little. "
    "Wait for more rows, or lower min_rows in the agreement and in policy.toml."
)
LEAST_10 = dataclasses.replace(LENIENT, min_rows=10)


def test_a_site_of_few_rows_answers_nothing():
    assert ask(endpoint(ROWS[:9], LEAST_10), RANGES).reason == FEW.format(10)
    assert ask(endpoint(ROWS[:9], SITE), RANGES).reason == FEW.format(50)
    assert ask(endpoint(ROWS[:10], LEAST_10), RANGES).n_rows == 10


def test_ranges_of_its_own_invention_are_no_answer_to_a_server():
    """They would let it count the values beyond an edge."""
    columns = m.Columns(FEATURES, (), "error")

    def covariances(low):
        site = endpoint(ROWS, LENIENT)
        ask(site, RANGES)
        return ask(site, m.AskCovariances(columns, m.Scaling(low, ROWS.max(axis=0))))

    assert covariances(ROWS.min(axis=0)).n_rows == len(ROWS)
    said = "was sent ranges that do not hold its own values; federated ranges hold those of all."
    assert covariances(ROWS.min(axis=0) + 3).reason == said


@pytest.mark.parametrize("n_rows", [9, 10])
def test_a_sum_over_few_rows_does_not_leave_either(n_rows):
    """An edge server knows how many rows its sites have once they answered."""
    total = m.Ranges(n_rows, FEATURES, np.zeros(2), np.ones(2))
    rules = SiteRules(SieveMethod(FEATURES, ranges="federated", missing="error"), LEAST_10)
    edge = Endpoint(lambda: rules, lambda *_: total, Bare(), TransientState(), hides_defects=True)
    assert isinstance(ask(edge, RANGES), m.Refusal if n_rows < 10 else m.Ranges)


def test_of_few_rows_not_even_another_refusal_tells():
    """Whether ranges hold a small site's values would tell a server its extremes, one refusal at a time."""
    columns = m.Columns(FEATURES, (), "error")
    for high in (5.0, 500.0):
        request = m.AskCovariances(columns, m.Scaling(np.zeros(2), np.full(2, high)))
        assert "has 9 rows" in ask(endpoint(ROWS[:9], SITE), request).reason


@pytest.mark.parametrize(("policy", "n_answered"), [(LIBRARY, 22), (LENIENT, 1)], ids=["library", "site"])
def test_a_site_does_not_answer_about_ever_new_bins(policy, n_answered):
    """A second request with other ranges is a second story; that of before gets the answer of before."""
    method = FMLFSMethod(FEATURES, labels=("y",))
    table = ArrayTable(FEATURES, ROWS, ("y",), np.arange(12.0)[:, None] % 2)
    site = Endpoint.of_table(table, method, policy, Bare(), TransientState())
    assert isinstance(ask(site, m.AskRanges(method.columns)), m.Ranges)
    requests = [
        m.AskInformation(method.columns, ("y",), m.Scaling(np.zeros(2), np.full(2, high)), method.n_bins)
        for high in np.arange(30.0, 52.0)
    ]
    replies = [ask(site, request) for request in requests]
    assert [type(reply) for reply in replies] == [m.Information] * n_answered + [m.Refusal] * (22 - n_answered)
    for refusal in replies[n_answered:]:
        assert refusal.reason == "was asked AskInformation more often than a run of the method does."
    assert isinstance(ask(site, requests[0]), m.Information)  # nothing new


@pytest.mark.parametrize("selector", [Sieve(n_bootstraps=0, ranges="robust"), SSFMLFS(ranges="robust")])
def test_fit_can_be_as_strict_as_sites_are(selector):
    case = large_example()
    tables = {**case.clients, "small": case.clients["site-0"][:49]}
    assert selector.fit(case.X, case.Y, clients=tables).dropped_ == {}
    with pytest.raises(ProtocolError, match="client 'small': has 49 rows; its rules ask for 50"):
        selector.fit(case.X, case.Y, clients=tables, policy="site")
    scores = selector.fit(case.X, case.Y, clients=case.clients, policy="site").scores_
    assert_array_equal(scores, selector.fit(case.X, case.Y, clients=case.clients).scores_)


def large_example():
    """Three sites with more rows than the rules of sites ask for, and nothing to hold back."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(240, 4)), rng.integers(0, 2, (30, 3))
    X[:, 1] = rng.integers(0, 2, 240)
    X[:, 2] = np.round(X[:, 2])
    ends = {"site-0": X[30:95], "site-1": X[95:160], "site-2": X[160:]}
    return Federation(ends, X[:30], Y)


@pytest.mark.parametrize(
    "selector",
    [
        Sieve(n_bootstraps=2, n_trees=5, ranges="robust"),
        Sieve(n_bootstraps=0, n_trees=5, ranges="robust", screen=2, n_features_to_select=1),
        SSFMLFS(ranges="robust", wire="statistics"),
        SSFMLFS(ranges="robust", wire="vectors"),
        SSFMLFS(ranges={f"x{p}": (-2.0, 2.0) for p in range(4)}, wire="statistics"),
    ],
    ids=["Sieve", "Sieve, wide", "statistics", "vectors", "declared"],
)
def test_under_the_rules_of_sites_a_fit_is_that_of_a_library_to_the_last_bit(selector):
    case = large_example()
    strict = clone(selector).fit(case.X, case.Y, clients=case.clients, policy="site")
    free = clone(selector).fit(case.X, case.Y, clients=case.clients)
    assert strict.dropped_ == {}
    assert_array_equal(strict.scores_, free.scores_)
    assert_array_equal(strict.order_, free.order_)
    assert [entry.kind for entry in strict.transcript_] == [entry.kind for entry in free.transcript_]


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        (Sieve(ranges="federated", n_bootstraps=0), "allow_exact_ranges = false"),
        (SSFMLFS(), "allow_exact_ranges = false"),
        (SSFMLFS(ranges="robust", wire="matrices"), "allow_matrices = false"),
        (SSFMLFS(ranges="robust", spread="mean"), "spread='mean' gives a radius that no site can check"),
    ],
    ids=["Sieve", "SSFMLFS", "matrices", "mean of deviations"],
)
def test_what_the_rules_of_sites_forbid_is_named(selector, said):
    case = large_example()
    with pytest.raises(ProtocolError, match=said):
        selector.fit(case.X, case.Y, clients=case.clients, policy="site")
    assert selector.fit(case.X, case.Y, clients=case.clients).dropped_ == {}


def test_two_sites_are_no_cohort():
    """From the total of two, each learns what the other sent."""
    case = large_example()
    del case.clients["site-2"]
    with pytest.raises(ProtocolError, match=r"in a run of 2 sites; its policy asks for 3 \(min_cohort\)"):
        SSFMLFS(ranges="robust").fit(case.X, case.Y, clients=case.clients, policy="site")


def test_rows_must_be_enough_for_the_columns():
    """Of 65 rows the second moments of 21 columns may be told, not of 22."""
    rng = np.random.default_rng(0)
    tables, X, Y = rng.normal(size=(3, 65, 22)), rng.normal(size=(30, 22)), rng.integers(0, 2, (30, 2))
    for selector in (Sieve(n_bootstraps=0, n_trees=2, ranges="robust"), SSFMLFS(ranges="robust")):
        clone(selector).fit(X[:, :21], Y, clients=list(tables[:, :, :21]), policy="site")
        with pytest.raises(ProtocolError, match="has 65 rows; every run compares 22 columns, which need 66"):
            clone(selector).fit(X, Y, clients=list(tables), policy="site")


def test_a_rare_value_is_no_part_of_what_leaves_a_site():
    """One row of one site holds it: under the rules of sites the column is constant there, for all messages."""
    case = large_example()
    rare = np.zeros(len(case.clients["site-1"]))
    rare[7] = 1
    case.clients["site-1"][:, 1] = rare
    selector = Sieve(n_bootstraps=0, n_trees=5, ranges="robust")
    strict = clone(selector).fit(case.X, case.Y, clients=case.clients, policy="site")
    free = clone(selector).fit(case.X, case.Y, clients=case.clients)
    case.clients["site-1"][:, 1] = 0.0
    without = clone(selector).fit(case.X, case.Y, clients=case.clients)
    assert_array_equal(strict.scores_, without.scores_)
    assert_array_equal(strict.relevance_, without.relevance_)
    assert not np.array_equal(free.relevance_, without.relevance_)


def test_a_policy_that_does_not_exist_is_named():
    with pytest.raises(ParameterError, match="SSFMLFS: policy must be one of 'library', 'site'; got 'strict'"):
        SSFMLFS().fit(ROWS, np.eye(12), policy="strict")


def test_what_is_remembered_of_a_run_is_not_that_of_another():
    state = TransientState()
    state.memory("one").keep("sums", ROWS)
    assert_array_equal(state.memory("one").recall("sums"), ROWS)
    assert state.memory("another").recall("sums") is None


def test_what_is_no_request_is_refused():
    assert "was sent Refusal, no request." in ask(endpoint(ROWS), m.Refusal("no")).reason


def test_a_defect_is_hidden_by_a_site_and_raised_in_a_library(monkeypatch):
    def broken(*_):
        raise ValueError("the value 41.7")

    monkeypatch.setattr(Client, "answer", broken)
    with pytest.raises(ValueError, match=r"41\.7"):
        ask(endpoint(ROWS), RANGES)
    assert ask(endpoint(ROWS, LENIENT), RANGES).reason == "failed with ValueError; see the site's log."
