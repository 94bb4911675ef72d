"""A server that sends another app, or names another place: a site runs its own, and unpacks nothing."""

import hashlib
import io
import os
import resource
import subprocess
import threading
import time
import zipfile

import pytest
import uvicorn
from flwr.app import Context, Message, RecordDict
from flwr.cli.build import build_fab_from_disk
from flwr.common.constant import FAB_HASH_TRUNCATION
from flwr.supercore.fab import Fab
from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects, get_object_tree
from flwr.supercore.object_store import ObjectStoreFactory
from flwr.supercore.run import Run
from flwr.supercore.task_identity import TaskIdentity
from flwr.supernode.main import create_app
from flwr.supernode.nodestate import NodeStateFactory

from fedsieve.deployment.lease import LEASE, joined, new_lease
from fedsieve.errors import ProtocolError
from fedsieve.transport.flower.contents import HELLO, wrap
from fedsieve.transport.flower.engine import SITE, environment, free_port
from fedsieve.transport.flower.guard import APP, check_app, files_of, put_guards

pytestmark = pytest.mark.filterwarnings("ignore:GitWildMatchPattern:DeprecationWarning")
RUN = "20260101-000000-abcdef"
PLANTED = """
from pathlib import Path
from flwr.clientapp import ClientApp
Path({mark!r}).write_text("planted code ran")
app = ClientApp()
"""


@pytest.fixture(scope="module")
def ours():
    return build_fab_from_disk(APP)


def packed(files, method=zipfile.ZIP_DEFLATED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return data.getvalue()


def contents(fab):
    with zipfile.ZipFile(io.BytesIO(fab)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def test_our_app_is_known_however_it_was_packed(ours):
    check_app(ours, files_of(ours))
    check_app(packed(reversed(contents(ours)), zipfile.ZIP_STORED), files_of(ours))


@pytest.mark.parametrize(
    "change",
    [
        lambda files: files[:-1],
        lambda files: [*files, ("more.py", b"")],
        lambda files: [*files[:-1], (files[-1][0], files[-1][1][:-1] + b"!")],
        lambda files: [*files[:-1], ("../" + files[-1][0], files[-1][1])],
        lambda files: [*files[:-1], (files[-1][0], files[-1][1] + b" " * 3_000_000)],
        lambda _: [(f"{number}.py", b"") for number in range(1_000)],
    ],
    ids=["fewer", "more", "changed", "elsewhere", "longer", "many"],
)
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_any_other_is_refused_by_the_same_words(ours, change, method):
    with pytest.raises(ProtocolError, match="another app than the one of its installed fedsieve; it was not run"):
        check_app(packed(change(contents(ours)), method), files_of(ours))


@pytest.mark.parametrize("fab", [b"", b"PK", b"\0" * 1_000_001], ids=["empty", "cut", "too long"])
def test_what_is_no_archive_is_refused(ours, fab):
    with pytest.raises(ProtocolError, match="another app"):
        check_app(fab, files_of(ours))


def test_a_size_that_lies_is_refused_within_bounds(ours):
    """The list of files says what ours says, and what follows is a bomb: it is read only as far as ours is long."""
    name = contents(ours)[0][0]
    honest = dict(contents(ours))
    bomb = packed([(one, b"\0" * 100_000_000 if one == name else content) for one, content in honest.items()])
    lie = bomb.replace((100_000_000).to_bytes(4, "little"), len(honest[name]).to_bytes(4, "little"))
    assert lie != bomb
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ProtocolError, match="another app"):
        check_app(lie, files_of(ours))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


class Node:
    """The engine's node as a site's process meets it: one task, with whatever a server says of its run."""

    def __init__(self, fab, version, message):
        factory = NodeStateFactory(objectstore_factory=ObjectStoreFactory())
        self.state = state = factory.state()
        state.set_node_id(7)
        run = Run.create_empty(5)
        run.fab_id, run.fab_version, run.fab_hash = "fedsieve/fedsieve-app", version, state.store_fab(fab)
        state.store_run(run)
        state.set_run_series_context(run.series_id, Context(5, 7, {}, RecordDict(), {}))
        self.token = state.claim_task(state.create_task(task_type="flwr-clientapp", run_id=5, fab_hash=run.fab_hash))
        message.metadata.__dict__["_message_id"] = message.object_id
        state.store_message(message)
        state.object_store.preregister(5, get_object_tree(message))
        for number, thing in get_all_nested_objects(message).items():
            state.object_store.put(number, thing.deflate())
        self.port = free_port()
        settings = uvicorn.Config(create_app(state_factory=factory), port=self.port, log_level="error", ws="none")
        self.server = uvicorn.Server(settings)
        self.thread = threading.Thread(target=self.server.run)

    def __enter__(self):
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.server.should_exit = True
        self.thread.join()

    def replies(self):
        return self.state.get_messages_legacy(run_ids=[5], is_reply=True)


@pytest.fixture
def asked(consortium):
    """A site's process is asked who it is, by a server that says of its app what it likes; (error, reply, output)."""
    site = consortium.folder.site("site-1")

    def ask(fab, version="1.0.0"):
        request = consortium.post(RUN).operator.seal(0, None, b"", kind="hello")
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 5, 1, 1
        message = Message(wrap(request), 7, HELLO, ttl=600)
        with Node(Fab("", fab, {}), version, message) as node, joined(site):
            env = {
                **environment(site.path / "engine", first=put_guards(site)),
                SITE: str(site.path),
                LEASE: new_lease(site),
            }
            address = f"127.0.0.1:{node.port}"
            done = subprocess.run(
                ["flwr-clientapp", "--insecure", "--runtime-api-address", address, "--token", node.token],
                env=env, capture_output=True, text=True, timeout=300,
            )  # fmt: skip
            said, replies = done.stdout + done.stderr, node.replies()
            assert len(replies) == 1, said
            return replies[0], said

    ask.site = site
    return ask


def test_the_real_process_answers_with_our_app_wherever_the_server_says_it_lies(asked, ours, tmp_path):
    """The attack: code lies on the site's machine, and the version that the server names leads there."""
    mark, ending = tmp_path / "mark", hashlib.sha256(ours).hexdigest()[:FAB_HASH_TRUNCATION]
    planted = tmp_path / f"planted.{ending}"  # the engine adds it
    (planted / "fedsieve_app").mkdir(parents=True)
    (planted / "pyproject.toml").write_text((APP / "pyproject.toml").read_text())
    (planted / "fedsieve_app" / "__init__.py").write_text("")
    (planted / "fedsieve_app" / "client.py").write_text(PLANTED.format(mark=str(mark)))
    near = asked.site.path / "engine" / "apps" / "fedsieve.fedsieve-app.x"
    near.mkdir(parents=True)
    reply, said = asked(ours, f"x/{os.path.relpath(tmp_path / 'planted', near)}")
    assert not mark.exists()
    assert not reply.has_error(), said
    assert "hello of round 0: answered" in (asked.site.path / "fedsieve.log").read_text()
