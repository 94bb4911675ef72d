"""Findings in words, as records, and as a section; rules named in refusals."""

import json
from dataclasses import replace

import pytest

from fedsieve.audit import Finding
from fedsieve.audit.curves import Measured
from fedsieve.audit.finding import AUC, rule_of
from fedsieve.report.audit_section import as_markdown, audit_section, short

SETTING = ("Sieve", "", "none", False, None)
ROWS = Finding("lone columns", "Which rows?", *SETTING, "of the rows", Measured(0.67, 0.5, 0.8), 0.0, 0.02)
MEMBERS = Finding(
    *("membership", "Is it there?", *SETTING, AUC),
    read=Measured(0.85, 0.8, 0.9),
    control=0.49,
    server_alone=0.52,
    more={"found at 1 % false alarms": Measured(0.1, 0.05, 0.2)},
    refused="has 11 rows; covariances of 64 columns need 192 at one site (rows_per_column = 3), or rows.",
)
REFUSED = Finding(
    "small sites", "Which rows?", *SETTING, "of the rows", refused="its rules ask for 50 (min_rows): few."
)
NOTHING = Finding("relations", "Which values?", *SETTING, "of the values", note="the method sends no relation matrices")
WEAK = Finding("poisoning", "How many?", *SETTING, "of the top 20", Measured(0.1, 0.03, 0.3), 0.05, 0.05)
ALL = [ROWS, MEMBERS, REFUSED, NOTHING, WEAK]


def test_verdicts_are_sentences_with_the_controls():
    assert ROWS.verdict == "reads 67 % (50 % to 80 %) of the rows; chance: 0 %; the server's own rows: 2 %"
    assert MEMBERS.verdict == (
        "tells members from others with AUC 0.85 (0.80 to 0.90); chance: 0.49; the server's own rows: 0.52; "
        "found at 1 % false alarms: 10 % (5 to 20 %); then refused: rows_per_column"
    )
    assert REFUSED.verdict == "refused: min_rows"
    assert NOTHING.verdict == "the method sends no relation matrices"
    assert WEAK.verdict.startswith("replaces 10 % (3 % to 30 %) of the top 20")


def test_only_what_lies_beyond_both_controls_counts():
    assert [finding.beyond_control for finding in ALL] == [True, True, False, False, False]


@pytest.mark.parametrize("finding", ALL)
def test_a_finding_survives_json(finding):
    assert Finding.of_record(json.loads(json.dumps(finding.as_record()))) == finding


def test_the_section_says_what_counts_and_the_page_has_a_row_for_each():
    section = audit_section(ALL, "Sieve on made-up rows.")
    assert section["beyond_control"] == ["lone columns", "membership"]
    assert "Refused by the site: small sites." in section["words"]
    assert len(section["rows"]) == len(ALL)
    json.dumps(section)
    page = as_markdown(section)
    assert "| lone columns | 67 % (50 % to 80 %) | 0 % | 2 % |" in page
    assert all(line.count("|") == 6 for line in page.splitlines() if line.startswith("|"))


def test_a_bar_in_a_note_stays_a_bar_and_ends_no_cell():
    page = as_markdown(audit_section([replace(NOTHING, note="no column a|b")], "Sieve on made-up rows."))
    assert r"| no column a\|b |" in page


def test_cells_of_the_wide_table_are_short():
    assert [short(finding) for finding in ALL] == [
        "**67 %**",
        "**0.85**, then refused: `rows_per_column`",
        "refused: `min_rows`",
        "-",
        "10 %",
    ]


def test_a_refusal_without_a_rule_s_name_is_told_by_its_first_words():
    assert rule_of("did something (else): quite new. And more.") == "did something (else): quite new"
