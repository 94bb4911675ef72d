"""Sites that joined and have the result of a run, and an operator who asks them for what follows it."""

import shutil
import zlib
from copy import copy
from dataclasses import replace

import numpy as np

from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.followed_run import FollowedRun
from fedsieve.deployment.membership import create
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.messages import Refusal
from fedsieve.privacy import SITE
from fedsieve.protocol import Labeled, Question
from fedsieve.protocol.cohort import SERVER
from fedsieve.protocol.follow_up import name_at_sites
from fedsieve.selection_file import selection_record, selection_text
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.envelope import AFTER, RESULT
from fedsieve.transport.exchange import Answer, drive
from fedsieve.transport.operator import Operator
from fedsieve.transport.site import JoinedSite
from policies import take_part, write_rules

ADDRESS = "127.0.0.1:9443"
FEATURES, LABELS = tuple("abcdef"), ["y", "z"]
QUICK = {"n_features_to_select": 2, "n_trees": 3, "n_bootstraps": 0}
OPEN = replace(SITE, rows_may_leave=True)
rng = np.random.default_rng(3)
LABELED = Labeled(rng.uniform(0, 1, (40, 6)), rng.integers(0, 2, (40, 2)).astype(float))
ROWS = {name: rng.uniform(0, 1, (n, 6)) for name, n in (("siteA", 80), ("siteB", 70), ("siteC", 65))}


class AfterARun:
    """Three sites under all rules, but that rows may leave; a run, its result at all of them, and what follows."""

    def __init__(self, place, *, policy=OPEN, rows=ROWS, **sections):
        sections = {"after": ["collect"], "parameters": QUICK, "ranges": "robust", **sections}
        names = list(rows)
        text = agreement_text("fed", ADDRESS, names, list(FEATURES), LABELS, method="Sieve", **sections)
        self.server = create(place / "fed", text, names, ADDRESS)
        self.rows, self.names = rows, names
        self.method = self.server.agreement().method
        for name in names:
            write_rules(self.site(name).path, policy)
            self.join(name)

    def copy(self, place):
        """The same in another folder, to be changed."""
        shutil.copytree(self.server.path, place / "fed")
        other = copy(self)
        other.server = ServerFolder(place / "fed")
        return other

    def site(self, name):
        return self.server.site(name)

    def join(self, name, X=None):
        self.site(name).write_rows(FEATURES, self.rows[name] if X is None else X)
        take_part(self.site(name))

    def run(self, run):
        """A selection with all sites, and its record at each of them."""

        def exchange(question: Question):
            said = {name: encode(question.request_to(name)) for name in question.clients}
            sent = {name: self.send(run, name, data, round_=question.round) for name, data in said.items()}
            return {name: Answer(reply, 1) for name, reply in sent.items()}

        outcome = drive(self.method, LABELED, tuple(self.names), exchange)
        federation = {"run": run, "agreement": self.server.agreement().fingerprint, "sites": self.names}
        record = selection_record(self.method, outcome, LABELS, federation=federation)
        for name in self.names:
            self.deliver(run, name, record)
        return record

    def deliver(self, run, name, record):
        payload = zlib.compress(selection_text(record).encode())
        return self.send(run, name, payload, kind=RESULT, round_=9)

    def approve(self, name, run, what="collect"):
        this = FollowedRun(self.site(name), run)
        released = this.released(this.follow_up(what))
        ConsentRecord(self.site(name).path).let_rows_leave(released, read_policy(self.site(name)), asked=False)

    def after(self, run, name, request, what="collect"):
        """A site's reply to a request of what follows a run; a refusal as its reason."""
        reply = self.send(name_at_sites(run, what), name, encode(request), kind=AFTER)
        return reply.reason if isinstance(reply, Refusal) else reply

    def send(self, run, name, payload, *, kind="step", round_=1):
        operator = Operator.of(self.server, run)
        sealed = operator.seal(round_, name, payload, kind=kind, cohort=self.names)
        joined = JoinedSite(self.site(name))
        answer = {"step": joined.answer, RESULT: joined.take_result, AFTER: joined.follow_up}[kind]
        opened = operator.open(answer(sealed), name, round_, sealed, kind=kind)
        assert opened.receiver == SERVER
        return decode(opened.payload) if opened.payload else None

    def table(self, name):
        return ArrayTable(FEATURES, self.rows[name])
