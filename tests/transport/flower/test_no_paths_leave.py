"""Where a site's files lie is its own matter: a refusal that reaches the server names files, never their folders."""

import json

import pytest
from flwr.app import Context, RecordDict

from fedsieve import messages as m
from fedsieve.errors import FedSieveError
from fedsieve.protocol import Question
from fedsieve.transport.flower import client_app
from fedsieve.transport.flower.local_grid import site_node

RUN = "20260101-000000-abcdef"
SITE = "site-0"
BREAK = {
    "the rows are gone": (lambda site: (site.prepared / "rows.npy").unlink(), "rows.npy: cannot be read"),
    "so is the consent": (lambda site: (site.prepared / "consent.json").unlink(), "consent.json: cannot be read"),
    "cut rows": (lambda site: (site.prepared / "rows.npy").write_bytes(b"\x93NUM"), "rows.npy: is cut or damaged"),
    "open rules": (lambda site: (site.path / "policy.toml").chmod(0o666), "chmod 600 policy.toml"),
    "no agreement": (lambda site: (site.path / "federation.toml").write_text("x"), "federation.toml: is no valid TOML"),
}


@pytest.fixture(params=["places", "our places (2026)/north, new"])
def site(request, consortium, tmp_path):
    """A site in a folder of its own, whose name may hold what paths seldom do."""
    place = tmp_path / request.param
    place.parent.mkdir(exist_ok=True)
    consortium.folder.sites.rename(place)
    consortium.folder.sites.symlink_to(place)
    found = client_app.SiteFolder(place / SITE)
    consortium.nodes[SITE] = site_node(client_app.app, found.path, 1)
    return found


@pytest.mark.parametrize("broken", BREAK)
def test_a_refusal_names_the_file_and_not_its_folder(consortium, site, broken):
    act, said = BREAK[broken]
    act(site)
    post = consortium.post(RUN)
    request = m.AskRangesAndMoments(m.Columns(tuple(consortium.case.features), (), "error"))
    reason = post.ask(Question(1, tuple(consortium.case.clients), request))[SITE].reply.reason
    assert said in reason
    record = json.loads((site.path / "what-left.jsonl").read_text().splitlines()[-1])
    for text in (reason, json.dumps(record)):
        assert not [part for part in (*site.path.parts[1:], " /", ": /") if part in text], text
    log = (site.path / "fedsieve.log").read_text()
    assert str(site.path) in log  # the site itself is told where


@pytest.mark.parametrize("gone", ["site.json", "operator.pub"])
def test_an_error_that_the_engine_sends_names_no_folder_either(site, gone):
    """The engine tells the server the words of every error that an app raises."""
    (site.path / gone).unlink()
    context = Context(1, 1, {"site": str(site.path)}, RecordDict(), {})
    with pytest.raises(FedSieveError, match=gone) as caught, client_app.leased(context):
        client_app.joined_site(context).answer(b"")
    assert "/" not in str(caught.value)


def test_the_words_of_an_unforeseen_error_stay_at_the_site(site):
    context = Context(1, 1, {"site": str(site.path)}, RecordDict(), {})
    with (
        pytest.raises(FedSieveError, match=r"^failed with KeyError; see the site's log\.$"),
        client_app.leased(context),
    ):
        raise KeyError("0.12345")
