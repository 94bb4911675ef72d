"""A level of edge servers, with the real apps, keys and envelopes on grids in this process."""

import itertools
import json
import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fedsieve import messages as m
from fedsieve.deployment.edge_agreement import follow_above
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.membership import hand_over_all
from fedsieve.deployment.runs import RunFolder
from fedsieve.deployment.spent_noise import SpentNoise
from fedsieve.deployment.what_left import WhatLeft
from fedsieve.errors import ProtocolError
from fedsieve.protocol import Question
from fedsieve.transport import in_process
from fedsieve.transport.codec import encode
from fedsieve.transport.flower.contents import STEP
from fedsieve.transport.flower.grid_exchange import link_for
from fedsieve.transport.flower.local_grid import LocalGrid
from fedsieve.transport.mailbox import Mailbox
from policies import LENIENT, take_part, write_rules
from protocol.federation import example, labeled, sites
from strategies import Federation
from transport.edges import two_levels


def flat(made, without=()):
    """The same selection with all sites on one server, in this process."""
    tables = {name: table for name, table in sites(made.case).items() if name not in without}
    return in_process.select(made.top.agreement().method, labeled(made.case), tables).selection


def assert_as_flat(record, made, without=()):
    expected = flat(made, without)
    assert record["order"] == [made.case.features[i] for i in expected.order]
    assert_allclose(list(record["scores"].values()), expected.scores, rtol=0, atol=1e-9)


def without(grid, *lost):
    return LocalGrid({number: node for number, node in grid._nodes.items() if number not in lost})


class Losing(LocalGrid):
    """A grid some of whose nodes are silent, from their n-th message on."""

    def __init__(self, grid, lost, nth=1):
        super().__init__(grid._nodes)
        for number in lost:
            self._nodes[number] = self._silent(self._nodes[number], nth)

    @staticmethod
    def _silent(node, nth):
        seen = []

        def answer(message):
            if not message.metadata.message_type.endswith("hello"):
                seen.append(message)
            if len(seen) < nth:
                return node(message)
            raise RuntimeError("the process is gone")

        return answer


def test_two_edge_servers_with_three_sites_each_give_the_order_of_six_sites_on_one_server(tmp_path):
    made = two_levels(tmp_path, example(n_clients=6))
    run = made.run()
    assert run.failure() is None
    record = run.result()
    assert_as_flat(record, made)
    assert set(record["n_rows"]) == {"edge-0", "edge-1"}
    assert sum(record["n_rows"].values()) == sum(len(X) for X in made.case.clients.values())
    # The result reaches every site through its edge server, and then nothing of single sites stays there.
    for edge, folder in made.below.items():
        for place in (made.top.site(edge), *(folder.site(name) for name in folder.agreement().sites)):
            text = (place.results / run.id / "selection.json").read_text()
            assert json.loads(text)["order"] == record["order"]
        below = RunFolder(folder.server / "runs" / run.id)
        assert below.has_ended
        assert not below.replies.exists()


def rows_of(rng, n):
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) + 1
    X[:, 1] = rng.integers(0, 2, n)
    return X


@pytest.mark.parametrize(("method", "missing"), [("Sieve", "mean"), ("SSFMLFS", "error")])
def test_with_all_default_rules_at_sites_and_edge_servers_nothing_is_refused(tmp_path, method, missing):
    """As many rows as may be claimed: a total of all sites is above what those below one edge server may have."""
    rng = np.random.default_rng(3)
    X = rows_of(rng, 40)
    clients = {f"site-{i}": rows_of(rng, 60) for i in range(9)}
    if missing == "mean":
        for table in clients.values():
            table[::4, 2] = np.nan
    case = Federation(clients, X, np.column_stack([X[:, 0] > 1, X[:, 1] > 0]).astype(int))
    agreed = {"method": method, "ranges": "robust", "parameters": {"missing": missing}}
    rules = {"rounds": {"max_rows": 60}, "privacy": {"min_rows": 50}}
    made = two_levels(tmp_path, case, 3, policy=None, own={"min_rows": 50}, **agreed, **rules)
    run = made.run()
    assert run.failure() is None
    assert run.result()["dropped"] == {}
    assert_as_flat(run.result(), made)
    left = [entry["rows"] for entry in WhatLeft(made.top.site("edge-0").path).chain.entries()]
    assert set(left) == {180}


def test_under_differential_privacy_every_site_below_adds_the_whole_noise(tmp_path):
    pytest.importorskip("dp_accounting")
    rng = np.random.default_rng(4)
    X = rng.random((30, 3))
    case = Federation({f"site-{i}": rng.random((200, 3)) for i in range(4)}, X, (X[:, :2] > 0.5).astype(int))
    noise = {"epsilon": 1.0, "delta": 1e-6}
    policy = replace(LENIENT, max_epsilon=10.0)
    made = two_levels(
        tmp_path, case, policy=policy, method="Sieve", ranges=dict.fromkeys(case.features, (0.0, 1.0)), parameters=noise
    )
    record = made.run().result()
    assert record["privacy"]["n_sites"] == 4
    spent = [SpentNoise(below.site(name).ledger) for below in made.below.values() for name in below.agreement().sites]
    assert [len(one.answers()) for one in spent] == [1, 1, 1, 1]
    assert not any(SpentNoise(made.top.site(edge).ledger).answers() for edge in made.below)


def test_a_site_that_is_lost_at_the_beginning_is_left_out_and_named_by_the_edge_server(tmp_path):
    made = two_levels(tmp_path, example(n_clients=6))
    (made.below["edge-1"].site("site-3").prepared / "rows.npy").unlink()
    record = made.run().result()
    assert record["dropped"] == {}
    assert_as_flat(record, made, without=("site-3",))
    events = RunFolder(made.below["edge-1"].server / "runs" / record["federation"]["run"]).events()
    (dropped,) = [event for event in events if event["event"] == "dropped"]
    assert dropped["site"] == "site-3"
    assert "rows.npy" in dropped["reason"]
    assert [event["sites"] for event in events if event["event"] == "delivery"] == [["site-1", "site-5"]]


def test_a_site_that_is_offline_is_left_out(tmp_path):
    made = two_levels(tmp_path, example(n_clients=6))
    made.start("edge-0", LocalGrid({number: made.grids["edge-0"]._nodes[number] for number in (1, 3)}))
    record = made.run().result()
    assert_as_flat(record, made, without=("site-2",))
    settings = RunFolder(made.below["edge-0"].server / "runs" / record["federation"]["run"]).settings()
    assert (settings["sites"], settings["absent"]) == (["site-0", "site-4"], ["site-2"])


def test_a_site_that_is_lost_later_costs_its_edge_server_and_is_named(tmp_path):
    made = two_levels(tmp_path, example(n_clients=6), 3)
    made.start("edge-1", Losing(made.grids["edge-1"], [2], nth=2))
    record = made.run().result()
    assert record["dropped"]["edge-1"] == (
        "an edge server, of which failed site 'site-4': its process failed (the engine's code 2)."
    )
    assert_as_flat(record, made, without=("site-1", "site-4"))


def asked(made, edge, run="run"):
    """What an edge server replies to the first request of a run."""
    link = link_for(LocalGrid({1: made.nodes[edge]}), made.top, run, tuple(made.nodes), lambda *_, **__: None)
    link.nodes = {edge: 1}
    request = m.AskRangesAndMoments(made.top.agreement().method.columns)
    return link.ask(Question(1, (edge,), request, tuple(made.nodes)))[edge].reply


def test_an_edge_server_with_too_few_sites_says_who_is_absent(tmp_path):
    made = two_levels(tmp_path, example(n_clients=4))
    made.start("edge-0", without(made.grids["edge-0"], 2))
    said = "an edge server: 1 of its sites is online, 2 are needed. Absent: 'site-2'."
    assert asked(made, "edge-0").reason == said


def test_what_a_site_s_own_rules_refuse_is_not_passed_on(tmp_path):
    made = two_levels(tmp_path, example(n_clients=4))
    write_rules(made.below["edge-1"].site("site-3").path, replace(LENIENT, allow_exact_ranges=False))
    assert asked(made, "edge-1").reason.startswith(
        "an edge server, of which failed site 'site-3': the agreement's SSFMLFS sends"
    )
    assert asked(made, "edge-0").n_rows == sum(len(made.case.clients[name]) for name in ("site-0", "site-2"))


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"min_rows": 100}, "its rules ask for 100 (min_rows)"),
        ({"methods": ("Sieve",)}, "its policy allows 'Sieve' (methods)"),
        ({"min_cohort": 3}, "was asked in a run of 2 sites; its policy asks for 3 (min_cohort)"),
    ],
)
def test_the_edge_server_s_own_rules_hold_for_its_total(tmp_path, rules, said):
    made = two_levels(tmp_path, example(n_clients=4))
    write_rules(made.top.site("edge-1").path, replace(LENIENT, **rules))
    assert said in asked(made, "edge-1").reason


def test_what_goes_wrong_at_the_edge_server_itself_is_told_without_folders(tmp_path):
    made = two_levels(tmp_path, example(n_clients=4))
    (made.below["edge-0"].server / "nodes.json").write_text("[]")
    reason = asked(made, "edge-0").reason
    assert reason.startswith("an edge server: ")
    assert "nodes.json" in reason
    assert str(tmp_path) not in reason


def test_the_same_question_gets_the_same_bytes_from_an_edge_server_that_was_started_again(tmp_path):
    made = two_levels(tmp_path, example(n_clients=4))
    first = encode(asked(made, "edge-0"))
    shutil.rmtree(made.top.site("edge-0").prepared)  # as at its end
    for site in made.below["edge-0"].agreement().sites:  # of whom nobody is there any more
        shutil.rmtree(made.below["edge-0"].site(site).prepared)
    made.start("edge-0", LocalGrid({}))
    assert encode(asked(made, "edge-0")) == first


class Counting(LocalGrid):
    """A grid that knows which kinds of messages were sent over it."""

    def __init__(self, grid):
        super().__init__(grid._nodes)
        self.sent = Counter()

    def push_messages(self, messages):
        self.sent.update(message.metadata.message_type for message in messages)
        return super().push_messages(messages)


def dies(node, nth):
    """A node at whose n-th message the server above dies."""
    numbers = itertools.count(1)

    def answer(message):
        if message.metadata.message_type == STEP and next(numbers) == nth:
            raise KeyboardInterrupt
        return node(message)

    return answer


def test_edge_servers_that_were_started_again_in_the_middle_ask_their_sites_only_what_is_new(tmp_path):
    made = two_levels(tmp_path, example(n_clients=6))
    run = made.start_run()
    made.nodes["edge-1"] = dies(made.nodes["edge-1"], 2)
    with pytest.raises(KeyboardInterrupt):
        made.run(run)
    shutil.rmtree(run.replies)  # the server above knows nothing any more, and asks all of it again
    grids = {edge: Counting(grid) for edge, grid in made.grids.items()}
    for edge, grid in grids.items():
        shutil.rmtree(made.top.site(edge).prepared, ignore_errors=True)  # as at its end
        made.start(edge, grid)
    assert_as_flat(made.run(run).result(), made)
    # Of two requests, edge-0 had answered both.
    assert {edge: grid.sent[STEP] for edge, grid in grids.items()} == {"edge-0": 0, "edge-1": 3}


def test_an_edge_server_whose_agreement_below_was_left_behind_refuses_until_it_follows(tmp_path):
    made = two_levels(tmp_path, example(n_clients=4))
    with_parameter(made.top, "lam = 1.2", "lam = 0.4")
    hand_over_all(made.top)
    said = (
        "an edge server, whose agreement with its own sites does not fit the one above any more. It must be started "
        "again, which says why."
    )
    assert asked(made, "edge-0").reason == said
    for edge, below in made.below.items():
        (below.path / AGREEMENT).write_text(follow_above(made.top.site(edge), below), encoding="utf-8")
        hand_over_all(below)
        for site in below.agreement().sites:
            below.site(site).write_rows(made.case.features, made.case.clients[site])
            take_part(below.site(site))
        made.start(edge)
    assert asked(made, "edge-0").n_rows == sum(len(made.case.clients[name]) for name in ("site-0", "site-2"))


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("00001.answer", "an edge server, whose kept answer is damaged. Start a new run."),
        ("00001.question", "an edge server: these bytes are no message of version FSV3. Do all sites run one version?"),
    ],
)
def test_a_damaged_file_of_the_edge_server_is_one_refusal_and_it_goes_on(tmp_path, file, said):
    made = two_levels(tmp_path, example(n_clients=4))
    n_rows = asked(made, "edge-0").n_rows
    shutil.rmtree(made.top.site("edge-0").prepared)
    (made.below["edge-0"].server / "runs" / "run" / "rounds" / file).write_bytes(b"damaged")
    made.start("edge-0")
    assert asked(made, "edge-0").reason == said
    assert asked(made, "edge-0", run="another").n_rows == n_rows


def with_parameter(folder, before, after):
    file = folder.path / AGREEMENT
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1
    file.write_text(text.replace(before, after), encoding="utf-8")


def test_a_question_that_nobody_answers_is_refused_in_time(tmp_path):
    made = two_levels(tmp_path, example(n_clients=4), rounds={"timeout_seconds": 1})
    site, below = made.top.site("edge-0"), made.below["edge-0"]
    with pytest.raises(ProtocolError) as refused:
        Mailbox.of(below, "run").ask(m.AskRangesAndMoments(site.agreement().method.columns), 0.05)
    assert str(refused.value) == "an edge server, whose own sites gave no answer within 0.05 s."
