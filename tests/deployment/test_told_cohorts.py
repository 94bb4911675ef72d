"""Of whom totals were told: what is refused, what is approved, and what a damaged file does."""

import pytest

from fedsieve.deployment.told_cohorts import ToldCohort, ToldCohorts
from fedsieve.errors import FedSieveError

ALL = ("a", "b", "c", "d", "e", "f", "g")


@pytest.fixture
def cohorts(tmp_path):
    return ToldCohorts(tmp_path)


def without(*gone):
    return tuple(name for name in ALL if name not in gone)


def told(cohorts, run, sites, of="second moments", rows="rows"):
    cohorts.keep(ToldCohort(run, sites, rows, of))


def why(cohorts, sites, run="new", rows="rows", least=2):
    return cohorts.why_too_alike(run, sites, rows, least)


def test_totals_of_other_rows_or_of_the_same_run_are_not_compared(cohorts):
    told(cohorts, "run", ALL)
    assert "the sums of 'g' alone" in why(cohorts, without("g"))
    assert why(cohorts, without("g"), rows="others") == ""
    assert why(cohorts, without("g"), run="run") == ""
    assert why(cohorts, without("g"), least=1) == ""
    assert why(cohorts, ALL) == why(cohorts, without("g", "f")) == ""
    assert "the sums of 'f', 'g' alone" in why(cohorts, without("g", "f"), least=3)


def test_a_site_lost_in_the_middle_of_a_run_is_not_told_of_by_the_next(cohorts):
    """Its cells were told with the others', its second moments were not: neither cohort again."""
    told(cohorts, "run", ALL, of="cells")
    told(cohorts, "run", without("g"))
    assert "the sums of 'g' alone" in why(cohorts, ALL)
    assert "the sums of 'g' alone" in why(cohorts, without("g"))


def test_what_is_approved_is_asked_no_more_and_is_no_news_after(cohorts):
    told(cohorts, "run-1", ALL)
    cohorts.approve(without("g"))
    assert why(cohorts, without("g")) == ""
    told(cohorts, "run-2", without("g"))
    assert why(cohorts, ALL) == ""
    assert "the sums of 'f' alone" in why(cohorts, without("f"))


@pytest.mark.parametrize("text", ["{}", '{"cohorts": [3]}', '{"cohorts": [{"run": "r", "sites": 1}]}'])
def test_damage_is_no_reason_to_forget(cohorts, tmp_path, text):
    (tmp_path / "cohorts.json").write_text(text)
    with pytest.raises(FedSieveError, match=r"cohorts\.json"):
        why(cohorts, ALL)
