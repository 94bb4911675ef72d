"""Attacks on the view from where they can come: other accounts of the machine, and pages that its browsers show."""

import pytest

from dashboard.asking import TOKEN
from fedsieve.dashboard import gate

PLACES = ("/", "/events", "/state.json", "/runs/x/report", "/metrics")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("start", ["", "/wrong", f"/{TOKEN[:-1]}", f"/{TOKEN}x", f"/{TOKEN.upper()}", "/%00", "/é"])
def test_without_the_token_nothing_but_health_is_told(client, start, place):
    answer = client.get(f"{start}{place}", token=False)
    assert (answer.status, answer.text) == (403, gate.NO_TOKEN)
    assert TOKEN not in str(answer)


def test_a_path_that_is_no_text_is_refused_like_any_other(client):
    assert client.get("/%ff%fe/", token=False).status == 403
    assert client.get("//state.json", token=False).status == 403
    assert client.get(f"//{TOKEN}/state.json", token=False).status == 403


def test_the_token_is_compared_in_constant_time(client, monkeypatch):
    compared = []
    monkeypatch.setattr(gate.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or False)
    assert client.get("/", token=False).status == 403
    client.get("/", ("authorization", "Bearer x"), token=False)
    assert compared
    assert all(known == TOKEN.encode() for _, known in compared)


def test_health_is_open_and_tells_nothing_else(client, server):
    assert client.get("/healthz", token=False).text == "ok\n"
    (server.server / "dashboard.json").unlink()
    answer = client.get("/healthz", token=False)
    assert (answer.status, answer.text) == (503, "'serve' has given no sign of life yet.\n")
    assert client.get("/healthz/../state.json", token=False).status == 403


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:9999", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "127.0.0.2"),
        *("localhost:80@evil.example", "127.0.0.1:", "[::1", "0.0.0.0:9999"),
    ],
)
def test_a_name_that_was_made_to_lead_here_is_refused(client, host):
    for path in ("/healthz", f"/{TOKEN}/state.json"):
        assert client.get(path, ("host", host), token=False).status == 421


def test_no_name_or_two_names_are_refused(client):
    assert client.get("/", ("no", ""), ("host", "127.0.0.1"), ("host", "evil.example")).status == 421
    own = [("host", "localhost:1234"), ("host", "127.0.0.1"), ("host", "[::1]:80"), ("host", "LOCALHOST:9999")]
    assert [client.get("/", host).status for host in own] == [200] * 4


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"])
def test_nothing_can_be_changed_and_no_other_origin_is_allowed(client, method):
    answer = client.get("/", ("origin", "http://127.0.0.1:1234"), method=method)
    assert answer.status == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/", "/state.json", "/nothing", "/runs/nothing/report", "/metrics"])
def test_every_answer_keeps_its_address_to_itself(client, path):
    answer = client.get(path, ("origin", "http://evil.example"))
    wanted = {
        "cache-control": "no-store",
        "connection": "close",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }
    assert wanted.items() <= answer.headers.items()
    assert not [name for name in answer.headers if name.startswith("access-control") or name == "set-cookie"]
    assert TOKEN not in answer.text


def test_metrics_take_the_token_in_a_header_or_are_opened_on_purpose(client, open_view, server):
    assert client.get("/metrics", token=False).status == 403
    for value, status in ((f"Bearer {TOKEN}", 200), (f"bearer  {TOKEN} ", 200), ("Bearer x", 403), (TOKEN, 403)):
        assert client.get("/metrics", ("authorization", value), token=False).status == status
    twice = [("authorization", f"Bearer {TOKEN}")] * 2
    assert client.get("/metrics", *twice, token=False).status == 403
    opened = open_view("server", server.path, open_metrics=True)
    assert opened.get("/metrics", token=False).status == 200
    assert opened.get("/state.json", token=False).status == 403


@pytest.mark.parametrize(
    "run",
    ["..", "%2e%2e", "..%2f..", "../../../etc/passwd", "..%2F..%2Fserver", ".", "%00", "run.json", "*", "a" * 5000],
)
def test_no_path_is_made_of_what_was_asked_for(client, run):
    assert client.get(f"/runs/{run}/report").status in (404, 405)
