"""Sites that take part in secure sums within a test, which may lose or restart any of them and change what is said."""

from dataclasses import replace

import numpy as np

from fedsieve import messages as m
from fedsieve.methods import SieveMethod
from fedsieve.privacy import LIBRARY
from fedsieve.privacy.secure_sum.cohort import SecureCohort
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.secure_answers import SecureAnswers, method_digest, secure_members
from fedsieve.transport.site_state import TransientState

FEATURES = ("a", "b", "c")
COLUMNS = m.Columns(FEATURES, (), "mean")
BINS = m.Bins.of([np.linspace(-2, 2, 5)] * len(FEATURES))
HISTOGRAMS = m.AskHistograms(COLUMNS, BINS)
LABELED = Labeled(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]), np.eye(3)[:, :2])


def tables(n_sites, seed=0):
    """Rows of unlike sizes; no two sites have the same."""
    rng = np.random.default_rng(seed)
    return {f"site-{i:02d}": ArrayTable(FEATURES, rng.normal(size=(4 + i, 3))) for i in range(n_sites)}


class SecureFederation:
    """`lost` is asked for every message, (step, name, "request" or "reply"); `change` may change a reply."""

    def __init__(self, sites, policy=LIBRARY, **parameters):
        self.tables = sites
        self.names = tuple(sorted(sites))
        parameters = {"features": FEATURES, "ranges": "robust", "on_bad_client": "drop", **parameters}
        self.method = SieveMethod(secure=True, **parameters)
        self.policy, self.wrapping = policy, Bare("run", self.names)
        self.states = {name: TransientState() for name in self.names}
        self.members, self.sums = secure_members(self.method, self.states)
        self.endpoints = {name: self.endpoint(name) for name in self.names}
        self.cohort = SecureCohort(self.method, self.names, "run", method_digest(self.method), self.members, encode)
        self.lost, self.change = lambda *_: False, lambda _step, _name, reply: reply
        self.asked, self.said = [], []  # (step, name, request) and (step, name, reply), as they were

    def endpoint(self, name):
        return Endpoint.of_table(
            self.tables[name], self.method, self.policy, self.wrapping, self.states[name], self.sums[name]
        )

    def restart(self, name):
        """A new process of a site, which knows what lies in its vault and its story, and nothing else."""
        old, new = self.states[name], TransientState()
        new.vault("run").kept.update({key: bytes(value) for key, value in old.vault("run").kept.items()})
        new.keep_story("run", old.story("run"))
        self.states[name] = new
        self.sums[name] = SecureAnswers(self.sums[name]._identity, new)
        self.endpoints[name] = self.endpoint(name)

    def ask(self, name, request):
        """A site's reply to a request that the test made."""
        return decode(self.endpoints[name].answer(encode(request)))

    def answer(self, question):
        """The replies that come back."""
        step, replies = len(self.asked), {}
        self.asked.append({name: question.request_to(name) for name in question.clients})
        self.said.append({})
        for name in question.clients:
            if self.lost(step, name, "request"):
                continue
            reply = self.ask(name, question.request_to(name))
            self.said[-1][name] = reply
            if not self.lost(step, name, "reply"):
                replies[name] = self.change(step, name, reply)
        return replies

    def finish(self, steps):
        """Drive a generator of questions to its end."""
        try:
            question = next(steps)
            while True:
                question = steps.send(self.answer(question))
        except StopIteration as finished:
            return finished.value

    def total(self, *requests):
        """Keys, shares, cells, and a sum for each of the requests: the last total."""
        return self.finish(self.steps(*requests))

    def steps(self, *requests):
        yield from self.cohort.begin(self.method, LABELED)
        total = self.cohort._cells
        for request in requests:
            total = yield from self.cohort.total(request)
        return total

    def plain(self, request, names=None):
        """The sum of these sites' replies, added up in the open."""
        first, *others = (
            request.answer(self.tables[name]) for name in (self.names if names is None else sorted(names))
        )
        return sum(others, first)


def histograms_total(federation):
    """The scaling that a run's histograms give, for requests after them."""
    return m.Scaling.robust(BINS, federation.plain(HISTOGRAMS).counts)


def changed(message, **fields):
    """The same message with other fields."""
    return replace(message, **fields)
