"""Sites that are lost, restarted, asked again and lied to in any order: the exact sum of those that remain, or none.

One step of the protocol is one rule: for every site it is drawn whether request or reply is lost, whether the site's
process dies before or after it answered, and whether what it says is changed on its way. Numbers themselves are not
changed: a site that lies about them takes part with other numbers.
"""

import numpy as np
import pytest
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy.testing import assert_array_equal

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.messages.secure_sum import AskUnmasking, Masked
from fedsieve.transport.codec import encode
from secure_federation import HISTOGRAMS, SecureFederation, changed, tables

SUMS = (HISTOGRAMS, m.AskCovariances(HISTOGRAMS.columns, m.Scaling(np.full(3, -2.0), np.full(3, 2.0), "robust")))
ODD = ("request lost", "reply lost", "dies before", "dies after", "changed", "asked twice")
FATES = st.integers(0, 99).map(lambda drawn: dict(enumerate(ODD, start=60)).get(drawn, "answers"))


class SecureSums(RuleBasedStateMachine):
    """A server that follows the protocol, and sites with a fate drawn for each message."""

    @initialize(n_sites=st.integers(3, 10), seed=st.integers(0, 100))
    def join(self, n_sites, seed):
        self.federation = SecureFederation(tables(n_sites, seed))
        self.steps = self.federation.steps(*SUMS)
        self.question, self.refusal, self.total = next(self.steps), None, None
        self.arrived = {}  # sum -> the sites whose numbers came
        self.revealed = {}  # (site, sum) -> what it told of each secret
        self.history = []  # (site, request, the bytes it said)

    @precondition(lambda self: self.question is not None)
    @rule(data=st.data())
    def step(self, data):
        replies = {}
        for name in self.question.clients:
            reply = self.reply(name, data.draw(FATES, label=name), data)
            if reply is not None:
                replies[name] = reply
        if self.question.request.reply is Masked:
            number = self.question.request.number
            self.arrived[number] = {name for name, reply in replies.items() if isinstance(reply, Masked)}
        try:
            self.question = self.steps.send(replies)
        except StopIteration as finished:
            self.question, self.total = None, finished.value
            event(f"a total, {len(self.federation.cohort.dropped)} sites lost")
        except ProtocolError as refusal:
            self.question, self.refusal = None, refusal
            event("a refusal")

    def reply(self, name, fate, data):
        request, federation = self.question.request_to(name), self.federation
        if fate == "request lost":
            return None
        if fate == "dies before":
            federation.restart(name)
        reply = self.asked(name, request)
        if fate == "dies after":
            federation.restart(name)
        if fate == "asked twice":
            again = self.asked(name, request)
            assert encode(again) == encode(reply)
        if fate == "reply lost":
            return None
        if fate == "changed" and not isinstance(reply, Masked | m.Refusal):
            return one_bit_changed(reply, data)
        return reply

    def asked(self, name, request):
        reply = self.federation.ask(name, request)
        self.history.append((name, request, encode(reply)))
        if isinstance(request, AskUnmasking) and not isinstance(reply, m.Refusal):
            told = request.survivors, reply.seeds.tobytes(), reply.keys.tobytes()
            assert self.revealed.setdefault((name, request.number), told) == told
        return reply

    @rule(data=st.data())
    def replay(self, data):
        """An old request again: the same bytes as before, or a refusal once its sum is over."""
        if not self.history:
            return
        name, request, said = data.draw(st.sampled_from(self.history))
        again = self.federation.ask(name, request)
        assert isinstance(again, m.Refusal) or encode(again) == said

    @invariant()
    def never_a_wrong_sum(self):
        federation = getattr(self, "federation", None)
        if federation is None:
            return
        cells = federation.cohort._cells
        if cells is not None:
            assert_array_equal(cells.others, federation.plain(m.AskCells(HISTOGRAMS.columns), self.arrived[0]).others)
        if self.total is None:
            return
        plain = federation.plain(SUMS[1], self.arrived[2])
        assert self.total.n_rows == plain.n_rows
        assert np.allclose(self.total.upper, plain.upper, rtol=0, atol=1e-9)
        assert np.allclose(self.total.sums, plain.sums, rtol=0, atol=1e-9)

    @invariant()
    def a_refusal_says_why(self):
        refusal = getattr(self, "refusal", None)
        assert refusal is None or any(
            words in str(refusal)
            for words in ("sites are left; a secure sum takes", "give the secret that it announced", "broke a rule")
        )


def one_bit_changed(reply, data):
    field = data.draw(st.sampled_from([name for name, value in vars(reply).items() if value.size]))
    value = getattr(reply, field).copy()
    place = data.draw(st.integers(0, value.size - 1))
    value.reshape(-1)[place] ^= np.uint8(1 << data.draw(st.integers(0, 7)))
    return changed(reply, **{field: value})


SecureSums.TestCase.settings = settings(max_examples=8, stateful_step_count=30, deadline=None)
TestSecureSums = SecureSums.TestCase


@pytest.mark.full
class TestManySecureSums(SecureSums.TestCase):
    settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
