"""Each address of a view: what it brings, and in which form."""

import asyncio
import json
import re

import pytest
from markupsafe import escape

from dashboard.asking import TOKEN
from fedsieve.dashboard import stream
from fedsieve.dashboard.latest import Latest
from fedsieve.dashboard.metrics import as_metrics
from fedsieve.dashboard.page import SECTIONS
from fedsieve.dashboard.server_state import newest
from fedsieve.report.page import script_hashes


@pytest.mark.parametrize("kind", SECTIONS)
def test_the_page_runs_its_own_script_and_nothing_else(open_view, server, site, kind):
    answer = open_view(kind, server.path if kind == "server" else site.path).get("/")
    (script,) = re.findall(r"<script>(.*?)</script>", answer.text, flags=re.DOTALL)
    policy = answer.headers["content-security-policy"]
    assert f"default-src 'none'; script-src {script_hashes([script])};" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in re.sub(r"<script>.*?</script>", "", answer.text, flags=re.DOTALL).replace("http-equiv", "")
    for name, title, _ in SECTIONS[kind]:
        assert f'id="{name}"' in answer.text
        assert str(escape(title)) in answer.text
        assert f"      {name}: (s)" in script


def test_the_address_without_its_last_slash_leads_to_the_page(client):
    answer = client.get("")
    assert (answer.status, answer.headers["location"]) == (307, f"/{TOKEN}/")


def test_the_state_as_data(client):
    state = json.loads(client.get("/state.json").text)
    assert (state["kind"], len(state["sites"]), len(state["runs"])) == ("server", 3, 2)


def test_the_report_of_a_run_is_the_operator_s(client, server):
    done, failed = newest(server)[1], newest(server)[0]
    answer = client.get(f"/runs/{done.id}/report")
    assert answer.status == 200
    assert "sandbox allow-scripts" in answer.headers["content-security-policy"]
    assert "allow-same-origin" not in answer.headers["content-security-policy"]
    assert "Sieve chose 2 of 6 features" in answer.text
    assert client.get(f"/runs/{failed.id}/report").status == 404


def test_a_report_is_made_again_when_anything_it_is_made_of_has_changed(client, server):
    """A run's last events come after its result."""
    done = newest(server)[1]
    before = client.get(f"/runs/{done.id}/report").text
    done.tell("answered", round=1, site="site-0", n_bytes=7, seconds=4321.0)
    assert client.get(f"/runs/{done.id}/report").text != before
    (done.path / "evaluation.json").write_text("{")
    assert client.get(f"/runs/{done.id}/report").status == 422


def test_a_site_has_the_report_of_what_it_was_told(open_view, site):
    (run,) = [path.name for path in site.results.glob("*")]
    viewer = open_view("site", site.path)
    assert "Sieve chose 2 of 6 features" in viewer.get(f"/runs/{run}/report").text
    (site.results / run / "selection.json").write_text("{")
    answer = viewer.get(f"/runs/{run}/report")
    assert (answer.status, "<" in answer.text) == (422, False)


def test_metrics_are_text_that_prometheus_reads(client):
    answer = client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    sample = re.compile(r'[a-z_]+(\{[a-z]+="([^"\\\n]|\\.)*"(,[a-z]+="([^"\\\n]|\\.)*")*\})? \d+')
    for line in answer.text.splitlines():
        assert sample.fullmatch(line) or re.fullmatch(r"# (HELP|TYPE) [a-z_]+ .+", line), line
    assert 'fedsieve_site_online{site="site-0"} 1\n' in answer.text
    assert 'fedsieve_runs{state="failed"} 1\n' in answer.text


def test_metrics_of_a_site_and_of_hostile_names(open_view, site, client):
    text = open_view("site", site.path).get("/metrics").text
    assert "fedsieve_messages_left_total 2\n" in text
    state = json.loads(client.get("/state.json").text)
    state["sites"][0]["name"] = 'a"} 1\nfedsieve_site_online{site="b\\'
    (line,) = [line for line in as_metrics(state).splitlines() if line.startswith('fedsieve_site_online{site="a')]
    assert line == r'fedsieve_site_online{site="a\"} 1\nfedsieve_site_online{site=\"b\\"} 1'


def test_one_look_is_shared_and_counted_as_new_only_where_more_than_its_moment_differs():
    looks, now = [], [0.0]
    latest = Latest(lambda: looks.append(1) or {"at": len(looks), "n": len(looks) // 3}, clock=lambda: now[0])
    assert [latest.versioned()[1], latest.versioned()[1], len(looks)] == [1, 1, 1]
    versions = []
    for now[0] in (1.0, 2.0, 3.0):
        versions.append(latest.versioned()[1])
    assert (versions, len(looks)) == ([1, 2, 2], 4)


class Browser:
    """The other end of a stream: takes so many messages, then goes away, or takes nothing more."""

    def __init__(self, app, n_taken, *, stalls=False):
        self.app, self.n_taken, self.stalls, self.got = app, n_taken, stalls, []

    async def receive(self):
        if len(self.got) < self.n_taken or self.stalls:
            await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(self, message):
        if self.stalls and len(self.got) >= self.n_taken:
            await asyncio.sleep(60)
        self.got.append(message)

    async def look(self):
        scope = {
            "type": "http",
            "method": "GET",
            "query_string": b"",
            "path": f"/{TOKEN}/events",
            "root_path": "",
            "headers": [(b"host", b"localhost")],
        }
        await self.app(scope, self.receive, self.send)
        return self

    @property
    def states(self):
        bodies = (message.get("body", b"").decode() for message in self.got)
        return [json.loads(body[6:]) for body in bodies if body.startswith("data: ")]


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(stream, "SEND_SECONDS", 0.05)
    monkeypatch.setattr(stream, "LOOK_SECONDS", 0.01)


@pytest.mark.usefixtures("hasty")
def test_the_stream_brings_the_state_and_then_only_changes(client):
    browser = asyncio.run(Browser(client.app, 3).look())
    assert browser.got[0]["status"] == 200
    assert dict(browser.got[0]["headers"])[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert b"content-length" not in dict(browser.got[0]["headers"])
    assert browser.got[1]["body"] == b"retry: 2000\n\n"
    (state,) = browser.states
    assert len(state["sites"]) == 3


@pytest.mark.usefixtures("hasty")
def test_who_takes_nothing_is_left_and_makes_place(client):
    async def all_stall():
        await asyncio.gather(*(Browser(client.app, 2, stalls=True).look() for _ in range(stream.MOST_STREAMS)))
        return await Browser(client.app, 3).look()

    assert len(asyncio.run(all_stall()).states) == 1


@pytest.mark.usefixtures("hasty")
def test_streams_are_few(client):
    async def too_many():
        waiting = [asyncio.ensure_future(Browser(client.app, 99).look()) for _ in range(stream.MOST_STREAMS)]
        await asyncio.sleep(0.2)
        late = await Browser(client.app, 1).look()
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return late, await Browser(client.app, 3).look()

    late, again = asyncio.run(too_many())
    assert late.got[0]["status"] == 503
    assert len(again.states) == 1


@pytest.mark.usefixtures("hasty")
def test_a_stream_has_its_time(client, monkeypatch):
    monkeypatch.setattr(stream, "LIFE_SECONDS", 0.05)
    browser = asyncio.run(Browser(client.app, 99).look())
    assert browser.got[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
