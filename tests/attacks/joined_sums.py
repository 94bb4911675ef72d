"""Sites that joined and take part in secure sums, and an operator who asks their endpoints whatever it likes."""

import shutil

import numpy as np

from fedsieve.deployment import keys
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.membership import create
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import ProtocolError
from fedsieve.messages import Refusal
from fedsieve.privacy import SITE
from fedsieve.privacy.secure_sum.cohort import SecureCohort
from fedsieve.protocol import Labeled
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.operator import Operator
from fedsieve.transport.site import JoinedSite
from policies import take_part, write_rules

ADDRESS = "127.0.0.1:9443"
FEATURES = tuple("abcdef")
LABELED = Labeled(np.random.default_rng(7).integers(0, 2, (20, len(FEATURES))).astype(float), np.eye(20)[:, :2])


class BelievingCohort(SecureCohort):
    """A server that goes on with keys that were signed under another agreement than its own."""

    def _why_no_keys(self, _name, _reply):
        return ""


class JoinedSums:
    """`rows` are the sites' tables by name; every site has the default rules and consents."""

    def __init__(self, place, rows, *, policy=SITE):
        self.names, self.rows, self.place = tuple(rows), rows, place
        self.server = create(place / "fed", self._text(), list(self.names), ADDRESS)
        self.servers = dict.fromkeys(self.names, self.server)  # whose agreement each site holds
        for name in rows:
            write_rules(self.server.site(name).path, policy)
            self.join(name)
        self.lost = lambda _name, _request: False

    def join(self, name):
        """Consent to the agreement in a site's folder."""
        site = self.server.site(name)
        site.write_rows(FEATURES, self.rows[name], None)
        take_part(site)

    def another_agreement(self, names, min_cell):
        """The operator writes a second agreement with the same members and keys; these sites consent to it."""
        other = ServerFolder(self.place / "fed2")
        shutil.copytree(self.server.path, other.path)
        text = self._text(min_cell, self.server.agreement().members)
        (other.path / AGREEMENT).write_text(text)
        for name in names:
            (self.server.site(name).path / AGREEMENT).write_text(text)
            self.join(name)
            self.servers[name] = other

    def ask(self, run, name, request, cohort, round_=1):
        """One site's reply."""
        operator = Operator.of(self.servers[name], run)
        sealed = operator.seal(round_, name, encode(request), cohort=list(cohort))
        reply = JoinedSite(self.server.site(name)).answer(sealed)
        return decode(operator.open(reply, name, round_, sealed).payload)

    def totals(self, run, cohort, *requests):
        """The cells and the totals of these requests; a refusal of any site ends the run."""
        agreement = self.server.agreement()
        members = {name: keys.public_key(agreement.members[name]) for name in self.names}
        sums = BelievingCohort(agreement.method, tuple(cohort), run, agreement.fingerprint, members, encode)

        def steps():
            yield from sums.begin(agreement.method, LABELED)
            found = [sums._cells]
            for request in requests:
                found.append((yield from sums.total(request)))
            return found

        return self._driven(run, cohort, steps())

    def _driven(self, run, cohort, steps):
        try:
            question = next(steps)
            while True:
                question = steps.send(self._replies(run, cohort, question))
        except StopIteration as finished:
            return finished.value

    def _replies(self, run, cohort, question):
        replies = {}
        for name in question.clients:
            request = question.request_to(name)
            if not self.lost(name, request):
                replies[name] = self.ask(run, name, request, cohort, question.round)
        refused = {name: reply.reason for name, reply in replies.items() if isinstance(reply, Refusal)}
        if refused:
            step = type(question.request).__name__
            raise ProtocolError(f"{step}: " + "; ".join(f"{name} {reason}" for name, reason in refused.items()))
        return replies

    def _text(self, min_cell=5, keys=None):
        return agreement_text(
            "fed",
            ADDRESS,
            list(self.names),
            list(FEATURES),
            ["y"],
            method="Sieve",
            ranges=dict.fromkeys(FEATURES, (0.0, 1.0)),
            privacy={"secure": True, "min_cell": min_cell, "rows_per_column": 3},
            parameters={"n_features_to_select": 2},
            keys=keys,
        )
