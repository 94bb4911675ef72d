"""A site answers while the `join` that consented is alive, and not a moment longer, however that came to its end."""

import signal

import pytest

from federation.consortium import RUN_SECONDS, running
from federation.processes import PATIENCE, send, wait_until
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.transport.flower.control import ONLINE, Control

pytestmark = pytest.mark.federation


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    sites = "siteA,siteB,siteC,siteD"
    with running(tmp_path_factory.mktemp("leaving"), sites, "--timeout", 150) as consortium:
        yield consortium


def online(consortium):
    with Control(ServerFolder(consortium.fed)) as control:
        return {name for name, state in control.nodes().items() if state.status == ONLINE}


def join_of(consortium, name):
    """The latest join of a site."""
    return [one for one in consortium.commands if one.mark == consortium.mark(name) and "join" in one.arguments][-1]


def answers(run):
    return {event["site"] for event in run.folder.events() if event["event"] == "answered"}


def test_a_killed_join_takes_its_node_and_its_rows_with_it(consortium):
    assert consortium.pids("siteA")
    join_of(consortium, "siteA").kill()
    run = consortium.run("--wait", 5, out="killed")  # at once: the server may still believe that the site is there
    run.command.wait(RUN_SECONDS)
    assert "siteA" not in answers(run)
    assert consortium.pids("siteA") == []
    assert not (consortium.site("siteA") / "prepared").exists()
    wait_until(lambda: "siteA" not in online(consortium), PATIENCE, "the end of siteA's heartbeat")


def test_a_closed_terminal_ends_a_join_like_ctrl_c(consortium):
    join = join_of(consortium, "siteB")
    send([join.process.pid], signal.SIGHUP)
    assert join.wait() == 0
    assert "siteB has left; nothing of its rows stays" in join.text
    assert consortium.pids("siteB") == []
    assert not (consortium.site("siteB") / "prepared").exists()
    wait_until(lambda: "siteB" not in online(consortium), PATIENCE, "siteB's leave")
