"""`docs/error-rate.md` shows what is recorded of error rates."""

from pathlib import Path

from benchmarks.knockoffs.__main__ import RATES, TITLES, recorded, table

PAGE = Path(__file__).parents[2] / "docs" / "error-rate.md"


def test_the_page_shows_the_records():
    records = list(recorded().values())
    assert {record["case"] for record in records} == set(TITLES)
    _, _, after = PAGE.read_text(encoding="utf-8").partition("<!-- knockoffs -->\n")
    shown, _, _ = after.partition("<!-- end of knockoffs -->")
    assert shown.strip().splitlines() == list(table(records))
    assert all(set(record["found"]) == {str(rate) for rate in RATES} for record in records)
