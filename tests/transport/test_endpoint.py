"""A site's whole answer is the same object in every runtime, and no runtime decides anything about privacy."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fedsieve import SSFMLFS, Sieve
from fedsieve import messages as m
from fedsieve.errors import ParameterError, ProtocolError
from fedsieve.methods import FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.privacy import LIBRARY, SITE, SiteRules
from fedsieve.protocol import Client, Question
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint, TransientState
from fedsieve.transport.flower.edge_node import EdgeNode
from fedsieve.transport.flower.grid_exchange import link_for
from fedsieve.transport.flower.local_grid import LocalGrid
from protocol.federation import example, labeled, sites
from transport.test_edge_node import consortium as edge_consortium

NOT_AGREED = "was asked AskRelations, which was not agreed on; agreed: AskRanges, AskMoments, AskPairSums."
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
    return Endpoint.of_table(table, SieveMethod(FEATURES), policy, Bare(), TransientState(), **others)


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
    top, _, below = edge_consortium(tmp_path, case)
    edge = EdgeNode(top.site("edge-0"), below["edge-0"], Unused({}))
    link = link_for(LocalGrid({1: edge}), top, "run", lambda *_, **__: None)
    link.nodes = {"edge-0": 1}
    reply = link.ask(Question(1, ("edge-0",), relations_of(case.features)))["edge-0"].reply
    assert (type(reply), reply.reason) == (m.Refusal, NOT_AGREED)


class Unused(LocalGrid):
    """A grid over which nothing may be sent."""

    def push_messages(self, messages):
        raise AssertionError(list(messages))


def test_a_library_checks_the_agreement_and_nothing_else():
    assert ask(endpoint(ROWS[:2]), RANGES).n_rows == 2


def test_a_site_of_few_rows_answers_nothing():
    reply = ask(endpoint(ROWS[:9], SITE), RANGES)
    assert reply.reason == "has 9 rows, the agreement asks for 10 (min_rows): sums of few rows hide little."
    assert ask(endpoint(ROWS[:10], SITE), RANGES).n_rows == 10


def test_what_an_answer_tells_is_checked_before_it_leaves():
    """Ranges of its own invention would let a server count the values beyond an edge."""
    columns = m.Columns(FEATURES, (), "error")
    site = Endpoint.of_table(ArrayTable(FEATURES, ROWS), SSFMLFSMethod(FEATURES), SITE, Bare(), TransientState())
    assert ask(site, m.AskMoments(columns, m.Scaling(ROWS.min(axis=0), ROWS.max(axis=0)))).n_clipped == 0
    reply = ask(site, m.AskMoments(columns, m.Scaling(ROWS.min(axis=0) + 3, ROWS.max(axis=0))))
    assert reply.reason == ("was sent ranges that do not hold its own values; federated ranges hold those of all.")


@pytest.mark.parametrize("n_rows", [9, 10])
def test_a_sum_over_few_rows_does_not_leave_either(n_rows):
    """An edge server knows how many rows its sites have once they answered."""
    total = m.Ranges(n_rows, FEATURES, np.zeros(2), np.ones(2))
    rules = SiteRules(SieveMethod(FEATURES), SITE, TransientState().among_first)
    edge = Endpoint(lambda: rules, lambda *_: total, Bare(), hides_defects=True)
    assert isinstance(ask(edge, RANGES), m.Refusal if n_rows < 10 else m.Ranges)


def test_of_few_rows_not_even_another_refusal_tells():
    """Whether ranges hold a small site's values would tell a server its extremes, one refusal at a time."""
    columns = m.Columns(FEATURES, (), "error")
    for high in (5.0, 500.0):
        request = m.AskCovariances(columns, m.Scaling(np.zeros(2), np.full(2, high)))
        assert "has 9 rows" in ask(endpoint(ROWS[:9], SITE), request).reason


@pytest.mark.parametrize(("policy", "n_answered"), [(LIBRARY, 22), (SITE, 20)], ids=["library", "site"])
def test_a_site_does_not_answer_about_ever_new_bins(policy, n_answered):
    method = FMLFSMethod(FEATURES, labels=("y",))
    table = ArrayTable(FEATURES, ROWS, ("y",), np.arange(12.0)[:, None] % 2)
    site = Endpoint.of_table(table, method, policy, Bare(), TransientState())
    requests = [
        m.AskInformation(method.columns, ("y",), m.Scaling(np.zeros(2), np.full(2, high)), method.n_bins)
        for high in np.arange(30.0, 52.0)
    ]
    replies = [type(ask(site, request)) for request in requests]
    assert replies == [m.Information] * n_answered + [m.Refusal] * (22 - n_answered)
    assert isinstance(ask(site, requests[0]), m.Information)  # nothing new


@pytest.mark.parametrize("selector", [Sieve(n_bootstraps=0), SSFMLFS()])
def test_fit_can_be_as_strict_as_sites_are(selector):
    case = example()
    tables = {**case.clients, "small": case.clients["site-0"][:9]}
    assert selector.fit(case.X, case.Y, clients=tables).dropped_ == {}
    with pytest.raises(ProtocolError, match="client 'small': has 9 rows, the agreement asks for 10"):
        selector.fit(case.X, case.Y, clients=tables, policy="site")
    scores = selector.fit(case.X, case.Y, clients=case.clients, policy="site").scores_
    assert_array_equal(scores, selector.fit(case.X, case.Y, clients=case.clients).scores_)


def test_a_policy_that_does_not_exist_is_named():
    with pytest.raises(ParameterError, match="SSFMLFS: policy must be one of 'library', 'site'; got 'strict'"):
        SSFMLFS().fit(ROWS, np.eye(12), policy="strict")


def test_filters_change_what_leaves_in_their_order_and_see_no_refusal():
    seen = []

    def widened(by):
        def change(request, reply):
            seen.append((by, type(request), reply.high[0]))
            return dataclasses.replace(reply, high=reply.high * by)

        return change

    site = endpoint(ROWS, filters=[widened(2), widened(10)])
    assert_array_equal(ask(site, RANGES).high, [22 * 20, 23 * 20])
    assert seen == [(2, m.AskRanges, 22), (10, m.AskRanges, 44)]
    assert isinstance(ask(site, m.AskRanges(m.Columns(("other",), (), "error"))), m.Refusal)
    gaps = endpoint(np.where(ROWS == 5, np.nan, ROWS), filters=[widened(2)])
    assert "1 missing (NaN) value in column 'f1'" in ask(gaps, RANGES).reason
    assert len(seen) == 2


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
    assert ask(endpoint(ROWS, SITE), RANGES).reason == "failed with ValueError; see the site's log."
