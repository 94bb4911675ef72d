"""Attacks by whoever holds old letters, or the operator's key: a site speaks only with members, here and now."""

import dataclasses
import time
import zlib

import pytest

from fedsieve import messages as m
from fedsieve.deployment import keys
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.members import fingerprint, replace_members
from fedsieve.deployment.membership import renew_site
from fedsieve.protocol import SERVER, Question
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.envelope import HELLO, RESULT, STEP, seal, unseal
from fedsieve.transport.operator import Operator, clock_difference
from fedsieve.transport.site import JoinedSite

RUN = "20260101-000000-abcdef"
SITES = ("site-0", "site-1", "site-2")


class Wire:
    """The operator's own key in an attacker's hands, and one site of the real consortium."""

    def __init__(self, consortium):
        self.folder = consortium.folder
        self.site = JoinedSite(self.folder.site("site-0"))
        self.operator = Operator.of(self.folder, RUN)
        self.ask = encode(m.AskRangesAndMoments(m.Columns(consortium.case.features, (), "error")))

    def letter(self, payload=None, kind=STEP, cohort=SITES, **changes):
        """A letter that the operator's key signed, with any header."""
        sealed = self.operator.seal(1, "site-0", self.ask if payload is None else payload, kind=kind, cohort=cohort)
        public = self.operator.key.public_key()
        return seal(dataclasses.replace(unseal(sealed, {SERVER: public}), **changes), self.operator.key)

    def said(self, sealed):
        """Why the site refused; "" where it answered with numbers, or took what it was given."""
        payload = unseal(sealed, self.operator.public_keys).payload
        reply = decode(payload) if payload else None
        return reply.reason if isinstance(reply, m.Refusal) else ""


@pytest.fixture
def wire(consortium):
    return Wire(consortium)


def test_an_honest_letter_is_answered(wire):
    assert wire.said(wire.site.answer(wire.letter())) == ""


def test_a_recorded_request_sent_again_after_it_expired_is_refused(wire, consortium):
    lifetime = consortium.folder.agreement().timeout_seconds + 60
    just, late = (int(time.time()) - lifetime + seconds for seconds in (20, -20))
    assert wire.said(wire.site.answer(wire.letter(time=just))) == ""
    for age in (late, 0):
        said = wire.said(wire.site.answer(wire.letter(time=age)))
        assert "s ago by the server's clock" in said
        assert "compare the clocks of both machines" in said


def test_a_request_of_the_future_is_refused_so_that_none_can_be_signed_in_advance(wire):
    said = wire.said(wire.site.answer(wire.letter(time=int(time.time()) + 100)))
    assert "s in the future by this machine's clock" in said
    assert "compare the clocks of both machines" in said


def test_an_old_result_and_an_old_hello_are_refused_too(wire):
    result = wire.letter(zlib.compress(b"{}"), RESULT, time=0)
    assert "s ago by the server's clock" in wire.said(wire.site.take_result(result))
    assert "s ago by the server's clock" in wire.said(
        wire.site.greet(wire.letter(b"", HELLO, (), time=0, receiver="?"))
    )


@pytest.mark.parametrize("kind", [RESULT, HELLO, "", "STEP", "something else"])
def test_a_letter_of_another_kind_is_not_answered_as_a_step(wire, kind):
    said = wire.said(wire.site.answer(wire.letter(kind=kind)))
    assert said == f"is a message of kind {kind!r}, sent as 'step'."


def test_a_step_is_taken_neither_as_a_result_nor_as_a_hello(wire):
    packed = wire.letter(zlib.compress(b"{}"))
    assert wire.said(wire.site.take_result(packed)) == "is a message of kind 'step', sent as 'result'."
    assert wire.said(wire.site.greet(wire.letter(b"", receiver="?"))) == "is a message of kind 'step', sent as 'hello'."
    assert not wire.folder.site("site-0").results.exists()


def test_a_reply_repeats_the_kind_has_its_own_nonce_and_time_and_answers_one_request(wire):
    letter = wire.letter(time=int(time.time()) - 100)
    request = unseal(letter, {SERVER: wire.operator.key.public_key()})
    replies = [unseal(wire.site.answer(letter), wire.operator.public_keys) for _ in range(2)]
    assert {reply.kind for reply in replies} == {STEP}
    assert len({request.nonce, *(reply.nonce for reply in replies)}) == 3
    assert all(abs(reply.time - time.time()) < 50 for reply in replies)
    assert request.about == ""


def test_a_cohort_with_a_stranger_is_refused_by_name(wire):
    said = wire.said(wire.site.answer(wire.letter(cohort=(*SITES, "mallory"))))
    assert said == "is asked to take part with 'mallory', no member of its agreement."


def test_a_member_without_a_key_is_a_stranger_too(wire):
    put(wire.folder, replace_members(text(wire.folder), {**wire.folder.agreement().members, "site-9": ""}))
    wire.operator = Operator.of(wire.folder, RUN)
    said = wire.said(wire.site.answer(wire.letter(cohort=(*SITES, "site-9"))))
    assert said == "is asked to take part with 'site-9', no member of its agreement."


@pytest.mark.parametrize("cohort", [(), ("site-1", "site-2")])
def test_a_site_is_part_of_the_cohort_for_which_it_computes(wire, cohort):
    assert "said to be no part" in wire.said(wire.site.answer(wire.letter(cohort=cohort)))


def text(folder):
    return (folder.path / AGREEMENT).read_text(encoding="utf-8")


def put(folder, agreement, names=SITES):
    """Let the server and some sites hold this agreement."""
    for place in (folder.path, *(folder.site(name).path for name in names)):
        (place / AGREEMENT).write_text(agreement, encoding="utf-8")


def test_an_operator_who_swaps_a_members_key_is_met_with_another_agreement_by_all_others(consortium):
    members, folder = consortium.folder.agreement().members, consortium.folder
    mine = keys.public_text(keys.new_key().public_key())
    put(folder, replace_members(text(folder), {**members, "site-2": mine}), names=())
    request = m.AskRangesAndMoments(m.Columns(consortium.case.features, (), "error"))
    answers = consortium.post(RUN).ask(Question(1, SITES[:2], request))
    assert len(answers) == 2
    for answer in answers.values():
        assert "the two sides hold different agreements" in answer.reply.reason


def test_an_agreement_in_which_a_sites_own_key_was_replaced_is_refused_by_that_site(wire, consortium):
    folder, own = consortium.folder, consortium.folder.agreement().members["site-0"]
    stolen = keys.public_text(keys.new_key().public_key())
    put(folder, replace_members(text(folder), {**folder.agreement().members, "site-0": stolen}))
    wire.operator = dataclasses.replace(Operator.of(folder, RUN), public_keys=wire.operator.public_keys)
    said = wire.said(wire.site.answer(wire.letter()))
    assert "names another key for it than its own" in said
    assert fingerprint(stolen) in said
    assert fingerprint(own) in said


def test_an_agreement_that_leaves_a_site_out_is_refused_by_that_site(wire, consortium):
    folder = consortium.folder
    others = {name: key for name, key in folder.agreement().members.items() if name != "site-0"}
    put(folder, replace_members(text(folder), others))
    wire.operator = dataclasses.replace(Operator.of(folder, RUN), public_keys=wire.operator.public_keys)
    assert "has no key for it" in wire.said(wire.site.answer(wire.letter(cohort=SITES[1:])))


def test_another_operator_than_the_agreements_is_refused(wire, consortium):
    other = keys.new_key()
    keys.write_public_key(other.public_key(), consortium.folder.site("site-0").path / "operator.pub")
    wire.operator.key = other
    assert "names another operator's key than operator.pub" in wire.said(wire.site.answer(wire.letter()))


def test_after_a_renewal_the_others_refuse_until_they_have_the_new_agreement_and_joined_again(consortium):
    """All get it by `pack`; consent to the old one is none to the new."""
    folder, old = consortium.folder, text(consortium.folder)
    renew_site(folder, "site-2")
    new = text(folder)
    (folder.site("site-0").path / AGREEMENT).write_text(old, encoding="utf-8")
    run = consortium.lead()
    assert run.result() is None
    reasons = {event["site"]: event["reason"] for event in run.events() if event["event"] == "refused"}
    assert "the two sides hold different agreements" in reasons["site-0"]
    assert reasons["site-1"] == "its agreement changed since it consented. It must join again."
    (folder.site("site-0").path / AGREEMENT).write_text(new, encoding="utf-8")
    for name, rows in consortium.case.clients.items():
        folder.site(name).write_rows(consortium.case.features, rows)
    assert consortium.lead().result()["dropped"] == {}


def test_the_server_takes_notice_of_a_sites_wrong_clock_and_still_counts_its_reply(wire):
    envelope = unseal(wire.site.answer(wire.letter()), wire.operator.public_keys)
    assert clock_difference(envelope) == 0
    assert clock_difference(dataclasses.replace(envelope, time=envelope.time + 500)) > 400
    assert clock_difference(dataclasses.replace(envelope, time=envelope.time - 500)) < -400
