"""Secure sums, other deaths: too many sites, the operator's processes, sites that hang, come back or die in the act."""

import os
import signal
import time

import pytest

from federation.chaos.moments import (
    PHASES,
    VICTIM,
    asked,
    kill_after_answer,
    kill_before_answer,
    rounds_left,
    stopped,
)
from federation.chaos.outcomes import (
    LOST_AFTER_ITS_NUMBERS,
    LOST_BEFORE_THE_SUMS,
    LOST_BETWEEN,
    NOBODY_LOST,
    assert_refused,
    assert_summed,
)
from federation.chaos.standing import TIMEOUT, heal, standing
from federation.processes import wait_until

pytestmark = pytest.mark.chaos

SHORT, LONG = 15, 65  # seconds; the engine gives a node and its processes up after 36 to 60


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    with standing(tmp_path_factory.mktemp("disturbed"), "--secure") as consortium:
        yield consortium


@pytest.mark.parametrize("phase", ["first sum, masked", "later sum, unmasked"])
def test_two_of_four_killed_are_too_many(consortium, tell, phase):
    run = consortium.run("--keep-replies", out=f"two {phase}")
    kill_before_answer(consortium, run, PHASES[phase], VICTIM, "siteC")
    outcome = assert_refused(
        consortium, run, "2 of 4 sites are left; a secure sum takes 3.", "'siteB'", "'siteC'", run.folder.id
    )
    tell(f"{phase}: siteB and siteC killed when asked", outcome)


def kill_with_its_process(run):
    """SIGKILL the command and the server's process of the run, which would go on by itself."""
    run.command.kill()
    leader = run.folder.leader()
    assert leader is not None
    os.kill(leader, signal.SIGKILL)
    wait_until(lambda: run.folder.leader() is None, 10, "the end of the server's process")


def test_a_killed_run_is_resumed_in_mid_sum(consortium, tell):
    first = consortium.run("--keep-replies", out="never")
    asked(first, PHASES["later sum, masked"])
    kill_with_its_process(first)
    second = consortium.run("--keep-replies", "--resume", "last", out="resumed")
    second._before = first._before  # it is the same run
    outcome = assert_summed(consortium, second, NOBODY_LOST)
    assert not first.output.exists()
    tell("later sum, masked: `federation run` and the server's process killed, `run --resume`", outcome)


def test_a_killed_server_is_started_again_in_mid_sum(consortium, tell):
    run = consortium.run("--keep-replies", out="server")
    asked(run, PHASES["later sum, signed"])
    next(one for one in reversed(consortium.commands) if "serve" in one.arguments).kill_all()
    assert consortium.pids("server") == []
    consortium.serve()
    outcome = assert_summed(consortium, run, NOBODY_LOST)
    tell("later sum, signed: `serve` and all its processes killed, `serve` again", outcome)


def test_a_site_that_hangs_too_long_is_left_out_though_it_goes_on_later(consortium, tell):
    run = consortium.run("--keep-replies", out="hung")
    asked(run, PHASES["first sum, masked"])
    with stopped(consortium, VICTIM):
        run.event("refused", TIMEOUT + 20, site=VICTIM)
    outcome = assert_summed(consortium, run, LOST_BEFORE_THE_SUMS)
    tell("first sum, masked: siteB stopped (SIGSTOP) when asked, continued when it was given up", outcome)


def test_a_site_that_outlived_a_server_and_then_hung_answers_in_the_next_run(consortium, tell):
    """What the engine keeps of a message whose run ended while it came must not be answered instead of another."""
    first = consortium.run(out="abandoned")
    asked(first, PHASES["keys"])
    kill_with_its_process(first)
    time.sleep(SHORT)  # in which nodes fetch what they were asked
    with stopped(consortium, VICTIM):
        time.sleep(LONG)
    heal(consortium)
    outcome = assert_summed(consortium, consortium.run("--keep-replies", out="next"), NOBODY_LOST)
    tell(f"keys: the server's process killed, siteB stopped for {LONG} s; then a new run", outcome)


def test_a_site_that_hangs_for_a_while_is_waited_for(consortium, tell):
    run = consortium.run("--keep-replies", out="slow")
    asked(run, PHASES["later sum, unmasked"])
    with stopped(consortium, VICTIM):
        time.sleep(SHORT)
    outcome = assert_summed(consortium, run, NOBODY_LOST)
    tell(f"later sum, unmasked: siteB stopped when asked, continued after {SHORT} s", outcome)


def test_a_site_that_was_killed_and_joined_again_goes_on_with_its_secrets_or_is_left_out(consortium, tell):
    run = consortium.run("--keep-replies", out="again")
    kill_after_answer(consortium, run, PHASES["first sum, masked"])
    consortium.join(VICTIM)
    outcome = assert_summed(consortium, run, NOBODY_LOST, LOST_BETWEEN)
    tell("first sum, masked: siteB killed when its answer had come, `join` again at once", outcome)


def test_a_site_killed_while_its_answer_leaves_is_in_the_sum_or_not(consortium, tell):
    run = consortium.run("--keep-replies", out="act")
    round_ = asked(run, PHASES["later sum, masked"])
    wait_until(lambda: round_ in rounds_left(consortium, VICTIM, run), TIMEOUT, "the answer in the site's record")
    consortium.kill_site(VICTIM)
    outcome = assert_summed(consortium, run, LOST_BETWEEN, LOST_AFTER_ITS_NUMBERS)
    tell("later sum, masked: siteB killed when its answer was written down, perhaps before it left", outcome)
