"""Membership: told from few rows, hardly from a total; and not at all where nothing was told of the rows."""

import numpy as np
import pytest

from audit_settings import grey, parties, setting
from fedsieve.audit.attacks.membership import answered_by, membership_scores, strongest_score
from fedsieve.audit.curves import area_under_curve
from fedsieve.audit.finding import AUC
from fedsieve.audit.trials.membership import membership

RNG = np.random.default_rng(5)
ROWS = parties(grey(RNG, 500, 20), RNG, n_sites=6)  # of 50 rows


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Sieve", {}),
        ("SSFMLFS", {"wire": "statistics"}),
        ("SSFMLFS", {"wire": "matrices"}),
        ("FMLFS", {}),
        ("FedCMFS", {"combine": "pooled"}),
    ],
)
def test_rows_of_a_small_site_are_told_from_others_and_controls_are_at_chance(name, parameters):
    found = membership(setting(name, ROWS, "none", **parameters))
    assert found.unit == AUC
    assert found.beyond_control, found.verdict
    assert found.read.value > 0.62
    assert 0.35 < found.control < 0.65
    assert 0.35 < found.server_alone < 0.65
    at_1, at_5 = found.more.values()
    assert at_1.value <= at_5.value
    assert "found at 1 % false alarms" in found.verdict


def test_a_total_tells_less_than_one_site():
    one, total = (membership(setting("Sieve", ROWS, "none", secure=secure)).read.value for secure in (False, True))
    assert total < one - 0.1


def test_a_site_of_too_few_rows_tells_nothing_at_all():
    """Its histograms, which it sent before it refused covariances, told as much as these would have."""
    found = membership(setting("Sieve", ROWS, "site"))
    assert found.read is None
    assert found.rule == "rows_per_column"


def test_what_was_answered_before_a_refusal_still_tells(monkeypatch):
    """A site that refuses covariances of too few rows only when it is asked for them has sent its histograms."""
    monkeypatch.setattr("fedsieve.transport.endpoint.check_rows_needed", lambda *_: None)
    found = membership(setting("Sieve", ROWS, "site"))
    assert found.rule == "rows_per_column"
    assert found.note == "by Histograms"
    assert found.beyond_control


def test_answers_of_other_rows_tell_nothing(rng):
    """The attack at chance: the answers are those of a table that holds neither members nor others."""
    one = setting("Sieve", ROWS, "none")
    own, strangers = (ROWS.table(rows, one.method) for rows in (ROWS.server, ROWS.sites["site-02"]))
    answers = answered_by(one.overheard.seen, strangers)
    used = strongest_score(answers, own, rng)
    inside, outside = (
        membership_scores(answers, own, ROWS.table(rows, one.method))[used] for rows in (ROWS.members, ROWS.outside)
    )
    assert 0.35 < area_under_curve(inside, outside) < 0.65
