"""Consent that is limited covers no more than it says: not the runs of an earlier one, not what was answered before.

Through the site's own endpoint, by the operator's signed requests.
"""

import time

import numpy as np
import pytest

from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.consent import ConsentRecord, Limits
from fedsieve.deployment.membership import create
from fedsieve.deployment.policy_file import read_policy
from fedsieve.messages import Refusal, Scaling
from fedsieve.messages.columns import Bins
from fedsieve.messages.covariances import AskCovariances, Covariances
from fedsieve.messages.histograms import AskHistograms, Histograms
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.operator import Operator
from fedsieve.transport.site import JoinedSite

FEATURES, SITES = tuple("abcdef"), ["siteA", "siteB", "siteC"]
X = np.random.default_rng(0).uniform(0, 1, (80, len(FEATURES)))
BINS = Bins.of([np.linspace(0, 1, 9)] * len(FEATURES))
USED_UP = "its consent was for 1 run, which is used up (--for-runs 1). It must join again."
OVER = "its consent was for 1 day, which is over (--for-days 1). It must join again."
NOBODY = "nobody consents at present. It must join again."


class Asked:
    """A site that consents for some time, and an operator who asks it."""

    def __init__(self, place):
        text = agreement_text("fed", "127.0.0.1:9443", SITES, list(FEATURES), ["y"], method="Sieve", ranges="robust")
        self.server = create(place / "fed", text, SITES, "127.0.0.1:9443")
        self.site = self.server.site("siteA")
        self.record = ConsentRecord(self.site.path)

    def consent(self, **limits):
        table = {"file": "rows.csv"}
        rules = read_policy(self.site)
        self.record.join(self.site.agreement(), rules, table, limits=Limits(**limits), asked=False)
        self.site.write_rows(FEATURES, X)

    def histograms(self, run):
        return self._ask(run, 1, AskHistograms(self.site.agreement().method.columns, BINS))

    def covariances(self, run, counts):
        return self._ask(run, 2, AskCovariances(self.site.agreement().method.columns, Scaling.robust(BINS, counts)))

    def _ask(self, run, number, request):
        operator = Operator.of(self.server, run)
        sealed = operator.seal(number, "siteA", encode(request), cohort=SITES)
        reply = decode(operator.open(JoinedSite(self.site).answer(sealed), "siteA", number, sealed).payload)
        return reply.reason if isinstance(reply, Refusal) else reply


@pytest.fixture
def asked(tmp_path):
    return Asked(tmp_path)


def test_runs_begun_under_an_earlier_consent_count_for_the_present_one(asked):
    asked.consent(runs=5)
    begun = {f"old-{number}": asked.histograms(f"old-{number}") for number in range(5)}
    asked.record.leave("done")
    asked.consent(runs=1)
    answers = [asked.covariances(run, reply.counts) for run, reply in begun.items()]
    assert isinstance(answers[0], Covariances)
    assert [*answers[1:], asked.histograms("new")] == [USED_UP] * 5
    assert isinstance(asked.covariances("old-0", begun["old-0"].counts), Covariances)  # it goes on


def test_a_clock_that_was_set_back_makes_no_run_free(asked, monkeypatch):
    asked.consent(runs=1)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 3600)
    assert isinstance(asked.histograms("first"), Histograms)
    assert asked.histograms("second") == USED_UP


def test_what_was_answered_once_is_not_answered_again_when_consent_is_over(asked, monkeypatch):
    asked.consent(days=1)
    assert isinstance(asked.histograms("run"), Histograms)
    assert isinstance(asked.histograms("run"), Histograms)  # the same bytes
    now = time.time()
    with monkeypatch.context() as later:
        later.setattr(time, "time", lambda: now + 86_401)
        assert asked.histograms("run") == OVER
    asked.record.leave("done")
    assert asked.histograms("run") == NOBODY
