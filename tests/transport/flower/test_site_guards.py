"""What a site does when the server itself asks for more than was agreed on, or is not the server."""

import json
import stat
import zlib
from types import SimpleNamespace

import numpy as np
import pytest
from flwr.app import Context, RecordDict

from fedsieve import messages as m
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.keys import new_key
from fedsieve.deployment.lease import LEASE, joined, new_lease
from fedsieve.errors import ProtocolError
from fedsieve.protocol import Question
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.flower import client_app
from fedsieve.transport.flower.contents import RESULT, STEP
from fedsieve.transport.flower.local_grid import LocalGrid
from transport.flower.consortium import request_of

RUN = "20260101-000000-abcdef"


def columns(consortium, *more):
    return m.Columns((*consortium.case.features, *more), (), "error")


def answers(consortium, request, post=None):
    asked = (post or consortium.post(RUN)).ask(Question(1, tuple(consortium.case.clients), request))
    return {answer.reply.reason if isinstance(answer.reply, m.Refusal) else "" for answer in asked.values()}


def test_what_was_agreed_on_is_answered(consortium):
    assert answers(consortium, m.AskRangesAndMoments(columns(consortium))) == {""}


def test_every_request_is_one_of_its_kind(consortium):
    """So that a reply to one never answers another, even of the same words."""
    nonces = []
    for name, node in list(consortium.nodes.items()):

        def heard(message, node=node):
            nonces.append(request_of(message, consortium).nonce)
            return node(message)

        consortium.nodes[name] = heard
    post = consortium.post(RUN)
    for _ in range(2):
        assert answers(consortium, m.AskRangesAndMoments(columns(consortium)), post) == {""}
    assert len(nonces) == len(set(nonces)) == 6


def test_a_request_that_was_not_agreed_on_is_refused_though_the_operator_signed_it(consortium):
    d = len(consortium.case.features)
    relation = m.Relation(columns(consortium), m.Scaling(None, None), np.ones(d), "distance")
    (said,) = answers(consortium, m.AskRelations(relation))
    assert "was asked AskRelations, which was not agreed on; agreed: AskRangesAndMoments, AskPairSums." in said


def test_other_columns_are_refused_though_the_operator_signed_it(consortium):
    (said,) = answers(consortium, m.AskRangesAndMoments(columns(consortium, "diagnosis")))
    assert "columns that were not agreed on: 'diagnosis'" in said


def test_a_site_with_too_few_rows_refuses_and_is_left_out(consortium):
    consortium.agree(privacy={"min_rows": 11})  # site-0 has 10
    record = consortium.lead().result()
    assert "has 10 rows; its rules ask for 11 (min_rows)" in record["dropped"]["site-0"]
    assert record["scores"] == consortium.expected(without=("site-0",))["scores"]


def test_a_site_whose_agreement_changed_since_it_consented_answers_nothing(consortium):
    for path in (consortium.folder.path, *(consortium.folder.site(name).path for name in consortium.case.clients)):
        file = path / AGREEMENT
        file.write_text(file.read_text().replace("min_rows = 10", "min_rows = 2"))
    (said,) = answers(consortium, m.AskRangesAndMoments(columns(consortium)))
    assert said == "its agreement changed since it consented. It must join again."


def test_another_operators_request_is_not_answered(consortium):
    post = consortium.post(RUN)
    post.operator.key = new_key()
    (said,) = answers(consortium, m.AskRangesAndMoments(columns(consortium)), post)
    assert said == "its process failed (the engine's code 2)."


def test_a_request_for_another_site_is_refused(consortium):
    post = consortium.post(RUN)
    post.grid = LocalGrid({1: consortium.nodes["site-1"]})
    (reply,) = post.ask(Question(1, ("site-0",), m.AskRangesAndMoments(columns(consortium)))).values()
    assert "signed as 'site-1', but its key is registered for 'site-0'" in reply.reply.reason
    log = (consortium.folder.site("site-1").path / "fedsieve.log").read_text()
    assert "refused: is addressed to 'site-0', not to 'site-1'." in log


@pytest.mark.parametrize("payload", [b"", b"garbage", encode(m.Refusal("a reply"))])
def test_what_is_no_request_is_refused(consortium, payload):
    post = consortium.post(RUN)
    answered = post.send(STEP, 1, post.nodes, payload)
    assert list(answered) == list(consortium.case.clients)
    for envelope in answered.values():
        assert isinstance(decode(envelope.payload), m.Refusal)


def test_a_product_before_its_relation_is_refused(consortium):
    consortium.agree(parameters={"wire": "vectors"})
    (said,) = answers(consortium, m.AskProducts(None, np.ones(6)))
    order = "the method asks 'AskRangesAndMoments', 'AskProducts' in this order."
    assert said == f"was asked AskProducts before AskRangesAndMoments; {order}"


def test_the_sums_of_one_run_are_not_those_of_another_and_are_the_sites_only(consortium):
    consortium.agree(parameters={"wire": "vectors", "tol": 1e-2})
    runs = [consortium.lead(), consortium.lead()]
    files = sorted(consortium.folder.site("site-0").prepared.glob("pair-sums-*"))
    assert [file.name for file in files] == sorted(f"pair-sums-{run.id}.npy" for run in runs)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((consortium.folder.site("site-0").results / runs[0].id).stat().st_mode) == 0o700


def result_of(consortium, run):
    record = {**consortium.expected(), "federation": {"run": run}}
    return zlib.compress(json.dumps(record).encode())


def test_a_site_s_log_says_where_a_result_is(consortium):
    post = consortium.post("a-run")
    post.send(RESULT, 9, post.nodes, result_of(consortium, "a-run"))
    site = consortium.folder.site("site-0")
    assert f"site-0: the result is in {site.results / 'a-run'}\n" in (site.path / "fedsieve.log").read_text()


@pytest.mark.parametrize("run", ["../../escaped", "..", "{tmp}/absolute"])
def test_a_result_is_written_nowhere_but_in_the_sites_results(consortium, run, tmp_path):
    for name, sites in ((run.format(tmp=tmp_path), []), ("a-run", consortium.case.clients)):
        post = consortium.post(name)
        post.send(RESULT, 9, post.nodes, result_of(consortium, name))
        places = [consortium.folder.site(site).results / "a-run" / "selection.json" for site in sites]
        assert sorted(tmp_path.rglob("selection.json")) == sorted(places)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (zlib.compress(b" " * 10_000_000), "was sent a result above "),
        (b"{}", "a result that cannot be unpacked."),
        (zlib.compress(b'{"format": "fedsieve-selection/1"}'), "no whole selection: its method is not the agreed"),
    ],
    ids=["a bomb", "not packed", "not whole"],
)
def test_a_result_that_cannot_be_kept_is_refused_and_nothing_is_written(consortium, payload, said):
    post = consortium.post(RUN)
    answered = post.send(RESULT, 9, post.nodes, payload)
    assert [said in decode(envelope.payload).reason for envelope in answered.values()] == [True] * 3
    assert list(consortium.folder.path.rglob("results")) == []
    kept = post.send(RESULT, 9, post.nodes, result_of(consortium, RUN))
    assert [envelope.payload for envelope in kept.values()] == [b""] * 3


def test_the_sites_key_must_be_its_own_to_answer(consortium):
    (consortium.folder.site("site-1").path / "site.key").chmod(0o644)
    run = consortium.lead()
    assert run.failure() == "no node of 'site-1' is there. Have they joined?"


def test_a_process_finds_its_folder_by_configuration_environment_or_number(consortium, monkeypatch):
    context, sites = SimpleNamespace(node_config={}), consortium.folder.sites
    monkeypatch.setenv(client_app.SITES, str(sites))
    context.node_config = {"partition-id": 2}
    assert client_app.joined_site(context).name == "site-2"  # the tars beside the folders do not count
    monkeypatch.setenv(client_app.SITE, str(sites / "site-1"))
    assert client_app.joined_site(context).name == "site-1"
    context.node_config = {"site": str(sites / "site-0")}
    assert client_app.joined_site(context).name == "site-0"


def test_a_process_of_a_join_that_is_gone_answers_nothing_and_leaves_no_rows(consortium, monkeypatch):
    """The attack: the node outlived its `join`, and a server asks on."""
    place = consortium.folder.site("site-1")
    message = None

    def remember(heard, node=consortium.nodes["site-1"]):
        nonlocal message
        message = heard
        return node(heard)

    consortium.nodes["site-1"] = remember
    assert answers(consortium, m.AskRangesAndMoments(columns(consortium))) == {""}
    monkeypatch.setenv(client_app.SITE, str(place.path))
    context = Context(0, 1, {}, RecordDict(), {})
    with joined(place):
        monkeypatch.setenv(LEASE, new_lease(place))
        assert client_app.app(message, context).content is not None
    for _ in range(2):
        with pytest.raises(ProtocolError, match="the 'join' that consented is gone"):
            client_app.app(message, context)
        assert not place.prepared.exists()


def test_a_site_whose_agreement_cannot_be_read_says_so(consortium):
    (consortium.folder.site("site-1").path / AGREEMENT).write_text("no TOML at all")
    record = consortium.lead().result()
    assert "is no valid TOML" in record["dropped"]["site-1"]
    assert "refused: " in (consortium.folder.site("site-1").path / "fedsieve.log").read_text()
