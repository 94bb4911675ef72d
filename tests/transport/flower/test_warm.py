"""Tasks as forks of a waiting process: each on its own, its token unseen; and anew where the waiting process fails."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fedsieve.transport.flower import warm
from fedsieve.transport.flower.launch import Starter
from fedsieve.transport.flower.warm import CLIENT, ColdError, kept_ready

# A waiting process that loads little: what is forked writes down what it was given.
WAITING = """
import json, os, secrets, sys
from pathlib import Path
from fedsieve.transport.flower import warm

def begin():
    token = Path(sys.argv[sys.argv.index("--token-file") + 1]).read_text()
    line = Path("/proc/self/cmdline").read_bytes().decode()
    told = {"argv": sys.argv[:2], "token": token, "line": line, "pid": os.getpid(), "parent": os.getppid()}
    told |= {"random": secrets.token_hex(8), "name": Path("/proc/self/comm").read_text().strip()}
    place = Path(sys.argv[1])
    place.with_suffix(".part").write_text(json.dumps(told))
    place.with_suffix(".part").rename(place)

warm.load = lambda program: begin
{more}
warm.main()
"""


@pytest.fixture
def starter(tmp_path, monkeypatch):
    """Make the executor's starter, with a waiting process of these lines."""
    made = []

    def make(more=""):
        file = tmp_path / "waiting.py"
        file.write_text(WAITING.replace("{more}", more))
        real = subprocess.Popen

        def start(command, **options):
            if "-m" in command:
                command = [sys.executable, str(file), *command[3:]]
            return real(command, **options)

        monkeypatch.setattr(warm.subprocess, "Popen", start)
        made.append(Starter(CLIENT))
        return made[-1]

    yield make
    for one in made:
        if one._warm is not None:
            one._warm.close()


def told(place: Path) -> dict:
    end = time.monotonic() + 60
    while not place.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    return json.loads(place.read_text())


def test_each_task_is_a_process_of_its_own_with_its_own_token_and_chance(starter, tmp_path):
    one, found = starter(), []
    for number in range(2):
        place = tmp_path / f"task-{number}"
        pid = one.Popen([CLIENT, str(place), "--token", f"s3cret-{number}"])
        found.append(told(place))
        assert found[-1]["pid"] == pid
        assert found[-1]["token"] == f"s3cret-{number}"
        assert found[-1]["argv"] == [CLIENT, str(place)]
        assert found[-1]["name"] == CLIENT
        assert "s3cret" not in found[-1]["line"]
    assert found[0]["parent"] == found[1]["parent"] == one._warm._process.pid
    assert found[0]["pid"] != found[1]["pid"]
    assert found[0]["random"] != found[1]["random"]


def test_a_waiting_process_ends_with_its_executor(starter, tmp_path):
    one = starter()
    one.Popen([CLIENT, str(tmp_path / "task"), "--token", "x"])
    one._warm._channel.close()  # as when the executor is gone
    assert one._warm._process.wait(60) == 0


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("sys.exit(3)", "the waiting process "),
        ("import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()", "has threads"),
    ],
    ids=["it died", "it has threads"],
)
def test_without_a_waiting_process_tasks_are_started_anew_and_it_is_said(
    starter, tmp_path, monkeypatch, capsys, more, reason
):
    command = tmp_path / CLIENT
    command.write_text(f'#!/bin/sh\ncat "$3" > {tmp_path}/token\n')
    command.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    one = starter(more)
    for _ in range(2):
        assert one.Popen([CLIENT, "place", "--token", "s3cret"]).wait(60) == 0
        assert (tmp_path / "token").read_text() == "s3cret"
    said = capsys.readouterr().err
    assert said.count("tasks are started anew") == 1
    assert reason in said


def test_only_the_program_that_is_kept_ready_is_forked(starter):
    one = starter()
    with pytest.raises(ColdError, match="flwr-serverapp is not kept ready"):
        one._warm.launch(["flwr-serverapp", "x"], 0, quiet=False)


def test_a_user_can_do_without(monkeypatch):
    assert kept_ready(CLIENT) == {"FEDSIEVE_WARM": CLIENT}
    monkeypatch.setenv("FEDSIEVE_WARM", "0")
    assert kept_ready(CLIENT) == {"FEDSIEVE_WARM": ""}


def test_what_a_site_loads_starts_no_thread():
    """Forking a process with threads may leave a lock held for ever."""
    code = (
        "import sys, threading\nfrom fedsieve.transport.flower.warm import load\n"
        "load('flwr-clientapp')\nprint(threading.active_count(), 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["1", "True"], done.stderr
