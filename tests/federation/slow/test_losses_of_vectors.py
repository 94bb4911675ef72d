"""Many rounds of vectors: a site's process or node dies and the engine, not our clock, notices."""

import signal
from pathlib import Path

import pytest

from federation.consortium import running
from federation.processes import PATIENCE, command_line, send, wait_until
from federation.tables import assert_same

pytestmark = pytest.mark.federation

SITES = "siteA,siteB,siteC,siteD"


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    options = ("--wire", "vectors", "--timeout", 180)
    changes = {"tol = 1e-09": "tol = 0.001"}  # few rounds are enough here
    with running(tmp_path_factory.mktemp("vectors"), SITES, *options, changes=changes, waits=False) as consortium:
        yield consortium


def computing(consortium, name):
    """The process that answers for a site, once it is at work; the engine starts one for every message."""

    def at_work(pid):
        try:
            return "--token" in command_line(pid) and "llvmlite" in Path(f"/proc/{pid}/maps").read_text()
        except OSError:
            return False

    return wait_until(lambda: [pid for pid in consortium.pids(name) if at_work(pid)], PATIENCE, f"{name} at work")


def test_a_killed_client_process_and_a_killed_node_are_left_behind(consortium):
    run = consortium.run()
    first = run.asked("AskProducts")
    send(computing(consortium, "siteA"), signal.SIGKILL)
    died = run.event("refused", site="siteA")
    assert died["round"] == first["round"]
    assert died["reason"] == "its process died (the engine's code 8)."
    third = run.asked("AskProducts", after=3)
    consortium.kill_site("siteB")
    gone = run.event("refused", site="siteB")
    assert gone["round"] == third["round"]
    assert gone["reason"] == "its node is gone, no heartbeat (the engine's code 5)."
    record = run.result()
    assert record["dropped"] == {"siteA": died["reason"], "siteB": gone["reason"]}
    assert record["parameters"]["wire"] == "vectors"
    assert_same(record, consortium.expected("siteA", "siteB"))
