"""Sites that do not follow the protocol of secure sums: left out and named where it can be told, never a wrong sum.

One of them alone does not end a run, unless its own secrets cannot be rebuilt: then it is named.
"""

import numpy as np
import pytest

from fedsieve.errors import ProtocolError
from fedsieve.privacy.secure_sum.signatures import sign
from fedsieve.privacy.secure_sum.statements import Run
from fedsieve.transport.secure_answers import method_digest
from secure_federation import HISTOGRAMS, SecureFederation, changed, tables

KEYS, SHARES, MASKED, SIGNATURES, UNMASKING = range(5)
ALL = tuple(f"site-{i:02d}" for i in range(5))
LIAR = "site-03"


def lying(step, change, n_sites=5, liars=(LIAR,)):
    """A federation in which some sites' replies of a step are changed."""
    ours = SecureFederation(tables(n_sites))
    ours.change = lambda at, name, reply: change(reply) if at == step and name in liars else reply
    return ours


def total_is_of(ours, names):
    return ours.total(HISTOGRAMS).counts.tolist() == ours.plain(HISTOGRAMS, names).counts.tolist()


def others(*gone):
    return [name for name in ALL if name not in gone]


def one_bit(part, place):
    """A reply with another share of one site."""

    def change(reply):
        shares = getattr(reply, part).copy()
        shares[place, -1] ^= 1
        return changed(reply, **{part: shares})

    return change


def noise(reply):
    """A reply with shares that are none, or of nothing."""
    rng = np.random.default_rng(0)
    parts = {part: rng.integers(0, 256, getattr(reply, part).shape).astype(np.uint8) for part in ("seeds", "keys")}
    for shares in parts.values():
        shares[:, 0] = 0  # within the field
    return changed(reply, **parts)


# Keys and signatures.


def backwards(reply):
    return changed(reply, signature=reply.signature[::-1].copy())


def test_a_site_that_signs_with_a_foreign_key_is_left_out():
    ours = lying(KEYS, backwards)
    assert total_is_of(ours, others(LIAR))
    assert ours.cohort.dropped == {LIAR: "sent keys that it did not sign for this run, cohort and agreement."}


def test_a_site_that_signs_another_list_is_left_out_of_the_shares():
    ours = lying(SIGNATURES, backwards)
    ours.total(HISTOGRAMS)
    assert ours.cohort.dropped == {LIAR: "did not sign the list of survivors."}
    assert ours.cohort._cells.n_rows == sum(table.n_rows for table in ours.tables.values())


def of_low_order(ours, which):
    """A change of keys: one that shares no secret with anybody, signed as it must be."""

    def change(reply):
        box, masks = reply.box.copy(), reply.masks.copy()
        if which == "box":
            box[:] = 0
        else:
            masks[1, :32] = 0
        told = Run("run", method_digest(ours.method), ours.names).signed_keys(LIAR, box.tobytes(), masks.tobytes())
        signature = np.frombuffer(sign(ours.sums[LIAR]._identity.key, told), dtype=np.uint8)
        return changed(reply, box=box, masks=masks, signature=signature)

    return change


@pytest.mark.parametrize("which", ["box", "masks"])
def test_a_site_with_a_key_of_low_order_is_left_out_and_nobody_else(which):
    ours = SecureFederation(tables(5))
    change = of_low_order(ours, which)
    ours.change = lambda at, name, reply: change(reply) if (at, name) == (KEYS, LIAR) else reply
    assert total_is_of(ours, others(LIAR))
    assert ours.cohort.dropped == {LIAR: "sent a key that gives no secret (of low order)."}


def test_a_site_refuses_another_s_key_of_low_order_by_name(monkeypatch):
    """Where the server does not look."""
    ours = SecureFederation(tables(5))
    change = of_low_order(ours, "masks")
    ours.change = lambda at, name, reply: change(reply) if (at, name) == (KEYS, LIAR) else reply
    monkeypatch.setattr(type(ours.cohort), "_why_no_keys", lambda *_: "")
    with pytest.raises(ProtocolError, match=rf"was sent a key of '{LIAR}' that gives no secret \(of low order\)"):
        ours.total(HISTOGRAMS)


# Boxes and shares.


@pytest.mark.parametrize("n_bad", [1, 2, 5])
def test_a_site_that_makes_bad_boxes_costs_nobody_else_its_place(n_bad):
    """Of its secrets so many hold no share; with too few left that do, the run ends, and it is named."""

    def change(reply):
        boxes = reply.boxes.copy()
        boxes[:n_bad, 20] ^= 1
        return changed(reply, boxes=boxes)

    ours = lying(SHARES, change)
    if n_bad == 1:
        assert total_is_of(ours, ALL)
        assert ours.cohort.dropped == {}
    else:
        with pytest.raises(ProtocolError, match=f"shares of '{LIAR}' no 4 give the secret that it announced"):
            ours.total(HISTOGRAMS)


@pytest.mark.parametrize("step", [UNMASKING, UNMASKING + 3])
def test_a_site_that_sends_nonsense_for_shares_is_named_and_ends_nothing(step):
    ours = lying(step, noise)
    assert total_is_of(ours, others(LIAR) if step == UNMASKING else ALL)
    them = ", ".join(repr(name) for name in others(LIAR))
    assert ours.cohort.dropped == {LIAR: f"sent or made shares that do not fit those of {them}."}


def test_of_one_wrong_share_alone_nobody_can_tell_whose_fault_it_is():
    """Its holder may have changed it, or its owner have made it so; the total is right, and both stay."""
    ours = lying(UNMASKING, one_bit("seeds", 1))
    assert total_is_of(ours, ALL)
    assert ours.cohort.dropped == {}
    assert ours.cohort._disputes == {(LIAR, "site-01")}


def test_a_wrong_share_of_a_lost_site_s_key_is_not_used():
    ours = lying(UNMASKING, one_bit("keys", 0), n_sites=6)
    ours.lost = lambda step, name, _: name == "site-05" and step >= MASKED
    names = [name for name in ours.names if name != "site-05"]
    with pytest.raises(ProtocolError, match=r"of 5 shares of 'site-05' no 5 give the secret that it announced"):
        total_is_of(ours, names)  # of six it takes five
    ours = lying(UNMASKING, one_bit("keys", 0), n_sites=10)
    ours.lost = lambda step, name, _: name == "site-05" and step >= MASKED
    assert total_is_of(ours, [name for name in ours.names if name != "site-05"])
    assert ours.cohort.dropped == {"site-05": "did not answer."}


def test_three_liars_of_ten_leave_the_total_right():
    """As many as a sum can do without."""
    liars = ("site-00", "site-04", "site-09")
    ours = lying(UNMASKING, noise, 10, liars)
    ours.total()
    assert ours.cohort._cells.n_rows == sum(table.n_rows for table in ours.tables.values())
    assert ours.cohort.dropped == {}  # with so many, another polynomial could be meant


def test_a_site_that_shared_another_secret_than_it_announced_is_named():
    """Its numbers are in the total, so that there is none without it."""
    ours = SecureFederation(tables(5))

    def change(at, name, reply):
        if at == KEYS and name == LIAR:
            vault = ours.states[LIAR].vault("run")
            vault.keep("secrets 0", bytes(32) + vault.recall("secrets 0")[32:][::-1])
        return reply

    ours.change = change
    with pytest.raises(ProtocolError, match=rf"of 5 shares of '{LIAR}' no 4 give.*Start a new run; leave it"):
        ours.total(HISTOGRAMS)


def test_numbers_of_another_length_are_left_out():
    ours = lying(MASKED, lambda reply: changed(reply, values=reply.values[:-1]))
    ours.total(HISTOGRAMS)
    assert ours.cohort.dropped == {LIAR: "sent 6 masked numbers; the sum has 7."}
