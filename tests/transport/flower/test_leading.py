"""Who belongs to a run, who leads it, and how it goes on after a death."""

import pytest

from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.keys import new_key, write_private_key
from fedsieve.transport.flower.contents import RESULT
from fedsieve.transport.flower.grid_exchange import introduce
from fedsieve.transport.flower.local_grid import LocalGrid
from fedsieve.transport.flower.server_app import lead_run
from protocol.federation import WIRES
from transport.flower.consortium import is_silent, refusals, sabotage


def unregister(consortium, site):
    """Give the site a key that the server does not know."""
    write_private_key(new_key(), consortium.folder.site(site).path / "site.key")


def test_nodes_are_known_by_their_keys_whatever_their_numbers(consortium):
    post = consortium.post("run")
    post.grid = LocalGrid(
        {10: consortium.nodes["site-2"], 9: consortium.nodes["site-0"], 2: consortium.nodes["site-1"]}
    )
    assert introduce(post) == {"site-2": 10, "site-0": 9, "site-1": 2}


def test_a_node_with_an_unknown_key_is_ignored(consortium):
    unregister(consortium, "site-1")
    events = []
    post = consortium.post("run", lambda event, **details: events.append((event, details.get("site"))))
    assert introduce(post) == {"site-0": 1, "site-2": 3}
    assert ("refused", "node 2") in events


def test_nodes_that_are_silent_or_fail_are_ignored(consortium):
    consortium.nodes["site-0"] = lambda _message: None
    consortium.nodes["site-2"] = lambda _message: 1 / 0
    assert introduce(consortium.post("run")) == {"site-1": 2}


def test_of_two_nodes_with_one_name_only_one_counts(consortium):
    post = consortium.post("run")
    post.grid = LocalGrid({1: consortium.nodes["site-0"], 2: consortium.nodes["site-0"], 3: consortium.nodes["site-1"]})
    assert introduce(post) == {"site-0": 1, "site-1": 3}


class ComeLater(LocalGrid):
    """As in a simulation, whose server may start before its nodes are registered: at each look there is one more."""

    looks = 0

    def get_node_ids(self):
        there, self.looks = list(super().get_node_ids())[: self.looks], self.looks + 1
        return there


def test_nodes_that_come_after_the_server_are_waited_for(consortium):
    post = consortium.post("run")
    post.grid = ComeLater(dict(enumerate(consortium.nodes.values(), 1)))
    assert introduce(post, n_expected=3) == {"site-0": 1, "site-1": 2, "site-2": 3}


def test_nodes_that_never_come_are_not_waited_for_longer_than_for_an_answer(consortium):
    post = consortium.post("run")
    post.grid, post.timeout_seconds = LocalGrid({1: consortium.nodes["site-1"]}), 0.3
    assert introduce(post, n_expected=3) == {"site-1": 1}


def test_a_stranger_and_a_double_among_the_nodes_change_no_bit(consortium):
    grid = LocalGrid(
        dict(enumerate([*consortium.nodes.values(), consortium.nodes["site-1"], lambda _message: None], 1)),
    )
    record = consortium.lead(grid=grid).result()
    expected = consortium.expected()
    assert {name: record[name] for name in ("scores", "transcript", "dropped")} == {
        name: expected[name] for name in ("scores", "transcript", "dropped")
    }


def test_refused_replies_are_counted_per_site_of_the_run(consortium):
    grid = LocalGrid(dict(enumerate([*consortium.nodes.values(), lambda _message: None], 1)))
    assert consortium.lead(grid=grid).result()["federation"]["refused_replies"] == {}


def test_a_site_without_a_node_ends_the_run_with_its_name(consortium):
    unregister(consortium, "site-1")
    run = consortium.lead()
    assert run.failure() == "no node of 'site-1' is there. Have they joined?"
    assert [event["site"] for event in refusals(run)] == ["node 2"]


def test_an_agreement_that_changed_since_the_start_ends_the_run(consortium):
    run = consortium.start()
    file = consortium.folder.path / AGREEMENT
    file.write_text(file.read_text().replace("lam = 1.2", "lam = 1.1"))
    consortium.lead(run)
    assert run.failure() == "the agreement changed since the run was started. Start a new run."


def test_a_server_without_labeled_rows_says_how_to_give_them(consortium):
    (consortium.folder.server / "labeled.npz").unlink()
    assert "has no labeled rows yet. Start the server with: fedsieve federation serve" in consortium.lead().failure()


@pytest.fixture
def two_leaders(consortium):
    """A run whose second leader came while the first was in its second round."""
    run, seen = consortium.start(), []

    def second(message, honest):
        leader, events = run.leader(), len(run.events())
        lead_run(consortium.grid(), consortium.folder, run)
        seen.append((leader, run.leader(), run.failure(), [event["event"] for event in run.events()[events:]]))
        return honest(message)

    sabotage(consortium, "site-1", "AskPairSums", second)
    consortium.lead(run)
    return run, seen[0]


def test_a_second_leader_is_refused_and_the_first_goes_on_to_the_same_result(consortium, two_leaders):
    run, (before, after, _, _) = two_leaders
    assert before == after  # the first holds the run as before
    assert run.result()["scores"] == consortium.expected()["scores"]
    assert run.result()["dropped"] == {}
    assert f"run {run.id} is led by another process already" in consortium.logs()
    assert run.leader() is None


def test_a_second_leader_leaves_no_trace_in_the_run_of_the_first(two_leaders):
    run, (_, _, failure, told) = two_leaders
    assert failure is None
    assert run.failure() is None
    assert "failed" not in told


@pytest.mark.parametrize("wire", WIRES)
def test_a_run_whose_server_died_goes_on_to_the_same_bits(consortium, wire):
    consortium.agree(parameters={"wire": wire, "tol": 1e-3})
    kind = {"matrices": "AskRelations", "statistics": "AskPairSums", "vectors": "AskProducts"}[wire]
    honest = consortium.nodes["site-1"]

    def death(_message, _honest):
        raise KeyboardInterrupt

    sabotage(consortium, "site-1", kind, death, nth=3 if wire == "vectors" else 1)
    run = consortium.start()
    with pytest.raises(KeyboardInterrupt):
        consortium.lead(run)
    assert run.leader() is None
    assert run.result() is None
    assert run.failure() is None
    consortium.nodes["site-1"] = honest
    n_events = len(run.events())
    consortium.lead(run)
    record, expected = run.result(), consortium.expected()
    assert {**record, "federation": None} == {**expected, "federation": None}
    n_kept = {"matrices": 2, "statistics": 1, "vectors": 3}[wire]  # of matrices, site-0's is kept already
    assert record["federation"]["rounds_from_checkpoint"] == n_kept
    asked = [event for event in run.events()[n_events:] if event["event"] == "round"]
    all_asked = 4 if wire == "matrices" else len({entry["round"] for entry in expected["transcript"]})
    assert len(asked) == all_asked - n_kept


def test_after_a_death_silent_sites_have_more_time_in_the_first_round(consortium):
    consortium.agree(ranges="robust")  # three rounds
    honest, run = consortium.nodes["site-1"], consortium.start()

    def death(_message, _honest):
        raise KeyboardInterrupt

    sabotage(consortium, "site-1", "AskMoments", death)
    with pytest.raises(KeyboardInterrupt):
        consortium.lead(run)
    consortium.nodes["site-1"] = honest
    sabotage(consortium, "site-1", "AskMoments", is_silent)
    sabotage(consortium, "site-2", "AskPairSums", is_silent)
    consortium.lead(run)
    assert [event["reason"] for event in refusals(run)] == [
        "did not answer within 390 s.",
        "did not answer within 300 s.",
    ]


class DiesBeforeDelivery(LocalGrid):
    """An engine whose server's process ends when it is to send the result."""

    def push_messages(self, messages):
        messages = list(messages)
        if any(message.metadata.message_type == RESULT for message in messages):
            raise KeyboardInterrupt
        return super().push_messages(messages)


def test_a_run_that_died_before_delivery_delivers_when_it_is_led_again(consortium):
    run = consortium.start()
    with pytest.raises(KeyboardInterrupt):
        consortium.lead(run, consortium.grid(DiesBeforeDelivery))
    before = run.result()
    assert not [site for site in consortium.case.clients if consortium.folder.site(site).results.exists()]
    consortium.lead(run)
    assert run.result()["federation"].pop("rounds_from_checkpoint") == 2
    assert before["scores"] == run.result()["scores"]
    for name in consortium.case.clients:
        assert (consortium.folder.site(name).results / run.id / "selection.json").is_file()


def test_an_error_of_ours_is_raised_and_told_without_a_result(consortium, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("fedsieve.transport.flower.server_app.drive", broken)
    run = consortium.start()
    with pytest.raises(ZeroDivisionError):
        consortium.lead(run)
    assert run.failure().startswith("ZeroDivisionError in the server's process; see ")
