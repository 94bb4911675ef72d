"""Other accounts of a machine, files in mid-change, a certificate that ends: nobody gets in, nobody falls silent."""

import ssl
import time

import httpx
import pytest

from federation.consortium import running
from federation.processes import FEDSIEVE, PATIENCE, command_line, wait_until
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.transport.flower.control import ONLINE, TOKEN, Control
from fedsieve.transport.flower.engine import EngineError
from fedsieve.transport.flower.secret import CONTROL, TASKS

pytestmark = pytest.mark.federation

SHORT = """
import os

if not os.environ.get("FLWR_HOME"):  # in `join` itself
    from fedsieve.transport.flower import site_node

    site_node.LOCAL_DAYS = {seconds} / 86_400
    site_node.CHECK_SECONDS = 2
"""


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    with running(tmp_path_factory.mktemp("machines"), "siteA,siteB,siteC") as consortium:
        yield consortium


def knock(port, authority, path):
    """What another account of the machine can do: it reaches the port and knows how the engine speaks."""
    context = ssl.create_default_context(cafile=str(authority))
    headers = {"content-type": "application/protobuf"}
    return httpx.post(f"https://127.0.0.1:{port}{path}", headers=headers, verify=context).status_code


def test_another_account_of_the_servers_machine_is_not_the_operator(consortium):
    authority = consortium.fed / "server" / "ca.crt"
    assert {path: knock(consortium.port, authority, path) for path in (CONTROL, TASKS)} == {CONTROL: 401, TASKS: 401}
    token = consortium.fed / "server" / TOKEN
    assert token.stat().st_mode & 0o077 == 0
    right = token.read_text()
    token.write_text("0" * 64)
    try:
        with Control(ServerFolder(consortium.fed)) as control, pytest.raises(EngineError, match="refused ListNodes"):
            control.nodes()
    finally:
        token.write_text(right)


def test_another_account_of_a_sites_machine_takes_no_task(consortium):
    (line,) = [command_line(pid) for pid in consortium.pids("siteA") if "flower-supernode" in command_line(pid)]
    port = line.split("--port ")[1].split()[0]
    assert knock(port, consortium.site("siteA") / "prepared" / "local-ca.crt", TASKS) == 401


def test_no_token_is_seen_in_a_command_line(consortium):
    run = consortium.run(out="seen")
    lines, answering = set(), set()
    while run.command.process.poll() is None:
        pids = consortium.pids()
        lines |= {line for pid in pids if "--token" in (line := command_line(pid))}
        answering |= {pid for pid in pids if "flower.warm flwr-" in command_line(pid)}
    assert run.command.wait() == 0
    assert len(answering) > 4  # server and sites each have one that waits, and forks of it were seen
    assert all("--token-file /dev/fd/" in line for line in lines), lines


def test_a_server_survives_files_in_the_middle_of_a_change(consortium):
    server = next(command for command in consortium.commands if "serve" in command.arguments)
    agreement = consortium.fed / "federation.toml"
    text = agreement.read_text()
    agreement.write_text(text[: len(text) // 2])  # half of a file
    server.says("goes on with what it knew before")
    agreement.write_text(text)
    with Control(ServerFolder(consortium.fed)) as control:
        wait_until(lambda: control.nodes()["siteC"].status == ONLINE, PATIENCE, "siteC, whom the server knows still")
    consortium.call("site", consortium.fed, "--add", "siteD", "--with-keys")
    server.says("The sites' keys changed")
    assert server.process.poll() is None
    assert server.text.count("goes on with what it knew before") == 1  # once, not at every look


def test_a_site_whose_own_certificate_ends_says_so_and_leaves(consortium, tmp_path):
    before = [one for one in consortium.commands if one.mark == consortium.mark("siteB")][-1]
    assert before.end() == 0
    start = time.monotonic()
    again = consortium.join("siteB")
    took = time.monotonic() - start
    assert again.end() == 0
    (tmp_path / "sitecustomize.py").write_text(SHORT.format(seconds=15 + 3 * took))  # long enough to connect
    arguments = [consortium.site("siteB"), "--data", consortium.folder / "siteB.csv", "--yes"]
    join = consortium.start("siteB", [FEDSIEVE, "federation", "join", *arguments], {"PYTHONPATH": str(tmp_path)})
    join.says("is connected to")
    assert join.wait() == 2
    assert "siteB cannot answer: the certificate between its own processes is no longer good" in join.message
    assert not (consortium.site("siteB") / "prepared").exists()
