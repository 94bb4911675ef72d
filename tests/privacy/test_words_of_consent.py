"""What a person reads before consenting: what a message can give away, also at its worst; and whether rows leave."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from fedsieve import messages as m
from fedsieve.cli.console import out
from fedsieve.cli.federation.consent import ask_for_consent
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.consent import Limits
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.messages.base import AT_WORST, Terms
from fedsieve.methods import FedCMFSMethod, FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.privacy import SITE, rows_leave, what_leaves, why_forbidden
from fedsieve.report.sections.privacy import revealed
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.site_state import TransientState

FEATURES, LABELS = tuple("abcd"), ("y",)
COMPARING = {"Covariances", "PairSums", "Products", "Information", "PartialCorrelations"}
"""Replies from which second moments follow."""
METHODS = [
    SieveMethod(FEATURES, ranges="robust"),
    SSFMLFSMethod(FEATURES, ranges="robust"),
    SSFMLFSMethod(FEATURES, ranges="robust", wire="vectors"),
    SSFMLFSMethod(FEATURES, ranges="robust", wire="matrices"),
    FMLFSMethod(FEATURES, labels=LABELS, ranges="robust"),
    FedCMFSMethod(FEATURES, labels=LABELS),
    FedCMFSMethod(FEATURES, labels=LABELS, wire="tests"),
]


def test_what_second_moments_give_away_at_worst_is_said_wherever_they_leave():
    told = [entry for method in METHODS for entry in what_leaves(method)]
    assert {kind for kind, words in told if AT_WORST in words} == COMPARING
    assert all(AT_WORST in words for kind, words in told if kind in COMPARING)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name}-{method.parameters().get('wire')}")
def test_a_report_admits_the_worst_that_the_person_who_consents_is_told(method):
    for kind, words in what_leaves(method):
        worst = words.rpartition("at worst, ")[2].partition(";")[0] if "at worst, " in words else ""
        assert worst in revealed(m.REPLIES[kind]), kind


def test_as_many_bins_are_said_as_are_answered_about():
    words = dict(what_leaves(METHODS[0]))["Histograms"]
    assert "in each of at most 34 bins: how values are spread; at worst, how many rows have a value that the" in words


@dataclass(frozen=True, eq=False)
class AllRows(Terms):
    """As good as a message that sends rows; there is none yet."""

    request: ClassVar = m.AskMoments
    sends_rows: ClassVar = True

    def reveals(self):
        return "all rows as they are"


class Collecting(SieveMethod):
    """A method that asks for rows."""

    def terms(self):
        return (AllRows(self.columns),)


METHOD = Collecting(FEATURES, ranges=dict.fromkeys(FEATURES, (0.0, 1.0)))


def asked(policy):
    table = ArrayTable(FEATURES, np.random.default_rng(0).random((60, 4)))
    endpoint = Endpoint.of_table(table, METHOD, policy, Bare("run", tuple("xyz")), TransientState())
    return decode(endpoint.answer(encode(m.AskMoments(METHOD.columns, METHOD.declared_scaling))))


def test_rows_leave_only_where_the_sites_own_rules_say_so():
    said = "sends rows as they are; its policy does not allow that (rows_may_leave = false)."
    assert said in why_forbidden(METHOD, SITE)
    assert said in asked(SITE).reason
    allowed = replace(SITE, rows_may_leave=True)
    assert why_forbidden(METHOD, allowed) == ""
    assert isinstance(asked(allowed), m.Moments)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_no_method_of_today_sends_rows(method):
    assert not rows_leave(method)


@pytest.mark.parametrize(("collects", "words"), [(False, "never leave."), (True, "leave too.")])
def test_the_screen_says_whether_rows_leave(tmp_path, collects, words):
    text = agreement_text("fed", "h:1", list("xyz"), list(FEATURES), ["y"], method="Sieve")
    agreement = parse_agreement(text)
    agreement = replace(agreement, method=METHOD) if collects else agreement
    (tmp_path / "site.json").write_text('{"name": "x"}')
    with out.capture() as screen:
        ask_for_consent(SiteFolder(tmp_path), agreement, SITE, tmp_path / "r.csv", 60, by="", limits=Limits(), yes=True)
    assert f"Rows themselves {words}" in " ".join(screen.get().split())
