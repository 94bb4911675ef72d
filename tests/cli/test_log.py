"""`fedsieve federation log`: a site's record as a table, as JSON, and verified."""

import json

import pytest

from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.consent import ConsentRecord, Limits, ReleasedRows
from fedsieve.deployment.folders import write_json
from fedsieve.deployment.what_left import Departure, WhatLeft
from fedsieve.privacy import SITE


@pytest.fixture
def site(tmp_path):
    write_json(tmp_path / "site.json", {"name": "siteA"})
    agreement = parse_agreement(agreement_text("fed", "h:1", ["a", "b"], ["age"], ["y"]))
    consent = ConsentRecord(tmp_path)
    table = {"file": "rows.csv", "rows": 120, "columns": 1}
    consent.join(agreement, SITE, table, by="steward", limits=Limits(runs=3), asked=False)
    for number in range(1, 4):
        refused = "was asked\x1b[2J for more" if number == 3 else ""
        WhatLeft(tmp_path).add(
            Departure(f"run-{number}", 1, "AskRanges", "Refusal" if refused else "Ranges", ("age",), 120, 426, "key",
                      agreement.fingerprint, "agreed", refused=refused)
        )  # fmt: skip
    return tmp_path


def record(site):
    return site / "what-left.jsonl"


def test_the_table_shows_every_message_and_no_control_characters(fedsieve, site):
    result = fedsieve("federation", "log", site)
    assert result.code == 0
    assert "What left this site" in result.out
    lines = "".join(result.out.split())
    assert all(f"run-{number}" in lines for number in (1, 2, 3))
    assert "\x1b" not in result.out
    assert "\\x1b" in lines


def test_json_is_one_document(fedsieve, site):
    entries = json.loads(fedsieve("federation", "log", site, "--json").out)
    assert [entry["run"] for entry in entries] == ["run-1", "run-2", "run-3"]


def test_the_record_of_consent_is_shown_too(fedsieve, site):
    result = fedsieve("federation", "log", site, "--consent")
    assert "Who let this site take part" in result.out
    assert "steward" in result.out
    assert "3 runs" in " ".join(result.out.split())
    (entry,) = json.loads(fedsieve("federation", "log", site, "--consent", "--json").out)
    assert entry["by"] == "steward"


def test_whole_records_are_verified_with_exit_code_0(fedsieve, site):
    result = fedsieve("federation", "log", site, "--verify")
    assert result.code == 0
    assert "what-left.jsonl: 3 lines, all whole. Last hash, to note elsewhere: " in result.out
    assert "consent.jsonl: 1 lines, all whole." in result.out


def edit(file, forge):
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(forge(lines)))


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (lambda all_: [all_[0].replace(b"426", b"425"), *all_[1:]], "broken after 0 whole lines: line 1 was changed"),
        (lambda all_: [all_[0], all_[2]], "broken after 1 whole lines: line 2 has the number 3, expected 2"),
        (lambda all_: [all_[1], all_[0], all_[2]], "lines were reordered"),
        (lambda all_: all_[:2], "lines 3 to 3 are missing at the end"),
        (lambda all_: [*all_[:2], all_[2][:30]], "line 3 is torn"),
    ],
    ids=["edited", "removed", "reordered", "cut", "torn"],
)
def test_a_broken_record_ends_with_exit_code_1_and_the_line(fedsieve, site, forge, said):
    edit(record(site), forge)
    result = fedsieve("federation", "log", site, "--verify")
    assert result.code == 1
    assert said in result.out
    assert "consent.jsonl: 1 lines, all whole." in result.out
    verdicts = json.loads(fedsieve("federation", "log", site, "--verify", "--json").out)
    assert [bool(verdict["broken"]) for verdict in verdicts] == [True, False]


def test_a_consent_that_rows_leave_names_run_rows_columns_and_bytes(fedsieve, site):
    record = ConsentRecord(site)
    record.let_rows_leave(ReleasedRows("r1", "f", ["age", "dose"], 120, 1920, "d"), SITE, by="steward")
    record.keep_rows("r2", by="steward")
    lines = fedsieve("federation", "log", site, "--consent").out.splitlines()
    cells = [line.split("│")[7].strip() for line in lines if line.count("│") > 7]
    assert "run r1: 120 rows, 2 columns, 1.9 kB run r2" in " ".join(" ".join(cells).split())


def test_a_forged_consent_is_seen_too(fedsieve, site):
    edit(site / "consent.jsonl", lambda all_: [all_[0].replace(b"steward", b"nobody!")])
    assert fedsieve("federation", "log", site, "--verify").code == 1


def test_a_noted_hash_is_looked_for(fedsieve, site):
    noted = json.loads(fedsieve("federation", "log", site, "--verify", "--json").out)[0]["last"]
    assert fedsieve("federation", "log", site, "--verify", "--noted", noted).code == 0
    assert fedsieve("federation", "log", site, "--verify", "--noted", "0" * 64).code == 1
    slip = fedsieve("federation", "log", site, "--verify", "--noted", noted[:12])
    assert slip.code == 2, "a slip of the pen is no broken record"
    assert "--noted must be a whole hash as --verify shows it, 64 digits" in slip.message
    assert fedsieve("federation", "log", site, "--noted", noted).message.startswith("--noted is compared by --verify")


def test_a_torn_record_can_still_be_shown(fedsieve, site):
    edit(record(site), lambda all_: [*all_, b'{"n": 4'])
    assert fedsieve("federation", "log", site).code == 0


def test_nothing_recorded_yet_and_a_wrong_folder_are_told_apart(fedsieve, tmp_path):
    assert "is no site's folder" in fedsieve("federation", "log", tmp_path / "none").message
    write_json(tmp_path / "site.json", {"name": "siteA"})
    assert fedsieve("federation", "log", tmp_path).out.startswith("Nothing is recorded in")


@pytest.mark.parametrize(
    "line", [b'{"n": 4, "before": "x"}', b'{"n": 4, "before": "x", "columns": 7, "held_back": null}']
)
def test_a_line_that_no_site_writes_is_one_clear_error(fedsieve, site, line):
    edit(record(site), lambda all_: [*all_, line + b"\n"])
    result = fedsieve("federation", "log", site)
    assert result.code == 2
    assert "its record holds lines that no site writes. See what is wrong: " in result.message
    assert fedsieve("federation", "log", site, "--verify").code == 1
