"""Secure sums that belong together: of projections and covariances, one site killed before them or between them."""

import pytest

from federation.chaos.moments import VICTIM, Phase, kill_after_answer, kill_before_answer
from federation.chaos.outcomes import ALL, OTHERS, Ending, assert_refused, assert_summed
from federation.chaos.standing import standing

pytestmark = pytest.mark.chaos

PROJECTIONS = Phase("AskMasked", 1)
# A screen of two columns makes the table wide.
WIDE = {"screen = 2000": "screen = 2"}


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    place = tmp_path_factory.mktemp("together")
    with standing(place, "--secure", "-k", 2, changes=WIDE, n_rows=20) as consortium:  # enough without a site, too
        yield consortium


def test_a_site_killed_before_both_sums_is_in_neither(consortium, tell):
    run = consortium.run("--keep-replies", out="neither")
    kill_before_answer(consortium, run, PROJECTIONS, VICTIM)
    sums = {"cells": ALL, "projections": OTHERS, "covariances": OTHERS}
    outcome = assert_summed(consortium, run, Ending(sums, frozenset({VICTIM})))
    tell("projections, masked: siteB killed when asked", outcome)


def test_a_site_killed_between_the_sums_ends_the_run(consortium, tell):
    run = consortium.run("--keep-replies", out="between")
    kill_after_answer(consortium, run, PROJECTIONS)
    outcome = assert_refused(consortium, run, "'siteB' lost between sums that belong together", "Start a new run.")
    tell("projections, masked: siteB killed when its answer had come, before the next phase", outcome)
