"""Edge servers: sums of sums are sums, so a level in between changes no order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.methods import SSFMLFSMethod
from fedsieve.protocol import Client, EdgeServer, federated_selection
from protocol.federation import drive, edge_answer, example, labeled, select_by_edges, sites
from protocol.supervised import SupervisedCase, supervised_example
from sieve_cases import sieve_cases, sieve_example, thirds
from sites_with_labels import sites_with_labels


def grouped(case, n_edges):
    tables = sites(case)
    names = sorted(tables)
    return {f"edge-{i}": {name: tables[name] for name in names[i::n_edges]} for i in range(n_edges)}


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    wire=st.sampled_from(["statistics", "vectors"]),
    relation=st.sampled_from(["distance", "similarity"]),
)
def test_two_edge_servers_with_three_sites_each_rank_like_six_sites_on_one_server(seed, wire, relation):
    case = example(seed, n_clients=6)
    method = SSFMLFSMethod(case.features, wire=wire, relation=relation, max_sites_per_client=3)
    flat = select_flat(method, case)
    found, _ = select_by_edges(method, labeled(case), grouped(case, 2))
    assert_allclose(found.scores, flat.scores, rtol=1e-9)
    assert_array_equal(found.order, flat.order)
    assert sum(found.n_rows.values()) == sum(flat.n_rows.values())


@settings(max_examples=15)
@given(
    st.integers(0, 2**32 - 1), st.lists(st.integers(0, 4), min_size=5, max_size=5).filter(lambda of: len(set(of)) > 1)
)
def test_however_sites_are_grouped_into_edge_servers_the_order_is_that_of_one_server(seed, edge_of):
    case = example(seed, n_clients=5)
    tables = sites(case)
    groups = {
        f"edge-{edge}": {name: table for name, table in tables.items() if edge_of[int(name[-1])] == edge}
        for edge in sorted(set(edge_of))
    }
    method = SSFMLFSMethod(case.features, wire="statistics", max_sites_per_client=4)
    flat = select_flat(method, case)
    found, _ = select_by_edges(method, labeled(case), groups)
    assert_array_equal(found.order, flat.order)
    assert_allclose(found.scores, flat.scores, rtol=1e-9)


def select_flat(method, case):
    clients = {name: Client(site) for name, site in sites(case).items()}
    steps = federated_selection(method, labeled(case), clients)
    question = next(steps)
    while True:
        try:
            question = steps.send({name: clients[name].answer(question.request) for name in question.clients})
        except StopIteration as finished:
            return finished.value


def test_pair_sums_through_edges_are_the_same_to_the_last_bit():
    case = example(n_clients=6)
    method = SSFMLFSMethod(case.features, wire="statistics", max_sites_per_client=3)
    found, said = select_by_edges(method, labeled(case), grouped(case, 2))
    assert_array_equal(found.distance, select_flat(method, case).distance)
    assert {type(reply).__name__ for reply in said} == {"RangesAndMoments", "PairSums"}


def test_a_site_that_fails_is_named_by_its_edge_server():
    case = example(n_clients=4)
    method = SSFMLFSMethod(case.features)
    tables = sites(case)
    clients = {name: Client(tables[name]) for name in ("site-0", "site-1")}
    edge = EdgeServer(method, clients)
    steps = edge.answer(m.AskRanges(m.Columns(case.features, (), "error")))
    next(steps)
    with pytest.raises(StopIteration) as finished:
        steps.send({"site-0": clients["site-0"].answer(m.AskRanges(m.Columns(case.features, (), "error")))})
    assert finished.value.value.reason == "an edge server, of which failed site 'site-1': did not answer."


def answered(edge, clients, request, lost=()):
    """What an edge server replies while some sites are silent, and the cohorts that it asked in vain or not."""
    steps, cohorts = edge.answer(request), []
    try:
        question = next(steps)
        while True:
            cohorts.append((question.attempt, question.cohort))
            there = [name for name in question.clients if name not in lost]
            question = steps.send({name: clients[name].answer(question.request) for name in there})
    except StopIteration as finished:
        return finished.value, cohorts


def test_a_site_lost_before_anything_was_told_is_left_out_and_one_lost_later_is_not():
    case = example(n_clients=4)
    clients = {name: Client(table) for name, table in sites(case).items()}
    method = SSFMLFSMethod(case.features, on_bad_client="drop", min_clients=2)
    request = m.AskRanges(m.Columns(case.features, (), "error"))
    edge = EdgeServer(method, clients)
    reply, cohorts = answered(edge, clients, request, lost=["site-2"])
    left = ("site-0", "site-1", "site-3")
    assert cohorts == [(0, tuple(clients)), (1, left)]
    assert (edge.sites, edge.dropped) == (left, {"site-2": "did not answer."})
    assert reply.n_rows == sum(len(case.clients[name]) for name in left)
    later, cohorts = answered(edge, clients, request, lost=["site-3"])
    assert cohorts == [(1, left)]
    assert later.reason == (
        "an edge server, of which failed site 'site-2': did not answer. site 'site-3': did not answer."
    )


def test_an_edge_server_with_too_few_sites_left_names_all_that_failed():
    case = example(n_clients=3)
    clients = {name: Client(table) for name, table in sites(case).items()}
    edge = EdgeServer(SSFMLFSMethod(case.features, on_bad_client="drop", min_clients=2), clients)
    request = m.AskRanges(m.Columns(case.features, (), "error"))
    reply, _ = answered(edge, clients, request, lost=["site-0", "site-2"])
    assert reply.reason == (
        "an edge server, of which failed site 'site-0': did not answer. site 'site-2': did not answer."
    )


@pytest.mark.parametrize(
    ("parameters", "request_of", "message"),
    [
        ({"wire": "matrices"}, m.AskRelations, "relation matrices do not add up"),
        ({"spread": "mean"}, m.AskPairSums, "spread='mean' averages over single sites"),
        ({"aggregation": "mean"}, m.AskPairSums, "aggregation='mean' averages over single sites"),
    ],
)
def test_what_does_not_add_up_is_refused_by_an_edge_server(parameters, request_of, message):
    case = example()
    columns = m.Columns(case.features, (), "error")
    relation = m.Relation(columns, m.Scaling(None, None), np.ones(len(case.features)), "distance")
    reply = edge_answer(EdgeServer(SSFMLFSMethod(case.features, **parameters), []), {}, request_of(relation))
    assert isinstance(reply, m.Refusal)
    assert message in reply.reason


def in_two_groups(tables):
    names = sorted(tables)
    return {"edge-0": {name: tables[name] for name in names[:1]}, "edge-1": {name: tables[name] for name in names[1:]}}


@settings(max_examples=25)
@given(sites_with_labels(max_sites=5))
def test_pooled_covariances_through_edges_find_what_the_sites_on_one_server_find(tables):
    case = SupervisedCase(tables)
    method = case.plan("FedCMFS, pooled")
    flat, _ = drive(method, case.rows, case.sites)
    found, said = select_by_edges(method, case.rows, in_two_groups(case.sites))
    assert {type(reply) for reply in said} == {m.Ranges, m.Covariances}
    assert_array_equal(found.order, flat.order)
    assert_array_equal(found.kept, flat.kept)
    assert_allclose(found.scores, flat.scores, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("FMLFS", "an edge server: information does not add up. FMLFS needs each site at the server itself."),
        ("FedCMFS, statistics", "an edge server: combine='p-values' averages over single sites, which it does not"),
        ("FedCMFS, tests", "an edge server: combine='p-values' averages over single sites, which it does not"),
    ],
)
def test_sites_with_labels_whose_replies_do_not_add_up_are_refused_by_their_edge_server(name, message):
    case = supervised_example()
    with pytest.raises(ProtocolError) as refused:
        select_by_edges(case.plan(name), case.rows, in_two_groups(case.sites))
    assert str(refused.value).startswith(f"client 'edge-0': {message}")


@settings(max_examples=15)
@given(st.data(), st.sampled_from([{}, {"screen": 2, "n_features_to_select": 1}]))
def test_two_edge_servers_with_three_sites_each_select_by_sieve_what_six_sites_do(data, parameters):
    case = data.draw(sieve_cases(min_others=12))
    tables = case.sites({f"site-{i}": part for i, part in enumerate(np.array_split(case.others, 6))})
    names = sorted(tables)
    groups = {f"edge-{i}": {name: tables[name] for name in names[i::2]} for i in range(2)}
    method = case.plan(max_sites_per_client=3, **parameters)
    flat, _ = drive(method, case.rows, tables)
    found, said = select_by_edges(method, case.rows, groups)
    for name in ("scores", "relevance", "redundancy", "stability"):
        assert_allclose(getattr(found, name), getattr(flat, name), rtol=0, atol=1e-9)
    assert_array_equal(found.order, flat.order)
    assert sum(found.n_rows.values()) == sum(flat.n_rows.values())
    assert {type(reply) for reply in said} == {m.Ranges, m.Covariances, *([m.Projections] if parameters else [])}


def test_a_site_that_sieve_refuses_is_named_by_its_edge_server():
    case = sieve_example()
    tables = thirds(case)
    tables["site-1"][4, 3] = 1.5
    sites = case.sites(tables)
    with pytest.raises(ProtocolError) as refused:
        select_by_edges(case.plan(), case.rows, in_two_groups(sites))
    assert str(refused.value) == (
        "client 'edge-1': an edge server, of which failed site 'site-1': nominal column 'f3' has a code "
        "that is no whole number. Number the categories 0, 1, 2, ..."
    )
