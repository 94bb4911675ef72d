"""A reply that is signed as it should be and yet wrong is refused in the site's name, never with a trace."""

import dataclasses
import json

import numpy as np
import pytest
from flwr.app import Message

from fedsieve import messages as m
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.keys import new_key
from fedsieve.transport.codec import DIGEST, LENGTH, MAGIC, encode
from fedsieve.transport.flower.contents import RESULT, STEP, unwrap, wrap
from fedsieve.transport.flower.local_grid import LocalGrid
from transport.flower.consortium import changed, forge, lie, refusals, sabotage
from transport.mutations import sealed


def assert_refused(consortium, run, said, site="site-1"):
    record = run.result()
    assert run.failure() is None
    assert said in record["dropped"][site]
    assert record["federation"]["refused_replies"] == {site: 1}
    assert record["scores"] == consortium.expected(without=(site,))["scores"]
    assert "Traceback" not in consortium.logs()


def header(payload, change):
    """The payload with another header, its checksum made to fit."""
    (length,) = LENGTH.unpack(payload[len(MAGIC) : len(MAGIC) + LENGTH.size])
    start = len(MAGIC) + LENGTH.size
    content = json.loads(payload[start : start + length])
    text = json.dumps(change(content)).encode()
    return sealed(MAGIC + LENGTH.pack(len(text)) + text + payload[start + length : -DIGEST])


def one_more_field(content):
    return {**content, "fields": {**content["fields"], "diagnosis": 1}}


def two_gigabytes(content):
    return {**content, "fields": {**content["fields"], "upper": {"array": "f8", "shape": [2**28]}}}


def first(name, value):
    def replaced(reply):
        array = getattr(reply, name).copy()
        array[0] = value
        return array

    return changed(**{name: replaced})


LIES = {
    "another version": (lambda payload: sealed(b"FSV9" + payload[4:-DIGEST]), "no message of version FSV3"),
    "nothing": (lambda _: b"", "no message of version FSV3"),
    "cut": (lambda payload: payload[:-1], "does not match its SHA-256"),
    "an unknown field": (lambda payload: header(payload, one_more_field), "diagnosis"),
    "2 GB claimed": (lambda payload: header(payload, two_gigabytes), f"an array of {2**31} bytes where"),
    "a wrong shape": (changed(upper=lambda reply: reply.upper[:-1]), "sent upper of shape (20,); the plan needs (21,)"),
    "NaN": (first("upper", np.nan), "1 values in upper that are not finite"),
    "inf": (first("upper", np.inf), "1 values in upper that are not finite"),
    "other features": (changed(features=lambda reply: reply.features[::-1]), "others, or in another order"),
    "other rows": (changed(n_rows=lambda reply: reply.n_rows + 1), "before for 13"),
    "a negative sum": (first("upper", -1.0), "sent sums S_p outside"),
    "another reply": (lambda _: encode(m.Products(13, np.ones(6))), "AskPairSums with Products; expected PairSums"),
    "a request": (lambda _: encode(m.AskProducts(None, np.ones(6))), "it is AskProducts, a request"),
    "a refusal": (lambda _: encode(m.Refusal("closed for today")), "closed for today"),
    "a refusal without words": (lambda _: encode(m.Refusal("")), "refused without a reason"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_signed_reply_with_wrong_content_is_refused(consortium, name):
    change, said = LIES[name]
    lie(consortium, "site-1", "AskPairSums", change)
    assert_refused(consortium, consortium.lead(), said)


@pytest.mark.parametrize(
    ("length", "said"), [(2000, "is above the limit of 1500"), (20_000, "are above the limit of 1500")]
)
def test_a_reply_above_the_agreed_size_is_refused(consortium, length, said):
    consortium.agree(rounds={"max_message_bytes": 1500})
    lie(consortium, "site-1", "AskPairSums", lambda _: encode(m.Refusal("x" * length)))
    assert_refused(consortium, consortium.lead(), said)


def test_a_long_reason_does_not_fill_the_servers_log(consortium):
    lie(consortium, "site-1", "AskPairSums", lambda _: encode(m.Refusal("x" * 1_000_000)))
    consortium.lead()
    assert len(consortium.logs()) < 100_000


FORGERIES = {
    "another run": ({"run": "20200101-000000-abcdef"}, "belongs to run '20200101-000000-abcdef', not to"),
    "another round": ({"round": 1}, "belongs to round 1, not to 2"),
    "another request": ({"about": "0" * 64}, "answers another request"),
    "another kind": ({"kind": "result"}, "is a message of kind 'result', sent as 'step'"),
    "another agreement": ({"agreement": "0" * 64}, "hold different agreements"),
    "to another site": ({"receiver": "site-2"}, "addressed to 'site-2', not to 'server'"),
    "in another's name": ({"sender": "site-2"}, "the signature is not that of 'site-2'"),
    "in nobody's name": ({"sender": "nobody"}, "signed as 'nobody', for whom no key is registered"),
    "in the server's name": ({"sender": "server"}, "signed as 'server', for whom no key is registered"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_signed_reply_that_belongs_elsewhere_is_refused(consortium, name):
    fields, said = FORGERIES[name]
    forge(consortium, "site-1", "AskPairSums", lambda genuine: dataclasses.replace(genuine, **fields))
    assert_refused(consortium, consortium.lead(), said)


def test_a_reply_in_anothers_name_and_with_his_key_is_refused_at_the_wrong_node(consortium):
    def change(genuine):
        return dataclasses.replace(genuine, sender="site-2")

    forge(consortium, "site-1", "AskPairSums", change, key=consortium.key("site-2"))
    assert_refused(consortium, consortium.lead(), "signed as 'site-2', but its key is registered for 'site-1'")


def test_a_reply_signed_with_an_unregistered_key_is_refused(consortium):
    forge(consortium, "site-1", "AskPairSums", lambda genuine: genuine, key=new_key())
    assert_refused(consortium, consortium.lead(), "the signature is not that of 'site-1'")


class Recorder:
    """Remembers a site's replies; from some request on it sends an old one again."""

    def __init__(self, consortium, site="site-1"):
        self.old, self.replay = [], None
        honest = consortium.nodes[site]

        def node(message):
            if message.metadata.message_type == STEP:
                if self.replay is not None and len(self.old) >= self.replay[0]:
                    return Message(wrap(self.old[self.replay[1]]), reply_to=message)
                reply = honest(message)
                self.old.append(unwrap(reply))
                return reply
            return honest(message)

        consortium.nodes[site] = node


def test_a_reply_of_an_earlier_round_is_refused(consortium):
    consortium.agree(parameters={"wire": "vectors"})
    recorder = Recorder(consortium)
    recorder.replay = (4, 3)  # the second product is the first again
    assert_refused(consortium, consortium.lead(), "belongs to round 4, not to 5: an old message sent again")


def test_a_reply_of_an_earlier_run_is_refused(consortium):
    recorder = Recorder(consortium)
    before = consortium.lead()
    assert before.result()["dropped"] == {}
    recorder.replay = (0, 0)
    assert_refused(consortium, consortium.lead(), f"belongs to run '{before.id}', not to")


def test_a_reply_to_the_same_round_before_the_servers_death_is_refused(consortium):
    recorder = Recorder(consortium)
    honest = consortium.nodes["site-2"]

    def death(_message, _honest):
        raise KeyboardInterrupt

    sabotage(consortium, "site-2", "AskPairSums", death)
    run = consortium.start()
    with pytest.raises(KeyboardInterrupt):
        consortium.lead(run)
    consortium.nodes["site-2"] = honest
    recorder.replay = (2, 1)
    consortium.lead(run)
    assert_refused(consortium, run, "answers another request than the one that was asked: an old reply sent again")


class Twice(LocalGrid):
    """An engine that delivers every reply to a step twice."""

    def pull_messages(self, message_ids):
        return [reply for reply in super().pull_messages(message_ids) for _ in range(2)]


def test_a_reply_that_comes_twice_counts_once(consortium):
    run = consortium.lead(grid=consortium.grid(Twice))
    assert run.result()["scores"] == consortium.expected()["scores"]
    assert run.result()["transcript"] == consortium.expected()["transcript"]
    assert run.result()["dropped"] == {}
    steps = [event for event in refusals(run) if event["round"] in (1, 2, 3)]
    assert sorted(event["site"] for event in steps) == sorted(3 * list(consortium.case.clients))
    assert {event["reason"] for event in steps} == {"answered twice; the second answer was ignored."}


def test_a_site_with_another_agreement_is_refused_by_itself_with_both_fingerprints(consortium):
    file = consortium.folder.site("site-1").path / AGREEMENT
    file.write_text(file.read_text().replace("lam = 1.2", "lam = 1.0"))
    theirs = consortium.folder.site("site-1").agreement().fingerprint
    run = consortium.lead()
    assert_refused(consortium, run, "the two sides hold different agreements")
    reason = run.result()["dropped"]["site-1"]
    assert theirs[:12] in reason
    assert consortium.folder.agreement().fingerprint[:12] in reason
    assert "'fedsieve federation pack'" in reason


def test_a_site_that_lies_about_the_result_changes_nothing(consortium):
    honest = consortium.nodes["site-1"]

    def node(message):
        garbage = Message(wrap(b"thanks"), reply_to=message) if message.metadata.message_type == RESULT else None
        return garbage or honest(message)

    consortium.nodes["site-1"] = node
    run = consortium.lead()
    assert run.result()["dropped"] == {}
    assert [event["site"] for event in run.events() if event["event"] == "not delivered"] == ["site-1"]
