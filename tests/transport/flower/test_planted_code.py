"""The folder in which a command was started may be anybody's, such as /tmp: nothing that lies there is run."""

import os
import subprocess

import pytest

from fedsieve.transport.flower.engine import CONTROL_TOKEN, SITE, EngineProcess, environment
from fedsieve.transport.flower.guard import put_guards

PLANTED = "import os, pathlib\npathlib.Path(os.environ['PLANTED']).write_text('ran')\n"


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Start from a folder in which another account left modules and commands; the file that they would write."""
    here, ran = tmp_path / "shared", tmp_path / "ran"
    (here / "fedsieve").mkdir(parents=True)
    for module in ("fedsieve/__init__.py", "sitecustomize.py", "ssl.py", "numpy.py"):
        (here / module).write_text(PLANTED)
    monkeypatch.chdir(here)
    monkeypatch.setenv("PLANTED", str(ran))
    return ran


@pytest.mark.parametrize(
    "program",
    [
        "flower-supernode",
        *(pytest.param(program, marks=pytest.mark.full) for program in ("flower-superlink", "flower-superexec")),
    ],
)
def test_a_program_of_the_engine_takes_no_module_from_where_it_was_started(ran, tmp_path, program):
    log = tmp_path / "log"
    env = environment(tmp_path / "engine", **{CONTROL_TOKEN: str(tmp_path / "token")})
    process = EngineProcess.start([program, "--help"], env, tmp_path / "pid", log)
    assert process.process.wait(300) == 0, log.read_text()
    assert not ran.exists()


@pytest.mark.filterwarnings("ignore:GitWildMatchPattern:DeprecationWarning")  # where the engine packs an app
def test_a_sites_answering_process_takes_none_either(ran, tmp_path, consortium):
    site = consortium.folder.site("site-1")
    env = environment(tmp_path / "engine", first=put_guards(site), **{SITE: str(site.path)})
    said = subprocess.run(["flwr-clientapp", "--help"], env=env, capture_output=True, text=True, timeout=300)
    assert said.returncode == 0, said.stderr
    assert not ran.exists()


@pytest.mark.parametrize("path", ["", ".", "bin", f".{os.pathsep}/usr/bin{os.pathsep}"])
def test_commands_are_looked_for_in_named_folders_only(tmp_path, monkeypatch, path):
    monkeypatch.setenv("PATH", path)
    folders = environment(tmp_path / "engine")["PATH"].split(os.pathsep)
    assert all(map(os.path.isabs, folders)), folders
    assert ("/usr/bin" in folders) == ("/usr/bin" in path)
