"""A federation's folder after runs of several endings, made once and copied, and the application of its live view."""

import json
import shutil

import pytest

from dashboard.asking import TOKEN, Visitor
from fedsieve.dashboard.app import make_app
from fedsieve.dashboard.process import SIGNS
from fedsieve.dashboard.views import VIEWS
from fedsieve.deployment.runs import new_run
from fedsieve.deployment.server_folder import ServerFolder
from protocol.federation import example
from transport.flower.conftest import founded  # noqa: F401
from transport.flower.consortium import Consortium

QUICK = {"n_trees": 3, "n_bootstraps": 2, "n_features_to_select": 2}
HOSTILE = "<script>alert(1)</script> \x1b[2J\u202e" + '"' * 3 + "y" * 2000


@pytest.fixture(scope="session")
def case():
    """The rows of all parties."""
    return example(n_clients=3)


@pytest.fixture(scope="session")
def lived(founded, case, tmp_path_factory):  # noqa: F811
    """The folder of a federation that has lived through a run that ended well, and a check that failed."""
    path = tmp_path_factory.mktemp("lived") / "fed"
    shutil.copytree(founded(3), path)
    consortium = Consortium(case, ServerFolder(path))
    consortium.agree("Sieve", parameters=QUICK, privacy={"min_rows": 5})
    consortium.lead()
    sites = list(case.clients)
    failed = new_run(consortium.folder, sites[:2], sites[2:], check=True)
    failed.tell("refused", round=1, site=sites[0], reason=HOSTILE)
    failed.fail(HOSTILE)
    return path


@pytest.fixture
def server(lived, tmp_path):
    """The operator's folder, a copy."""
    shutil.copytree(lived, tmp_path / "fed")
    return ServerFolder(tmp_path / "fed")


@pytest.fixture
def site(server):
    """A site of it, which answered one run and has its result."""
    return server.site("site-0")


@pytest.fixture
def open_view():
    """Somebody on this machine who looks at a view."""

    def opened(kind, path, **options):
        return Visitor(make_app(VIEWS[kind](path), TOKEN, **options))

    return opened


@pytest.fixture
def client(open_view, server):
    """Who looks at the server's view, whose command says that all its sites are online."""
    states = dict.fromkeys(server.agreement().sites, "online")
    (server.server / SIGNS).write_text(json.dumps(states))
    return open_view("server", server.path)
