"""Plain sums: the run begins anew without a lost site, waits for its server, or refuses with too few."""

import pytest

from federation.chaos.moments import VICTIM, Phase, asked, kill_after_answer, kill_before_answer
from federation.chaos.outcomes import (
    ALL,
    END_SECONDS,
    assert_all_told_and_nothing_kept,
    assert_as_in_one_process,
    assert_refused,
)
from federation.chaos.standing import standing

pytestmark = pytest.mark.chaos

COVARIANCES = Phase("AskCovariances")


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    with standing(tmp_path_factory.mktemp("plain")) as consortium:
        yield consortium


def assert_of(consortium, run, sites):
    """One run is one cohort: the result is that of these sites alone."""
    record = run.result(END_SECONDS)
    assert set(record["n_rows"]) == sites
    assert set(record["dropped"]) == ALL - sites
    assert_as_in_one_process(consortium, record, ALL - sites)
    assert_all_told_and_nothing_kept(consortium, run, record)
    lost = "; ".join(f"lost: {name}, {reason}" for name, reason in record["dropped"].items())
    return f"sum of {len(sites)}; {lost or 'nobody lost'}"


def test_a_site_killed_before_it_answers(consortium, tell):
    run = consortium.run(out="before")
    kill_before_answer(consortium, run, COVARIANCES, VICTIM)
    tell("covariances: siteB killed when asked", assert_of(consortium, run, ALL - {VICTIM}))


def test_a_site_killed_after_it_answered(consortium, tell):
    run = consortium.run(out="after")
    kill_after_answer(consortium, run, COVARIANCES)
    tell("covariances: siteB killed when its answer had come", assert_of(consortium, run, ALL))


def test_a_killed_server_is_started_again(consortium, tell):
    run = consortium.run(out="server")
    asked(run, COVARIANCES)
    next(one for one in reversed(consortium.commands) if "serve" in one.arguments).kill_all()
    consortium.serve()
    tell("covariances: `serve` and all its processes killed, `serve` again", assert_of(consortium, run, ALL))


def test_three_of_four_killed_are_too_many(consortium, tell):
    run = consortium.run(out="three")
    kill_before_answer(consortium, run, COVARIANCES, VICTIM, "siteC", "siteD")
    outcome = assert_refused(consortium, run, "only 1 site remains; 2 are needed.", "'siteC'", run.folder.id)
    tell("covariances: siteB, siteC and siteD killed when asked", outcome)
