"""Sieve under noise: one round, only noisy numbers leave, and the labeled rows carry what noise takes away."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from fedsieve import Sieve
from fedsieve import messages as m
from fedsieve.errors import ParameterError, ProtocolError
from fedsieve.messages.clipped_moments import RADIUS
from fedsieve.methods import SieveMethod
from fedsieve.privacy import LIBRARY, SITE
from fedsieve.privacy.noise import noise_multiplier, noise_scales, seeded_words
from fedsieve.protocol import Labeled
from fedsieve.protocol.cohort import BadReplyError
from fedsieve.protocol.influence import KeptReplies, influence
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.site_state import TransientState
from protocol.federation import drive, select_by_edges

D, L = 8, 3
NAMES = tuple(f"f{p}" for p in range(D))
QUICK = {"n_trees": 10, "n_bootstraps": 2, "n_features_to_select": 3}


def federation(n_labeled=60, n_rows=200, n_sites=4, seed=0):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(D, D)) * rng.choice([0.3, 1.0, 5.0], D)
    X = rng.normal(size=(n_labeled, D)) @ mix
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0, rng.random(n_labeled) < 0.3]).astype(float)
    sites = {f"site-{i}": ArrayTable(NAMES, rng.normal(size=(n_rows, D)) @ mix) for i in range(n_sites)}
    return Labeled(X, Y), sites


def plan(epsilon=1.0, **others):
    return SieveMethod(NAMES, epsilon=epsilon, **{**QUICK, **others})


def asked_by(method, labeled, sites):
    """The one request of a run, and the exact answers to it."""
    said = []

    def listen(question, name, reply):
        said.append((question.request, name, reply))
        return reply

    drive(method, labeled, sites, listen)
    assert len({id(request) for request, _, _ in said}) == 1
    return said[0][0], {name: reply for _, name, reply in said}


def test_one_round_of_one_message_that_is_agreed_on_alone():
    labeled, sites = federation()
    outcome = in_process.select(plan(), labeled, sites)
    assert {entry.kind for entry in outcome.transcript} == {"AskClippedMoments", "ClippedMoments"}
    assert len(outcome.transcript) == 2 * len(sites)
    assert [terms.request.__name__ for terms in plan().terms()] == ["AskClippedMoments"]
    for ranges in ("federated", "robust", dict.fromkeys(NAMES, (-9.0, 9.0))):
        assert [terms.request.__name__ for terms in plan(ranges=ranges).terms()] == ["AskClippedMoments"]
    (terms,) = plan().terms()
    assert "(epsilon 1, delta 1e-06)" in terms.reveals()


def endpoint(table, method, policy=LIBRARY, **others):
    return Endpoint.of_table(table, method, policy, Bare("run", ("a", "b", "c")), TransientState(), **others)


@pytest.mark.parametrize("policy", [LIBRARY, SITE], ids=["library", "site"])
def test_the_exact_numbers_never_leave_and_noise_has_the_agreed_size(policy):
    labeled, sites = federation()
    request, exact = asked_by(plan(), labeled, sites)
    scales = noise_scales(request.noise_units(), noise_multiplier(1.0, 1e-6))
    drawn = []
    for _ in range(25):
        reply = decode(endpoint(sites["site-0"], plan(), policy).answer(encode(request)))
        drawn.append((reply.values - exact["site-0"].values) / scales)
    drawn = np.array(drawn)
    assert np.all(np.any(drawn != 0, axis=1))
    assert drawn.std() == pytest.approx(1, abs=0.05)
    assert np.abs(drawn.mean()) < 0.1
    assert reply.n_rows != 200 or np.ptp(drawn[:, 0]) > 0


def test_what_is_not_noisy_is_refused_under_an_agreement_with_noise():
    labeled, sites = federation()
    site = endpoint(sites["site-0"], plan())
    columns = m.Columns(NAMES, (), "error")
    for request in (
        m.AskRanges(columns),
        m.AskCovariances(columns, m.Scaling(labeled.X.min(axis=0), labeled.X.max(axis=0))),
    ):
        said = decode(site.answer(encode(request))).reason
        assert said == f"was asked {type(request).__name__}, which was not agreed on; agreed: AskClippedMoments."


def test_rules_never_let_an_exact_answer_of_a_private_method_out():
    """Even a kind that somebody agreed to by mistake."""

    class Careless(SieveMethod):
        def terms(self):
            return SieveMethod(self.features, ranges="federated").terms()

    _, sites = federation()
    site = endpoint(sites["site-0"], Careless(NAMES, epsilon=1.0))
    said = decode(site.answer(encode(m.AskRanges(m.Columns(NAMES, (), "mean"))))).reason
    assert said == "never answers AskRanges under an agreement with noise (epsilon)."


def test_a_site_answers_the_same_request_with_the_same_bytes_in_every_run():
    labeled, sites = federation()
    request, _ = asked_by(plan(), labeled, sites)
    wrapping, spent = Bare("run", ("a", "b", "c")), []

    class State(TransientState):
        def spend(self, run, _digest, multiplier):
            spent.append((run, multiplier))

    site = Endpoint.of_table(sites["site-0"], plan(), SITE, wrapping, State())
    first = site.answer(encode(request))
    assert site.answer(encode(request)) == first
    wrapping.run = "run.1"
    assert site.answer(encode(request)) == first
    assert spent == [("run", noise_multiplier(1.0, 1e-6))]
    other = replace(request, center=request.center + 1e-3)
    wrapping.run = "another"
    assert site.answer(encode(other)) != first
    assert len(spent) == 2


def test_nothing_leaves_where_the_budget_is_spent():
    labeled, sites = federation()
    request, _ = asked_by(plan(), labeled, sites)

    class Spent(TransientState):
        def spend(self, *_):
            raise ProtocolError("nothing is left.")

    site = Endpoint.of_table(sites["site-0"], plan(), SITE, Bare("run", ("a", "b", "c")), Spent())
    for _ in range(2):
        assert decode(site.answer(encode(request))).reason == "nothing is left."


def test_a_table_that_is_too_small_is_refused_without_its_number_of_rows():
    labeled, sites = federation()
    request, _ = asked_by(plan(), labeled, sites)
    small = ArrayTable(NAMES, sites["site-0"].whole(NAMES)[:37])
    said = decode(endpoint(small, plan(), SITE).answer(encode(request))).reason
    assert said.startswith("has fewer rows than it needs; its rules ask for 50 (min_rows)")
    assert "37" not in said


def test_rare_values_count_as_they_are_since_holding_them_back_would_hang_on_one_row():
    """With four rows that differ, `min_cell` makes the column constant, and a fifth row would give all five away."""
    labeled, _ = federation()
    rows = np.random.default_rng(0).normal(size=(60, D))
    rows[:, 3] = 0.0
    request, _ = asked_by(plan(), labeled, {"a": ArrayTable(NAMES, rows), "b": ArrayTable(NAMES, rows)})
    quiet = plan(epsilon=100.0)
    answers = []
    for n_rare in (4, 5):
        rows[:n_rare, 3] = labeled.X[:, 3].max()
        answers.append(
            decode(endpoint(ArrayTable(NAMES, rows), quiet, SITE, words=seeded_words(1)).answer(encode(request)))
        )
    change = (answers[1].values - answers[0].values) / request.noise_units()
    assert 0 < np.linalg.norm(change) <= 2  # one row exchanged for another


def test_noiseless_sums_are_those_of_all_rows_and_so_is_what_follows(monkeypatch):
    """With hardly any noise, the partition plays no part, and all rows count as in Sieve without noise."""
    monkeypatch.setattr("fedsieve.methods.noisy_moments.UNCLIPPED", 1.0)
    labeled, sites = federation(n_labeled=300, n_rows=100)
    labeled = Labeled(labeled.X * 3, labeled.Y)  # no row elsewhere is longer
    rows = np.vstack([site.whole(NAMES) for site in sites.values()])
    whole, _ = drive(plan(100.0), labeled, {"a": ArrayTable(NAMES, rows[:1]), "b": ArrayTable(NAMES, rows[1:])})
    parts, _ = drive(plan(100.0), labeled, sites)
    assert_array_equal(parts.order, whole.order)
    ends = {name: (low, high) for name, low, high in zip(NAMES, labeled.X.min(0), labeled.X.max(0), strict=True)}
    monkeypatch.setattr("fedsieve.methods.noisy_moments.noise_multiplier", lambda *_: 1e-9)
    quiet, _ = drive(plan(100.0), labeled, sites)
    exact = in_process.select(plan(None, ranges=ends), labeled, sites).selection
    assert quiet.privacy["site_weight"] == pytest.approx(400 / 700, abs=1e-6)
    assert_allclose(quiet.relevance, exact.relevance, atol=1e-3)
    assert_allclose(quiet.scores, exact.scores, atol=0.02)
    assert_array_equal(quiet.order[:5], exact.order[:5])


@pytest.mark.parametrize("epsilon", [0.01, 0.05])
def test_where_noise_leaves_nothing_the_labeled_rows_decide_and_a_sentence_says_so(epsilon):
    labeled, sites = federation(n_rows=50)
    private = in_process.select(plan(epsilon), labeled, sites, words=seeded_words(2)).selection
    alone = Sieve(3, ranges="federated", n_trees=10, n_bootstraps=0).fit(labeled.X, labeled.Y.astype(int))
    assert_array_equal(private.order[:3], alone.order_[:3])
    told = private.facts()["privacy"]
    assert told["changed"] == 0
    assert told["site_weight"] < 0.05
    assert "This noise makes the sites useless here: their weight is next to nothing." in told["words"]
    assert told["rows_for_half"] > 1000


def test_with_many_rows_the_sites_count():
    labeled, sites = federation(n_labeled=15, n_rows=20_000)
    told = in_process.select(plan(2.0), labeled, sites, words=seeded_words(1)).selection.privacy
    assert told["site_weight"] > 0.9
    assert told["n_sites"] == 4
    assert told["noise_multiplier"] == noise_multiplier(2.0, 1e-6)
    assert "useless" not in told["words"] or told["changed"] == 0


def test_the_estimator_says_what_noise_did():
    labeled, sites = federation()
    clients = {name: site.whole(NAMES) for name, site in sites.items()}
    selector = Sieve(3, n_trees=10, n_bootstraps=0, epsilon=2.0).fit(labeled.X, labeled.Y.astype(int), clients=clients)
    assert selector.privacy_["epsilon"] == 2.0
    assert selector.privacy_["delta"] == 1e-6
    assert all(row["noise"] == selector.privacy_["words"] for row in selector.explain())
    assert selector.influence_ is None
    again = clone(selector).set_params(epsilon=None).fit(labeled.X, labeled.Y.astype(int), clients=clients)
    assert again.privacy_ is None
    assert "noise" not in again.explain()[0]


def test_unlabeled_rows_of_one_table_are_one_client_and_none_at_all_are_fine():
    labeled, sites = federation()
    X = np.vstack([labeled.X, sites["site-0"].whole(NAMES)])
    Y = np.vstack([labeled.Y, np.full((200, L), -1)]).astype(int)
    pooled = Sieve(3, n_trees=5, n_bootstraps=0, epsilon=1.0).fit(X, Y)
    assert pooled.privacy_["n_sites"] == 1


def test_codes_groups_and_a_number_that_is_found():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(40, 3)), rng.integers(0, 4, 40)])
    Y = np.column_stack([X[:, 3] == 2, X[:, 0] > 0, rng.random(40) < 0.5]).astype(int)
    sites = [np.column_stack([rng.normal(size=(300, 3)), rng.integers(0, 5, 300)]) for _ in range(3)]  # a new code
    selector = Sieve("auto", nominal=[3], groups=[[1, 2]], epsilon=5.0, n_trees=20, n_bootstraps=2)
    found = selector.fit(X, Y, clients=sites)
    assert found.choice_ is not None
    assert np.isfinite(found.scores_).all()


def test_wide_tables_send_squares_and_are_screened():
    labeled, sites = federation(n_rows=3000)
    method = plan(5.0, screen=4, n_features_to_select=2)
    request, exact = asked_by(method, labeled, sites)
    assert request.second == "squares"
    assert len(exact["site-0"].values) == 1 + D + D + D * L
    found = in_process.select(method, labeled, sites, words=seeded_words(1)).selection
    assert (found.scores < 0).sum() == 4
    exact = in_process.select(plan(None, screen=4, n_features_to_select=2), labeled, sites).selection
    assert found.order[0] == exact.order[0]


def test_seeded_noise_gives_the_same_again_and_the_system_s_does_not():
    labeled, sites = federation()

    def weight(**how):
        return in_process.select(plan(3.0), labeled, sites, **how).selection.privacy["site_weight"]

    assert weight(words=seeded_words(4)) == weight(words=seeded_words(4))
    assert weight() != weight()


def test_an_edge_server_adds_up_noisy_answers_and_adds_no_noise_of_its_own():
    labeled, sites = federation()
    method = plan(max_sites_per_client=2)
    names = list(sites)
    groups = {"east": {name: sites[name] for name in names[:2]}, "west": {name: sites[name] for name in names[2:]}}
    found, said = select_by_edges(method, labeled, groups)
    assert [reply.n_sites for reply in said] == [2, 2]
    assert found.privacy["n_sites"] == 4


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda v: v * 0 + RADIUS**2 * 10**6, "claims about"),
        (lambda v: np.where(np.arange(len(v)) == 0, -(2**40), v), "claims about"),
        (lambda v: np.where(np.arange(len(v)) == 1, 2**50, v), "sent sums beyond those of its rows"),
        (lambda v: np.where(np.arange(len(v)) == len(v) - 1, -(2**55), v), "sent sums beyond those of its rows"),
    ],
)
def test_a_site_cannot_claim_more_than_its_rows_and_noise_could_give(changed, said):
    labeled, sites = federation()

    def lie(_question, name, reply):
        return replace(reply, values=changed(reply.values)) if name == "site-1" else reply

    with pytest.raises(BadReplyError, match=f"client 'site-1': {said}"):
        drive(plan(max_rows=1000), labeled, sites, lie)


def test_influence_is_not_told_where_it_would_be_that_of_noise():
    labeled, sites = federation()
    kept = KeptReplies()
    found = in_process.select(plan(), labeled, sites, kept=kept).selection
    assert influence(plan(), labeled, found, kept) is None


@pytest.mark.parametrize("value", ["much", True, 0, -1.0, 1000])
def test_other_epsilons_are_refused(value):
    with pytest.raises(ParameterError, match="Sieve: epsilon must be"):
        plan(value)


def test_what_was_decided_says_whose_ranges_were_used():
    assert plan().parameters()["ranges"] == "labeled rows"
    assert plan(None).parameters()["ranges"] == "robust"
    assert plan().private
    assert not plan(None).private
