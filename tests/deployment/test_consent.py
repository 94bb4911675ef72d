"""The record of consent: who, for what, for how long, and how it ended; a consent that is used up covers nothing."""

from dataclasses import replace

import pytest

from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.consent import ConsentRecord, Limits, ReleasedRows, account
from fedsieve.deployment.ledger import DAY
from fedsieve.deployment.policy_file import policy_digest
from fedsieve.errors import ParameterError
from fedsieve.privacy import SITE

AGREEMENT = parse_agreement(agreement_text("fed", "h:1", ["a", "b"], ["age", "dose"], ["y"]))
TABLE = {"file": "rows.csv", "rows": 120, "columns": 2}


@pytest.fixture
def record(tmp_path):
    return ConsentRecord(tmp_path)


def join(record, **more):
    record.join(AGREEMENT, SITE, TABLE, **more)


def test_a_line_says_who_consents_to_what_for_which_table_and_under_which_rules(record):
    join(record, by="data steward", limits=Limits(runs=3, days=7), asked=False)
    (entry,) = record.chain.entries()
    assert (entry["what"], entry["by"], entry["account"], entry["how"]) == (
        "joined",
        "data steward",
        account(),
        "--yes",
    )
    assert (entry["federation"], entry["agreement"]) == ("fed", AGREEMENT.fingerprint)
    assert (entry["policy"], entry["table"]) == (policy_digest(SITE), TABLE)
    assert (entry["for_runs"], entry["for_days"]) == (3, 7)
    assert entry["policy"] != policy_digest(replace(SITE, min_rows=51))


def test_without_a_name_the_account_consents(record):
    join(record)
    (entry,) = record.chain.entries()
    assert entry["by"] == entry["account"] == account()
    assert "@" in entry["by"]
    assert (entry["how"], entry["for_runs"], entry["for_days"]) == ("asked, answered yes", None, None)


def test_an_end_is_recorded_and_covers_nothing_any_more(record):
    assert record.allowed_now("run", ()) == "nobody consents at present. It must join again."
    join(record)
    assert record.allowed_now("run", ()) is None
    record.leave("interrupted")
    assert record.allowed_now("run", ()) == "nobody consents at present. It must join again."
    assert [(entry["what"], entry["how"]) for entry in record.chain.entries()] == [
        ("joined", "asked, answered yes"),
        ("left", "interrupted"),
    ]
    assert record.chain.verify().broken == ""


def test_the_next_consent_records_that_the_one_before_was_killed(record):
    join(record)
    join(record)
    assert [entry["what"] for entry in record.chain.entries()] == ["joined", "left", "joined"]
    assert "no end was recorded" in list(record.chain.entries())[1]["how"]


def test_consent_for_some_runs_covers_these_and_their_further_rounds_only(record):
    join(record, limits=Limits(runs=2))
    assert record.allowed_now("first", ()) is None
    assert record.allowed_now("second", ["first"]) is None
    assert record.allowed_now("first", ["first", "second"]) is None
    assert record.allowed_now("third", ["first", "second"]) == (
        "its consent was for 2 runs, which are used up (--for-runs 2). It must join again."
    )


def test_consent_for_some_days_ends_even_within_a_run(record):
    join(record, limits=Limits(days=2))
    since = record.chain.last()["since"]
    assert record.allowed_now("first", ["first"], since + 2 * DAY - 1) is None
    assert record.allowed_now("first", ["first"], since + 2 * DAY) == (
        "its consent was for 2 days, which are over (--for-days 2). It must join again."
    )


def test_without_limits_of_its_own_consent_goes_on(record):
    join(record)
    assert record.allowed_now("next", [f"run-{i}" for i in range(1000)], 1e12) is None


@pytest.mark.parametrize("limits", [{"runs": 0}, {"days": 0}, {"runs": -1}, {"days": True}])
def test_no_runs_and_no_days_are_no_limits(limits):
    with pytest.raises(ParameterError, match=r"--for-(runs|days) must be a whole number of at least 1; got"):
        Limits(**limits)


@pytest.mark.parametrize("forged", [{}, {"what": "joined"}, {"what": "joined", "since": "long ago"}])
def test_a_forged_last_line_is_no_consent(record, forged):
    join(record)
    record.chain.add(forged)
    assert record.allowed_now("run", ()) == "nobody consents at present. It must join again."


def test_a_consent_about_rows_is_none_to_take_part_and_ends_none(record):
    released = ReleasedRows("run", "agreement", ("a", "b"), 80, 1280, "digest")
    record.let_rows_leave(released, SITE, asked=False)
    assert record.allowed_now("run", ()) == "nobody consents at present. It must join again."
    join(record)
    record.let_rows_leave(released, SITE, asked=False)
    assert record.allowed_now("run", ()) is None
    assert record.why_rows_stay(released) == ""
    for other in ({"columns": ("a",)}, {"rows_digest": "other"}, {"agreement": "other"}):
        assert "other rows or columns of run run" in record.why_rows_stay(replace(released, **other))
    assert "nobody consented" in record.why_rows_stay(replace(released, run="another"))
    record.keep_rows("run")
    assert "nobody consented" in record.why_rows_stay(released)
    assert record.allowed_now("run", ()) is None
