"""Secure sums, one site killed before it answers a phase: it is in the sums whose numbers it sent, in no other."""

import pytest

from federation.chaos.moments import PHASES, VICTIM, kill_before_answer
from federation.chaos.outcomes import LOST_AFTER_ITS_NUMBERS, LOST_BEFORE_THE_SUMS, LOST_BETWEEN, assert_summed
from federation.chaos.standing import standing

pytestmark = pytest.mark.chaos

ENDINGS = [LOST_BEFORE_THE_SUMS] * 3 + [LOST_BETWEEN] * 3 + [LOST_AFTER_ITS_NUMBERS] * 2
CASES = dict(zip(PHASES, ENDINGS, strict=True))


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    with standing(tmp_path_factory.mktemp("before"), "--secure") as consortium:
        yield consortium


@pytest.mark.parametrize("phase", PHASES)
def test_a_site_killed_before_it_answers(consortium, tell, phase):
    run = consortium.run("--keep-replies", out=f"before {phase}")
    kill_before_answer(consortium, run, PHASES[phase], VICTIM)
    outcome = assert_summed(consortium, run, CASES[phase])
    tell(f"{phase}: {VICTIM} killed when asked", outcome)
