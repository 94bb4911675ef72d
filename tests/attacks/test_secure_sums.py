"""A server that does not follow the protocol of secure sums: each way is refused by name."""

import numpy as np
import pytest

from fedsieve import messages as m
from fedsieve.messages.secure_sum import AskKeys, AskMasked, AskSignature, AskUnmasking
from fedsieve.methods import SieveMethod
from fedsieve.privacy import LIBRARY
from fedsieve.privacy.secure_sum.signatures import new_key
from fedsieve.privacy.secure_sum.statements import Run
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.site_state import TransientState
from policies import LENIENT
from secure_federation import COLUMNS, FEATURES, HISTOGRAMS, LABELED, SecureFederation, changed, tables

KEYS, SHARES, MASKED, SIGNATURES, UNMASKING = range(5)
ALL = tuple(f"site-{i:02d}" for i in range(5))
VICTIM = "site-00"


def federation(n_sites=5, **how):
    return SecureFederation(tables(n_sites), **how)


def stopped_at(step, **how):
    """A federation in which the server is about to ask for a step, and the requests that an honest one would send."""
    ours = federation(**how)
    steps = ours.steps(HISTOGRAMS)
    question = next(steps)
    for _ in range(step):
        question = steps.send(ours.answer(question))
    return ours, question


def refused(ours, name, request):
    reply = ours.ask(name, request)
    assert isinstance(reply, m.Refusal), reply
    return reply.reason


# What a site asks for alone, or with others than agreed.


def test_a_request_by_itself_is_not_answered():
    reason = refused(federation(), VICTIM, HISTOGRAMS)
    assert reason == "was asked AskHistograms by itself; agreed: totals only, by secure sums."


def test_a_secure_sum_is_not_answered_in_a_plain_run():
    site = Endpoint.of_table(tables(3)[VICTIM], SieveMethod(FEATURES), LIBRARY, Bare("run", ALL), TransientState())
    ours = federation()
    ours.endpoints[VICTIM] = site
    assert "which was not agreed on" in refused(ours, VICTIM, AskKeys(ALL, 4))


@pytest.mark.parametrize(
    ("cohort", "reason"),
    [
        (ALL[:2], "other sites than those of the run"),
        ((*ALL, "stranger"), "other sites than those of the run"),
        ((*ALL, ALL[0]), "other sites than those of the run"),
    ],
)
def test_keys_are_made_for_the_run_s_cohort_only(cohort, reason):
    assert reason in refused(federation(), VICTIM, AskKeys(cohort, 4))


def test_a_cohort_of_two_is_refused():
    assert refused(federation(2), VICTIM, AskKeys(ALL[:2], 4)) == "was asked for a secure sum of 2 sites; it takes 3."


def test_a_cohort_with_a_member_that_the_site_does_not_know_is_refused():
    ours = federation()
    del ours.members["site-03"]
    assert "sum up with 'site-03', no members it knows" in refused(ours, VICTIM, AskKeys(ALL, 4))


def test_as_many_keys_as_the_method_makes_sums():
    assert "keys of 40 sums; the method makes 4" in refused(federation(), VICTIM, AskKeys(ALL, 40))


# Keys and shares.


def test_a_key_that_its_site_did_not_sign_is_refused():
    """The server in the middle: its own key in the place of another's."""
    ours, question = stopped_at(SHARES)
    forged = question.request.masks.copy()
    forged[2, 0, 0] ^= 1
    reason = "was sent keys that 'site-02' did not sign for this run, cohort and agreement. Do both hold the same one?"
    assert refused(ours, VICTIM, changed(question.request, masks=forged)).startswith(reason)
    boxes = question.request.boxes.copy()
    boxes[2] = boxes[1]
    assert refused(ours, VICTIM, changed(question.request, boxes=boxes)).startswith(reason)


def test_keys_signed_by_a_foreign_key_are_refused():
    ours, question = stopped_at(SHARES)
    ours.members["site-02"] = new_key().public_key()
    assert "keys that 'site-02' did not sign" in refused(ours, VICTIM, question.request)


def test_keys_of_another_run_are_refused():
    ours, question = stopped_at(SHARES)
    ours.wrapping.run = "another"
    own = ours.ask(VICTIM, AskKeys(ALL, 4))
    boxes, masks, signatures = (
        array.copy() for array in (question.request.boxes, question.request.masks, question.request.signatures)
    )
    boxes[0], masks[0], signatures[0] = own.box, own.masks, own.signature
    request = changed(question.request, boxes=boxes, masks=masks, signatures=signatures)
    assert "keys that 'site-01' did not sign for this run" in refused(ours, VICTIM, request)


def test_a_site_shares_only_the_keys_that_it_still_has():
    """Its vault was lost and it made new ones; the server sends the old, which it signed as well."""
    ours, question = stopped_at(SHARES)
    ours.states[VICTIM].vault("run").kept.clear()
    ours.ask(VICTIM, AskKeys(ALL, 4))
    reason = "was sent other keys as its own than those it made."
    assert refused(ours, VICTIM, question.request) == reason


@pytest.mark.parametrize(
    ("keep", "reason"),
    [
        ([0, 1, 2], "was asked for shares of its keys with 3 of 5 sites; it takes 4."),
        ([1, 2, 3, 4], "was asked for shares of its keys where it is said to be lost itself."),
        (
            [0, 1, 2, 3, 3],
            "was asked for shares of its keys with sites listed twice, out of order, or of no part in it.",
        ),
        (
            [1, 0, 2, 3, 4],
            "was asked for shares of its keys with sites listed twice, out of order, or of no part in it.",
        ),
    ],
)
def test_shares_are_made_for_enough_sites_each_once(keep, reason):
    ours, question = stopped_at(SHARES)
    parts = {part: getattr(question.request, part)[keep] for part in ("boxes", "masks", "signatures")}
    request = changed(question.request, sites=tuple(ALL[i] for i in keep), **parts)
    assert refused(ours, VICTIM, request) == reason


@pytest.mark.parametrize("how", ["changed", "swapped", "of another receiver"])
def test_a_box_is_of_its_sender_for_its_receiver(how):
    """From any other nothing is taken: the site has no share of that sender to give, and is not lost for it."""
    ours, question = stopped_at(MASKED)
    request = question.request_to(VICTIM)
    boxes = request.boxes.copy()
    if how == "changed":
        boxes[2, 20] ^= 1
    elif how == "swapped":
        boxes[[2, 3]] = boxes[[3, 2]]
    else:
        boxes[2] = question.request_to("site-01").boxes[2]
    assert isinstance(ours.ask(VICTIM, changed(request, boxes=boxes)), m.Masked)
    held = np.frombuffer(ours.states[VICTIM].vault("run").recall("shares 0"), dtype=np.uint8).reshape(5, 2, -1)
    assert [bool(np.all(shares == 255)) for shares in held] == [False, False, True, how == "swapped", False]


# One sum, one request, one list of survivors, one unmasking.


def test_a_second_request_for_the_same_sum_is_refused_and_the_same_gets_the_same_bytes():
    ours, question = stopped_at(MASKED)
    request = question.request_to(VICTIM)
    first = ours.endpoints[VICTIM].answer(encode(request))
    assert ours.endpoints[VICTIM].answer(encode(request)) == first
    reason = "was asked for masked numbers of sum 0 twice, and not the same: it answers the first alone."
    other = np.frombuffer(encode(m.AskCells(COLUMNS.only("ab"))), dtype=np.uint8)
    assert refused(ours, VICTIM, changed(request, request=other)) == reason
    assert refused(ours, VICTIM, changed(request, sites=ALL[:4], boxes=request.boxes[:4])) == reason
    assert refused(ours, VICTIM, changed(request, boxes=None)) == reason


def test_masked_numbers_are_of_enough_sites_that_shared():
    ours, question = stopped_at(MASKED)
    request = question.request_to(VICTIM)
    few = changed(request, sites=ALL[:3], boxes=request.boxes[:3])
    assert refused(ours, VICTIM, few) == "was asked for its numbers with 3 of 5 sites; it takes 4."


def test_who_shared_secrets_stays_the_same_in_a_run():
    ours, question = stopped_at(MASKED + 3)  # of the second sum
    assert question.request.number == 1
    reason = "was told another story than before: the sites that share secrets changed."
    assert refused(ours, VICTIM, changed(question.request, sites=ALL[:4])) == reason


@pytest.mark.parametrize(
    ("survivors", "reason"),
    [
        (ALL[:3], "was asked for a signature with 3 of 5 sites; it takes 4."),
        (ALL[1:], "was asked for a signature where it is said to be lost itself."),
        (
            (*ALL[:4], "stranger"),
            "was asked for a signature with sites listed twice, out of order, or of no part in it.",
        ),
    ],
)
def test_a_signature_is_given_under_a_list_of_enough_survivors(survivors, reason):
    ours, _ = stopped_at(SIGNATURES)
    assert refused(ours, VICTIM, AskSignature(0, survivors)) == reason


def test_one_signature_per_sum():
    ours, question = stopped_at(SIGNATURES)
    ours.ask(VICTIM, question.request)
    reason = "was asked for signature of sum 0 twice, and not the same: it answers the first alone."
    assert refused(ours, VICTIM, AskSignature(0, ALL[:4])) == reason


def test_totals_of_one_thing_are_of_the_same_sites():
    """Projections over all and covariances over all but one would give the means and spreads of that one."""
    ours = federation(screen=2, n_features_to_select=1)
    two, scaling = COLUMNS.only("ab"), m.Scaling(np.full(3, -2.0), np.full(3, 2.0), "robust")
    projections = m.AskProjections(COLUMNS, scaling, np.eye(3)[:, :1])
    steps = ours.steps(HISTOGRAMS, projections, m.AskCovariances(two, scaling.only([0, 1])))
    question = next(steps)
    while not (isinstance(question.request, AskSignature) and question.request.number == 3):
        question = steps.send(ours.answer(question))
    reason = "was told another story than before: the sites whose second moments are added up changed."
    assert refused(ours, VICTIM, AskSignature(3, ALL[:4])) == reason
    assert isinstance(ours.ask(VICTIM, question.request), m.Signature)


def test_numbers_of_unlike_scales_cannot_be_added_up():
    """A victim told of few rows scales its numbers up, the others, told of many, down: the total would be the victim's.

    The masks are bound to what was told, so that they do not cancel, and no site unmasks: it sees no signatures.
    """
    ours, question = stopped_at(MASKED + 3)
    cells = question.request.cells
    many = ours.method.max_rows * len(ALL)
    told = {name: cells if name == VICTIM else changed(cells, n_rows=many) for name in ALL}
    sent = {name: ours.ask(name, changed(question.request, cells=told[name])) for name in ALL}
    assert all(isinstance(reply, m.Masked) for reply in sent.values())
    signatures = np.stack([ours.ask(name, AskSignature(1, ALL)).signature for name in ALL])
    for name in ALL:
        request = AskUnmasking(1, ALL, ALL, signatures)
        assert "under the list of survivors it was told" in refused(ours, name, request)
    # Without the others' signatures it takes four who were told the same.
    alike = ALL[1:]
    assert isinstance(ours.ask("site-01", AskUnmasking(1, ALL, alike, signatures[1:])), m.Unmasking)
    assert "it takes 4" in refused(ours, VICTIM, AskUnmasking(1, ALL, ALL[:1], signatures[:1]))


def test_masks_are_bound_to_what_scales_the_numbers():
    run = Run("run", "agreed", ALL)
    assert run.sum(1, b"request", "", list(ALL)) != run.sum(1, b"request", "cells", list(ALL))
    ours, question = stopped_at(MASKED + 3)
    one = ours.ask(VICTIM, question.request).values
    ours.states[VICTIM].vault("run").kept.pop("answer, masked numbers of sum 1")
    ours.states[VICTIM].vault("run").kept.pop("cells")
    cells = changed(question.request.cells, n_rows=question.request.cells.n_rows + 1)
    other = ours.ask(VICTIM, changed(question.request, cells=cells)).values
    assert np.all(one != other)  # counts themselves would be the same


def test_both_lists():
    """The server tells some that 'site-04' is lost, to get its key, and others that it is not, to get its seed."""
    ours, question = stopped_at(SIGNATURES)
    alive, dead = ALL, ALL[:4]
    signed = {name: ours.ask(name, AskSignature(0, dead if name in ALL[:2] else alive)) for name in ALL}
    signatures = np.stack([signed[name].signature for name in ALL])
    for name, told in ((VICTIM, dead), ("site-03", alive)):
        request = AskUnmasking(0, told, ALL[:4], signatures[:4])
        assert "was shown no signature of" in refused(ours, name, request)
    assert question.request.number == 0


def test_a_site_unmasks_only_what_it_signed_for():
    ours, question = stopped_at(UNMASKING)
    other = changed(question.request, survivors=ALL[:4], signers=ALL[:4], signatures=question.request.signatures[:4])
    assert "over other sites than those it signed for" in refused(ours, VICTIM, other)


@pytest.mark.parametrize(
    ("keep", "reason"),
    [
        ([0, 1, 2], "with 3 of 5 sites; it takes 4."),
        ([0, 1, 1, 2, 3], "with sites listed twice"),
    ],
)
def test_enough_sites_must_have_signed(keep, reason):
    ours, question = stopped_at(UNMASKING)
    signers = tuple(question.request.signers[i] for i in keep)
    request = changed(question.request, signers=signers, signatures=question.request.signatures[keep])
    assert reason in refused(ours, VICTIM, request)


def test_a_wrong_signature_is_refused():
    ours, question = stopped_at(UNMASKING)
    signatures = question.request.signatures.copy()
    signatures[[2, 3]] = signatures[[3, 2]]
    reason = "was shown no signature of 'site-02' under the list of survivors it was told."
    assert refused(ours, VICTIM, changed(question.request, signatures=signatures)) == reason
    assert "signatures that do not fit" in refused(ours, VICTIM, changed(question.request, signatures=signatures[:4]))


def test_signatures_of_another_sum_are_refused():
    ours, question = stopped_at(UNMASKING + 3)
    old = ours.asked[UNMASKING][VICTIM].signatures
    assert "was shown no signature of 'site-00'" in refused(ours, VICTIM, changed(question.request, signatures=old))


def test_one_unmasking_per_sum_and_never_both_shares_of_a_site():
    ours, question = stopped_at(UNMASKING)
    first = ours.ask(VICTIM, question.request)
    assert (len(first.seeds), len(first.keys)) == (5, 0)
    again = ours.ask(VICTIM, question.request)
    assert first.seeds.tolist() == again.seeds.tolist()
    fewer = changed(question.request, signers=ALL[:4], signatures=question.request.signatures[:4])
    assert "shares of sum 0 twice, and not the same" in refused(ours, VICTIM, fewer)


def test_after_unmasking_the_secrets_of_a_sum_are_gone():
    ours, question = stopped_at(MASKED + 3)
    kept = ours.states[VICTIM].vault("run").kept
    assert not {name for name in kept if name in ("secrets 0", "shares 0", "box", "own shares")}
    assert {"secrets 1", "shares 1"} <= set(kept)
    old = ours.asked[MASKED][VICTIM]
    assert "was asked for a step of a secure sum before" in refused(ours, VICTIM, old)  # its boxes are open
    reason = "has no secrets of sum 0: it is over, or was never prepared."
    assert refused(ours, VICTIM, changed(old, boxes=None)) == reason
    assert refused(ours, VICTIM, changed(question.request, number=99)) == reason.replace("sum 0", "sum 99")


@pytest.mark.parametrize("step", [SHARES, MASKED, SIGNATURES, UNMASKING])
def test_no_step_without_the_one_before(step):
    _, question = stopped_at(step)
    fresh = federation()
    reason = refused(fresh, VICTIM, question.request_to(VICTIM))
    assert "before it was asked for" in reason or "did not sign" in reason


# What is asked within a sum.


def test_within_a_sum_a_site_answers_what_was_agreed_on_only():
    ours, question = stopped_at(MASKED + 3)
    relation = m.AskRanges(COLUMNS)
    request = changed(question.request, request=np.frombuffer(encode(relation), dtype=np.uint8))
    assert "was asked AskRanges, which was not agreed on" in refused(ours, VICTIM, request)
    nested = changed(question.request, request=np.frombuffer(encode(AskSignature(0, ALL)), dtype=np.uint8))
    assert "no request for a sum" in refused(ours, VICTIM, nested)
    garbage = changed(question.request, request=np.arange(50, dtype=np.uint8))
    assert "no message of version" in refused(ours, VICTIM, garbage)


def test_the_first_sum_is_that_of_cells_and_no_other():
    ours, question = stopped_at(MASKED)
    request = changed(question.request_to(VICTIM), request=np.frombuffer(encode(HISTOGRAMS), dtype=np.uint8))
    assert "the first sum of a run, at another time" in refused(ours, VICTIM, request)
    ours, question = stopped_at(MASKED + 3)
    cells = np.frombuffer(encode(m.AskCells(COLUMNS)), dtype=np.uint8)
    assert "at another time" in refused(ours, VICTIM, changed(question.request, request=cells))


def test_cells_of_all_hold_those_of_the_site_and_do_not_change():
    _, question = stopped_at(MASKED + 3)
    cells = question.request.cells
    for lie in (
        changed(cells, n_rows=3),
        changed(cells, others=cells.others * 0),
        changed(cells, others=cells.others + 10**6),
        changed(cells, missing=cells.missing - 1),
        changed(cells, others=cells.others[:2]),
        changed(cells, features=("a", "c", "b")),
    ):
        ours, question = stopped_at(MASKED + 3, policy=LENIENT)
        said = refused(ours, VICTIM, changed(question.request, cells=lie))
        assert "cells of all sites that do not hold its own" in said
        assert "answers no more" in refused(ours, VICTIM, question.request)  # or it would be asked until it is told
    ours, question = stopped_at(MASKED + 3)
    most = ours.method.max_rows * len(ours.names)
    said = refused(ours, VICTIM, changed(question.request, cells=changed(cells, n_rows=most + 1)))
    assert "cells that no 5 sites have together" in said
    assert "before it was told the cells of all sites" in refused(ours, VICTIM, changed(question.request, cells=None))
    assert isinstance(ours.ask(VICTIM, question.request), m.Masked)
    ours, question = stopped_at(MASKED + 3)
    ours.ask(VICTIM, question.request)
    more = changed(question.request, number=2, cells=changed(cells, n_rows=cells.n_rows + 1))
    assert "told another story than before: the cells" in refused(ours, VICTIM, more)


def test_who_was_asked_for_masked_numbers_is_a_site_of_the_cohort():
    ours = federation()
    ours.names, ours.wrapping.cohort = ALL[1:], ALL[1:]
    assert "sum up with 'others'" not in refused(ours, VICTIM, AskMasked(0, np.zeros(1, dtype=np.uint8), ALL))
    assert "no members it knows" in refused(ours, VICTIM, AskKeys(ALL[1:], 4))


# A site that is lost between two sums.


def test_what_is_told_of_a_site_lost_after_the_ranges():
    """Its number of rows, and of a column with two values how many rows have each; not how columns go together.

    `docs/privacy.md` says so: only sums that tell of one thing are of the same sites.
    """
    rng, lost = np.random.default_rng(0), "site-04"
    rows = {name: ArrayTable(FEATURES, rng.integers(0, 2, (20, 3)).astype(float)) for name in ALL}
    ours, bins = SecureFederation(rows), m.Bins.of([np.array([-0.5, 0.5, 1.5])] * 3)
    ours.lost = lambda step, name, _: name == lost and step >= MASKED + 6

    def steps():
        yield from ours.cohort.begin(ours.method, LABELED)
        histograms = yield from ours.cohort.total(m.AskHistograms(COLUMNS, bins))
        scaling = m.Scaling.robust(bins, histograms.counts)
        return histograms, scaling, (yield from ours.cohort.total(m.AskCovariances(COLUMNS, scaling)))

    histograms, scaling, total = ours.finish(steps())
    assert ours.cohort.dropped == {lost: "did not answer."}
    ones = np.array([part[2] for part in bins.split(histograms.counts)])
    ones_left = total.sums * (scaling.high - scaling.low) + total.n_rows * (scaling.low + scaling.high) / 2
    assert histograms.n_rows - total.n_rows == 20
    assert np.allclose(ones - ones_left, rows[lost].whole(FEATURES).sum(axis=0))
