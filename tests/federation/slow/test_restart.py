"""The server's side dies in the middle of a run: the run goes on from its last round and finds the same."""

import os
import signal

import pytest

from federation.consortium import START_SECONDS, running
from federation.processes import wait_until
from federation.tables import assert_same

pytestmark = pytest.mark.federation


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    options = ("--timeout", 240, "--ranges", "robust")  # three rounds
    with running(tmp_path_factory.mktemp("restart"), "siteA,siteB,siteC", *options, waits=False) as consortium:
        yield consortium


def assert_went_on(record, consortium, *, n_repeated: int):
    assert_same(record, consortium.expected(), "transcript", "dropped")
    assert record["federation"]["rounds_from_checkpoint"] == n_repeated


def test_a_killed_server_process_is_replaced_and_repeats_what_it_was_told(consortium):
    run = consortium.run(out="process")
    pid = run.event("started")["pid"]
    run.asked("AskMoments")
    os.kill(pid, signal.SIGKILL)
    record = run.result()
    assert "going on from its last round (attempt 2)" in run.command.text
    assert run.event("started", after=1)["pid"] != pid
    assert_went_on(record, consortium, n_repeated=1)


def test_a_killed_run_command_leaves_a_run_that_another_goes_on_with(consortium):
    first = consortium.run(out="never")
    first.asked("AskHistograms")
    first.command.kill()
    second = consortium.run("--resume", "last", out="never either")
    second.command.says(f"Run {first.folder.id} with", START_SECONDS)
    first.asked("AskMoments")
    second.command.kill()
    os.kill(first.folder.leader(), signal.SIGKILL)
    wait_until(lambda: first.folder.leader() is None, START_SECONDS, "the end of the server's process")
    n_kept = len(list((first.folder.path / "rounds").iterdir()))
    assert n_kept in (1, 2)  # two where this machine is so slow that the next round was asked before
    assert "was interrupted (run --resume goes on with it)" in consortium.call("status", consortium.fed).text
    third = consortium.run("--resume", first.folder.id, out="resumed")
    assert_went_on(third.result(), consortium, n_repeated=n_kept)
    assert not (consortium.folder / "never").exists()
    assert not (consortium.folder / "never either").exists()


def test_a_killed_server_is_started_again_and_sites_and_run_go_on(consortium):
    run = consortium.run(out="server")
    run.asked("AskPairSums")
    server = next(command for command in consortium.commands if "serve" in command.arguments)
    server.kill_all()
    assert consortium.pids("server") == []
    assert "is down" in consortium.call("status", consortium.fed).text
    consortium.serve()
    record = run.result()
    assert_went_on(record, consortium, n_repeated=2)
    joins = [command for command in consortium.commands if "join" in command.arguments]
    assert len(joins) == 3
    assert all(join.process.poll() is None for join in joins)
