"""A site that is lost in any way and any round is left out, and the others' result is as if it had never been there."""

import pytest
from flwr.app import ConfigRecord, MetricRecord, RecordDict

from fedsieve import messages as m
from fedsieve.protocol import Question
from fedsieve.transport.flower import grid_exchange
from fedsieve.transport.flower.contents import FIELD, HELLO, RECORD, wrap
from fedsieve.transport.flower.local_grid import LocalGrid
from transport.flower.consortium import content, engine_error, is_silent, raises, refusals, sabotage

PLACES = [
    ("statistics", "AskRangesAndMoments", 1),
    ("statistics", "AskPairSums", 1),
    ("matrices", "AskRelations", 1),
    ("vectors", "AskProducts", 1),
    ("vectors", "AskProducts", 2),
    ("vectors", "AskProducts", 4),
]
LOSSES = {
    "raises": (raises, "its process failed (the engine's code 2)"),
    "is silent": (is_silent, "did not answer within 300 s"),
    "no heartbeat": (engine_error(5), "its node is gone, no heartbeat (the engine's code 5)"),
    "process died": (engine_error(8), "its process died (the engine's code 8)"),
    "unknown engine error": (engine_error(77), "was lost (the engine's code 77)"),
    "empty": (content(RecordDict()), "a message of another app than ours"),
    "garbage": (content(wrap(b"\x00garbage\xff" * 99)), "these bytes are no envelope of version FSE2"),
    "no bytes at all": (content(wrap(b"")), "these bytes are no envelope of version FSE2"),
    "other record": (content(RecordDict({"x": ConfigRecord({FIELD: b""})})), "a message of another app than ours"),
    "other field": (content(RecordDict({RECORD: ConfigRecord({"x": b""})})), "a message of another app than ours"),
    "one record more": (
        content(RecordDict({RECORD: ConfigRecord({FIELD: b""}), "x": MetricRecord({"a": 1})})),
        "a message of another app than ours",
    ),
    "other kind of record": (content(RecordDict({RECORD: MetricRecord({FIELD: 1})})), "of another app than ours"),
    "text": (content(RecordDict({RECORD: ConfigRecord({FIELD: "text"})})), "whose content is str, no bytes"),
    "list": (content(RecordDict({RECORD: ConfigRecord({FIELD: [b"a", b"b"]})})), "whose content is list, no bytes"),
}
FAST = {"tol": 1e-3}


def assert_left_out(consortium, run, said, site="site-1"):
    record, expected = run.result(), consortium.expected(without=(site,))
    assert run.failure() is None
    for part in ("scores", "order", "selected", "relevance", "radius", "n_rows", "n_iter", "residual"):
        assert record[part] == expected[part]
    assert list(record["dropped"]) == [site]
    assert said in record["dropped"][site]
    assert record["federation"]["refused_replies"] == {site: 1}
    assert record["federation"]["sites"] == ["site-0", "site-1", "site-2"]
    assert not (consortium.folder.site(site).results / run.id).exists()
    assert "Traceback" not in consortium.logs()


@pytest.mark.parametrize(
    "loss",
    [
        "raises",
        *(pytest.param(loss, marks=pytest.mark.full) for loss in ("is silent", "no heartbeat", "process died", "text")),
        "garbage",
    ],
)
@pytest.mark.parametrize(("wire", "kind", "nth"), PLACES)
def test_a_site_lost_in_any_round_is_left_out(consortium, wire, kind, nth, loss):
    consortium.agree(parameters={"wire": wire, **FAST})
    act, said = LOSSES[loss]
    sabotage(consortium, "site-1", kind, act, nth)
    assert_left_out(consortium, consortium.lead(), said)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_of_any_kind_is_told_for_what_it_is(consortium, loss):
    act, said = LOSSES[loss]
    sabotage(consortium, "site-1", "AskPairSums", act)
    run = consortium.lead()
    assert_left_out(consortium, run, said)
    (event,) = refusals(run)
    assert (event["site"], event["round"]) == ("site-1", 2)
    assert said in event["reason"]


@pytest.mark.parametrize("lost", ["site-0", "site-2"])
def test_any_site_may_be_the_one_that_is_lost(consortium, lost):
    sabotage(consortium, lost, "AskPairSums", raises)
    assert_left_out(consortium, consortium.lead(), "its process failed", lost)


@pytest.mark.parametrize("seconds", [1, 40])
def test_a_silent_site_costs_its_time_once_and_no_more(consortium, seconds):
    consortium.agree(rounds={"timeout_seconds": seconds})
    sabotage(consortium, "site-1", "AskPairSums", is_silent)
    run = consortium.lead()
    assert seconds <= grid_exchange.time.now <= seconds + grid_exchange.POLL_SECONDS
    assert_left_out(consortium, run, f"did not answer within {seconds} s")


class HeldUp(LocalGrid):
    """An engine that waits for the parts of a reply whose site died while it sent them; others reply meanwhile."""

    def pull_messages(self, message_ids):
        replies = super().pull_messages(message_ids)
        lost = [reply for reply in replies if reply.has_error()]
        if not lost:
            return replies
        self._replies |= {reply.metadata.reply_to_message_id: reply for reply in replies if not reply.has_error()}
        grid_exchange.time.sleep(400)
        return lost


def test_who_dies_while_it_answers_does_not_cost_the_others_their_place(consortium):
    """They had answered within seconds, and were said not to have answered in 300 s."""
    run = consortium.start()
    sabotage(consortium, "site-1", "AskPairSums", engine_error(3))
    consortium.lead(run, consortium.grid(HeldUp))
    assert_left_out(consortium, run, "was lost (the engine's code 3)")


class TakesNotAll(LocalGrid):
    """An engine that takes no message for one node, or none at all, as where all are too large for a proxy."""

    refused, gives = 2, ("",)

    def push_messages(self, messages):
        taken = []
        for message in messages:
            message.metadata.__dict__["_message_id"] = "not taken"
            is_meant = message.metadata.message_type != HELLO and self.refused in (message.metadata.dst_node_id, None)
            taken += self.gives if is_meant else super().push_messages([message])
        return taken


@pytest.mark.parametrize("gives", [("",), (None,), ()])
def test_a_site_that_could_not_be_asked_is_not_waited_for(consortium, gives):
    run = consortium.start()
    grid = consortium.grid(TakesNotAll)
    grid.gives = gives
    consortium.lead(run, grid)
    assert grid_exchange.time.now < grid_exchange.POLL_SECONDS
    assert_left_out(consortium, run, "could not be sent the request")


def test_requests_that_no_site_could_be_sent_are_told_for_what_they_are(consortium):
    run = consortium.start()
    grid = consortium.grid(TakesNotAll)
    grid.refused, grid.gives = None, ()
    consortium.lead(run, grid)
    assert "'site-0', 'site-1', 'site-2': could not be sent the request." in run.failure()


def test_more_time_after_a_restart_is_for_one_round_only(consortium):
    """Nodes may still be busy with the process that died."""
    consortium.agree(rounds={"timeout_seconds": 40})
    consortium.nodes["site-1"] = lambda _message: None
    post = consortium.post("run")
    post.grace_seconds = 90
    question = Question(1, ("site-1",), m.AskRangesAndMoments(consortium.plan.columns))
    reasons = [post.ask(question)["site-1"].reply.reason for _ in range(2)]
    assert reasons == ["did not answer within 130 s.", "did not answer within 40 s."]


def test_too_few_sites_end_the_run_with_all_losses_named(consortium):
    sabotage(consortium, "site-0", "AskRangesAndMoments", raises)
    sabotage(consortium, "site-2", "AskPairSums", engine_error(5))
    run = consortium.lead()
    assert run.result() is None
    assert "only 1 site remains; 2 are needed" in run.failure()
    assert "'site-0': its process failed" in run.failure()
    assert "'site-2': its node is gone" in run.failure()
    last = run.events()[-1]
    assert (last["event"], last["reason"]) == ("failed", run.failure())
    assert not list(consortium.folder.path.rglob("selection.json"))


def test_sites_that_are_lost_in_one_round_are_all_named(consortium):
    sabotage(consortium, "site-0", "AskPairSums", raises)
    sabotage(consortium, "site-2", "AskPairSums", is_silent)
    failure = consortium.lead().failure()
    assert "'site-0': its process failed" in failure
    assert "'site-2': did not answer within 300 s" in failure


def test_the_number_of_sites_that_must_remain_is_the_agreed_one(consortium):
    consortium.agree(rounds={"min_clients": 3})
    sabotage(consortium, "site-1", "AskRangesAndMoments", raises)
    assert "only 2 sites remain; 3 are needed. Dropped: 'site-1': its process failed" in consortium.lead().failure()


@pytest.mark.parametrize("loss", ["raises", "is silent", "garbage"])
def test_a_federation_may_agree_to_end_with_the_first_loss(consortium, loss):
    consortium.agree(rounds={"on_bad_client": "raise"})
    act, said = LOSSES[loss]
    sabotage(consortium, "site-1", "AskPairSums", act)
    run = consortium.lead()
    assert run.result() is None
    assert run.failure().startswith("client 'site-1': ")
    assert said in run.failure()


def test_a_run_that_failed_may_be_tried_again_and_does_not_ask_the_lost_again(consortium):
    consortium.agree(rounds={"min_clients": 3})
    honest = consortium.nodes["site-1"]
    sabotage(consortium, "site-1", "AskPairSums", raises)
    run = consortium.lead()
    consortium.nodes["site-1"] = honest
    run.forget_failure()
    assert run.failure() is None
    consortium.lead(run)
    assert "'site-1': its process failed" in run.failure()
    assert [event["event"] for event in run.events() if event["event"] in ("started", "failed")] == [
        *("started", "failed", "started", "failed")
    ]


def delivery(run):
    """What became of the result, per site."""
    return {event["site"]: event["event"] for event in run.events() if "delivered" in event["event"]}


def test_a_site_that_is_lost_before_the_result_is_delivered_is_told_apart(consortium):
    honest = consortium.nodes["site-1"]
    consortium.nodes["site-1"] = lambda message: (
        None if message.metadata.message_type == "query.result" else honest(message)
    )
    run = consortium.lead()
    assert run.result()["dropped"] == {}
    assert delivery(run) == {"site-0": "delivered", "site-1": "not delivered", "site-2": "delivered"}
    assert 60 <= grid_exchange.time.now <= 60 + grid_exchange.POLL_SECONDS  # and not as long as in a round


def test_a_site_that_cannot_keep_the_result_is_not_said_to_have_it(consortium):
    consortium.folder.site("site-1").results.write_text("a file where the folder should be")
    run = consortium.lead()
    assert delivery(run) == {"site-0": "delivered", "site-1": "not delivered", "site-2": "delivered"}
