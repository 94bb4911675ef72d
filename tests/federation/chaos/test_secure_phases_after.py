"""Secure sums, one site killed after it answered a phase: it is in the sums whose numbers it sent, in no other."""

import pytest

from federation.chaos.moments import PHASES, VICTIM, kill_after_answer
from federation.chaos.outcomes import (
    LOST_AFTER_ITS_NUMBERS,
    LOST_BEFORE_THE_SUMS,
    LOST_BETWEEN,
    NOBODY_LOST,
    assert_summed,
)
from federation.chaos.standing import standing

pytestmark = pytest.mark.chaos

# Nothing more is asked after the last phase.
ENDINGS = [LOST_BEFORE_THE_SUMS] * 2 + [LOST_BETWEEN] * 3 + [LOST_AFTER_ITS_NUMBERS] * 2 + [NOBODY_LOST]
CASES = dict(zip(PHASES, ENDINGS, strict=True))


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    with standing(tmp_path_factory.mktemp("after"), "--secure") as consortium:
        yield consortium


@pytest.mark.parametrize("phase", PHASES)
def test_a_site_killed_after_it_answered(consortium, tell, phase):
    run = consortium.run("--keep-replies", out=f"after {phase}")
    kill_after_answer(consortium, run, PHASES[phase])
    outcome = assert_summed(consortium, run, CASES[phase])
    tell(f"{phase}: {VICTIM} killed when its answer had come, before the next phase", outcome)
