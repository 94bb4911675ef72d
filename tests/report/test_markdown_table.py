"""Tables of all pages: a bar within a cell ends no cell, escaped before or not."""

import re

import pytest

from fedsieve.report.markdown_table import markdown_table


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("a|b", r"a\|b"),
        ("||", r"\|\|"),
        (r"a\|b", r"a\|b"),  # escaped before
        (r"a\\|b", r"a\\\|b"),  # a backslash that is escaped, then a bar that is not
        (r"a\\\|b", r"a\\\|b"),
        ("`a`", "`a`"),
        ("", ""),
    ],
)
def test_a_bar_ends_no_cell(cell, written):
    titles, dashes, row = markdown_table([cell, "n"], [[cell, "1"]])
    assert (titles, dashes, row) == (f"| {written} | n |", "|---|---|", f"| {written} | 1 |")
    assert len(re.sub(r"\\.", "", row).split("|")) == 4


def test_a_table_without_rows_has_its_titles():
    assert markdown_table(["a"], []) == ["| a |", "|---|"]
