"""A server that is not honest: it sends another app, or asks for more than was agreed on; sites do neither."""

import json

import pytest

from federation.consortium import RUN_SECONDS, running
from federation.processes import PATIENCE, wait_until
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.transport.flower.control import Control
from fedsieve.transport.flower.guard import APP

pytestmark = [
    pytest.mark.federation,
    pytest.mark.filterwarnings("ignore:GitWildMatchPattern:DeprecationWarning"),  # the engine's, while it packs an app
]

SERVER = """
import json
from pathlib import Path
from flwr.app import Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

app = ServerApp()

@app.main()
def main(grid: Grid, context: Context) -> None:
    messages = [Message(RecordDict(), node, "query.step", ttl=240) for node in grid.get_node_ids()]
    replies = grid.send_and_receive(messages, timeout=240)
    errors = [reply.error.reason if reply.has_error() else "" for reply in replies]
    Path(context.run_config["run"]).write_text(json.dumps(errors))
"""
CLIENT = """
from pathlib import Path
from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp

Path({mark!r}).write_text("this code ran at a site")
app = ClientApp()

@app.query("step")
def step(message: Message, context: Context) -> Message:
    return Message(RecordDict(), reply_to=message)
"""


def foreign_app(folder, mark):
    (folder / "foreign").mkdir(parents=True)
    text = (APP / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(text.replace("fedsieve_app", "foreign").replace("fedsieve-app", "foreign"))
    (folder / "LICENSE").write_text("none")
    (folder / "foreign" / "__init__.py").write_text("")
    (folder / "foreign" / "server.py").write_text(SERVER)
    (folder / "foreign" / "client.py").write_text(CLIENT.format(mark=str(mark)))
    return folder


CURIOUS = """
import os

if os.environ.get("FEDSIEVE_FEDERATION"):  # in the server's own processes
    import numpy as np
    from fedsieve import messages as m
    from fedsieve.methods import SSFMLFSMethod

    def run(self, labeled, cohort):
        relation = m.Relation(self.columns, m.Scaling(None, None), np.ones(len(self.features)), "distance")
        yield from cohort.each(m.AskRelations(relation))

    SSFMLFSMethod.run = run
"""


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    """Two honest sites, and a server whose installed package was changed to ask for relation matrices."""
    place = tmp_path_factory.mktemp("foreign")
    (place / "sitecustomize.py").write_text(CURIOUS)
    with running(place / "fed", "siteA,siteB", server_env={"PYTHONPATH": str(place)}) as consortium:
        yield consortium


def test_an_app_that_is_not_ours_is_not_run_at_any_site(consortium, tmp_path):
    mark, replies = tmp_path / "ran", tmp_path / "replies.json"
    app = foreign_app(tmp_path / "foreign-app", mark)
    with Control(ServerFolder(consortium.fed)) as control:
        control.start(str(replies), app=app)
    errors = wait_until(lambda: replies.exists() and json.loads(replies.read_text() or "[]"), PATIENCE, "the replies")
    assert len(errors) == 2
    assert all("was sent another app than the one of its installed fedsieve" in error for error in errors)
    assert not mark.exists()


def test_a_request_outside_the_agreement_is_refused_by_every_site(consortium):
    run = consortium.run()
    assert run.command.wait(RUN_SECONDS) == 2
    refused = {event["site"]: event["reason"] for event in run.folder.events() if event["event"] == "refused"}
    said = "was asked AskRelations, which was not agreed on; agreed: AskRangesAndMoments, AskPairSums."
    assert refused == {"siteA": said, "siteB": said}
    assert run.folder.result() is None
