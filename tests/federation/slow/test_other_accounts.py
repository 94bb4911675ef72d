"""Another login account on the machine of a server and its sites: it reaches their ports, and gets nothing there."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from federation import stranger
from federation.consortium import running
from federation.processes import command_line

pytestmark = [
    pytest.mark.federation,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another account"),
]
SAY_NOTHING = ["/v1/control/get-auth-tokens", "/v1/control/get-login-details"]  # "there is no login of this kind"


@pytest.fixture(scope="module")
def consortium():
    """In a folder that every account can enter: what keeps them out must be the federation's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with running(folder, "siteA,siteB,siteC") as consortium:
            for part in (consortium.logs, folder / "places"):
                part.chmod(0o755)
            yield consortium


@pytest.fixture(scope="module")
def got(consortium):
    """What it got hold of while all were joined."""
    pids = consortium.pids()
    lines = [line for pid in pids if " flower-supernode " in (line := command_line(pid))]
    ports = [str(consortium.port), *(line.split("--port ")[1].split()[0] for line in lines)]
    assert len(ports) == 4
    named = (str(consortium.folder), ",".join(map(str, pids)), ",".join(ports))
    said = subprocess.run([sys.executable, stranger.__file__, *named], capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


def test_it_reads_no_file_of_server_or_site(consortium, got):
    """Only what lies around them in this test: tables and what the commands said."""
    private = [str(consortium.fed), *(str(consortium.site(name)) for name in consortium.names)]
    assert got["files"]  # so it was able to look
    assert [file for file in got["files"] if file.startswith(tuple(private))] == []


def test_it_sees_no_memory_environment_or_open_file(got):
    assert got["processes"] == []


def test_none_of_the_engine_s_calls_answers_it(got):
    assert got["calls"] == SAY_NOTHING


def test_the_federation_goes_on_as_if_nobody_had_knocked(consortium, got):
    assert got
    assert consortium.run(out="after").result()["dropped"] == {}
