"""Where we put something of ours into the engine: each of these fails where a new version no longer looks there."""

import os
import subprocess
import sys
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from fedsieve.transport.flower.launch import Starter, forgetting, take_place
from fedsieve.transport.flower.login import OperatorOnly

RUN_CLIENTAPP = "flwr.supernode.runtime.run_clientapp"
SEAMS = [
    ("flwr.superlink.cli.flower_superlink", "_parse_superlink_lifespan_config", "load_control_authn_plugin"),
    ("flwr.supernode.start_client_internal", "_pull_and_store_message", "get_fused_config_from_fab"),
    ("flwr.supernode.start_client_internal", "start_client_internal", "_pull_and_store_message"),
    ("flwr.supernode.start_client_internal", "start_client_internal", "time"),
    ("flwr.supernode.start_client_internal", "_push_messages", "time"),
    ("flwr.supernode.start_client_internal", "_pull_and_store_message", "pull_objects"),
    ("flwr.supercore.inflatable.inflatable_utils", "pull_and_inflate_object_from_tree", "pull_objects"),
    ("flwr.superlink.grid.http_grid", "HttpGrid.pull_messages", "pull_objects"),
    ("flwr.supercore.superexec.run_superexec", "run_superexec", "time"),
    ("flwr.supercore.superexec.executor.subprocess_executor", "SubprocessExecutor.launch", "subprocess"),
    (RUN_CLIENTAPP, "run_clientapp", "install_from_fab"),
    (RUN_CLIENTAPP, "run_clientapp", "get_load_client_app_fn"),
]


@pytest.mark.parametrize(("module", "function", "name"), SEAMS, ids=[f"{seam[1]}-{seam[2]}" for seam in SEAMS])
def test_the_engine_still_looks_where_we_stand(module, function, name):
    place = import_module(module)
    assert hasattr(place, name)
    assert name in attrgetter(function)(place).__code__.co_names


def test_a_sites_process_opens_what_it_was_sent_nowhere_else():
    """All names by which the engine's function for a task could reach the packed app or its folder."""
    used = set(import_module(RUN_CLIENTAPP).run_clientapp.__code__.co_names)
    assert {name for name in used if "fab" in name.lower() or "load" in name or "install" in name} == {
        "fab_id", "fab_version", "install_from_fab", "get_load_client_app_fn", "install_app_dependencies",
    }  # fmt: skip


def test_the_engine_still_ends_a_process_after_the_time_that_we_set():
    place = import_module("flwr.supercore.exit.exit")
    (force_exit,) = (
        part for part in place.flwr_exit.__code__.co_consts if getattr(part, "co_name", "") == "force_exit"
    )
    assert "FORCE_EXIT_TIMEOUT_SECONDS" in force_exit.co_names
    assert hasattr(place, "FORCE_EXIT_TIMEOUT_SECONDS")


def test_a_seam_that_is_gone_is_not_passed_over():
    with pytest.raises(AttributeError):
        take_place(RUN_CLIENTAPP, "no_such_name", None)


@pytest.mark.parametrize(("pulled", "n_kept"), [(7, 1), (None, 0)])
def test_a_message_that_was_not_pulled_to_its_end_is_forgotten(pulled, n_kept):
    """Its run ended while it came; the engine would keep it, and answer it some day instead of another."""
    from flwr.app import Message, RecordDict
    from flwr.supercore.object_store import ObjectStoreFactory
    from flwr.supercore.task_identity import TaskIdentity
    from flwr.supernode.nodestate import NodeStateFactory

    TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1
    message = Message(RecordDict(), 1, "query")
    message.metadata.__dict__["_message_id"] = "message"
    state = NodeStateFactory(ObjectStoreFactory()).state()

    def pull(state, receive):
        state.store_message(receive)
        return pulled

    came = []
    assert forgetting(pull, lambda: came.append(pulled))(state=state, receive=message) == pulled
    assert len(state.get_messages_legacy()) == n_kept == len(came)


def test_a_tasks_token_is_in_no_command_line(tmp_path):
    from flwr.supercore.constant import TaskType
    from flwr.supercore.superexec.executor import subprocess_executor
    from flwr.supercore.superexec.executor.types import ExecutionSpec

    command = tmp_path / "flwr-clientapp"
    command.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/line\ncat "$4" > {tmp_path}/token\n')
    command.chmod(0o700)
    started = []

    class Seen(Starter):
        def Popen(self, args, **options):  # noqa: N802
            started.append(super().Popen(args, **options))
            return started[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess_executor, "subprocess", Seen())
        patch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
        address = "127.0.0.1:1"
        spec = ExecutionSpec(TaskType.CLIENT_APP, address, "s3cret", True, None, False, None, False, task_id=1)
        subprocess_executor.SubprocessExecutor().launch(spec)
    assert started[0].wait(300) == 0
    assert (tmp_path / "token").read_text() == "s3cret"
    assert "--token-file /dev/fd/" in (line := (tmp_path / "line").read_text())
    assert "s3cret" not in line


def test_a_tasks_token_is_read_from_its_start_on_every_system(monkeypatch):
    """Where `/dev/fd` is a copy of the descriptor, as on BSD, its place in the file is ours."""
    places = []

    def started(_command, pass_fds, **_options):
        places.append(os.lseek(pass_fds[0], 0, os.SEEK_CUR))
        assert os.pread(pass_fds[0], 100, 0) == b"s3cret"

    monkeypatch.setattr(subprocess, "Popen", started)
    Starter().Popen(["flwr-clientapp", "--token", "s3cret"])
    assert places == [0]


def test_only_who_shows_the_token_is_the_operator():
    login = OperatorOnly("right")
    assert login.validate_tokens_in_metadata([("flwr-oidc-access-token", "right")])[0]
    for shown in ([], [("flwr-oidc-access-token", "wrong")], [("another", "right")], [("flwr-oidc-access-token", "")]):
        assert login.validate_tokens_in_metadata(shown) == (False, None)
    assert login.refresh_tokens([("flwr-oidc-access-token", "right")]) == (None, None)


def test_a_program_ends_with_its_parent_and_does_its_last_thing(tmp_path):
    """Where a thread of it has begun, and only one may, the program waits for that."""
    child = (
        "import os, sys, time\nfrom pathlib import Path\nfrom fedsieve.transport.flower.launch import end_with\n"
        "def last(begun=[]):\n    begun.append(1)\n    if len(begun) == 1:\n"
        f"        time.sleep(1)\n        Path({str(tmp_path / 'last')!r}).write_text('done')\n"
        "end_with(os.getppid(), last)\n"
        "print(os.getpid(), flush=True)\ntime.sleep(300)\n"
    )
    parent = f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {child!r}])\ntime.sleep(300)\n"
    process = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True)
    pid = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.read()  # ends when the child, who has it too, is gone
    process.stdout.close()
    assert (tmp_path / "last").read_text() == "done"
    assert not (Path("/proc") / str(pid) / "exe").exists()  # a zombie at most, until its new parent looks
