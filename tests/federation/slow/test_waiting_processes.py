"""The process that waits for tasks: there is one for each party, it ends with it, and runs go on without it."""

import signal

import pytest

from federation.consortium import running
from federation.processes import command_line, send, wait_until
from federation.tables import assert_same

pytestmark = pytest.mark.federation

TIMEOUT = 60


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    with running(tmp_path_factory.mktemp("waiting"), "siteA,siteB", "--timeout", TIMEOUT) as consortium:
        yield consortium


def waiting(consortium, party):
    return [pid for pid in consortium.pids(party) if "fedsieve.transport.flower.warm" in command_line(pid)]


def test_answers_of_forks_are_those_of_one_process(consortium):
    parties = ("server", "siteA", "siteB")
    wait_until(lambda: all(len(waiting(consortium, party)) == 1 for party in parties), 60, "one process each")
    assert_same(consortium.run(out="forked").result(), consortium.expected())
    wait_until(lambda: all(len(waiting(consortium, party)) == 1 for party in parties), 60, "no fork left")


def test_without_them_the_engine_starts_each_task_anew_and_the_log_says_so(consortium):
    for party in ("server", "siteA"):
        send(waiting(consortium, party), signal.SIGKILL)
    assert_same(consortium.run(out="anew").result(), consortium.expected())
    logs = [path.read_text(errors="replace") for path in consortium.folder.rglob("*.log") if path.is_file()]
    assert sum("tasks are started anew: the waiting process" in log for log in logs) == 2


def test_the_process_of_a_site_ends_with_its_join(consortium):
    (pid,) = waiting(consortium, "siteB")
    join = next(one for one in consortium.commands if one.mark == consortium.mark("siteB"))
    join.kill()
    wait_until(lambda: pid not in consortium.pids("siteB"), 30, "the end of the waiting process")
