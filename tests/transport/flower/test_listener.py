"""A site that cannot answer, or is refused for its clock, says so."""

import datetime
import http.server
import ssl
import threading
import time
from email.utils import formatdate
from types import SimpleNamespace

import pytest

from fedsieve.cli.federation import join
from fedsieve.deployment import keys
from fedsieve.deployment.keys import days_left, read_certificate
from fedsieve.errors import ProtocolError
from fedsieve.transport.flower import site_node
from fedsieve.transport.flower.engine import EngineError, free_port
from fedsieve.transport.flower.listener import compare_clocks
from fedsieve.transport.flower.secret import TASKS, check_strangers_are_refused
from fedsieve.transport.flower.site_node import SiteNode, make_local_certificate


@pytest.fixture
def listening():
    """Start a TLS server with a site's certificate and a clock that is so many seconds off; its port."""
    servers = []

    def listen(folder, seconds=0.0):
        class Answer(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self):
                self.send_response_only(404)
                self.send_header("Date", formatdate(time.time() + seconds, usegmt=True))
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.HTTPServer):
            def handle_error(self, *_):
                pass  # a handshake that the caller broke off

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "local.crt", folder / "local.key")
        server = Server(("127.0.0.1", 0), Answer)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))  # seconds until it sees that it shall end
        thread.start()
        servers.append((server, thread))
        return server.server_port

    yield listen
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def site(consortium):
    return consortium.folder.site("site-1")


def node_of(site, port):
    alive = SimpleNamespace(check=lambda: None, log_file="the log")
    return SiteNode(site, alive, alive, port)


def test_the_certificate_between_a_sites_processes_outlives_its_join(site):
    make_local_certificate(site)
    for name in ("local.crt", "local-ca.crt"):
        certificate = read_certificate(site.prepared / name)
        assert days_left(certificate) > 3000
        assert certificate.not_valid_before_utc < datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=50)


def test_a_site_whose_certificate_has_expired_says_so_instead_of_staying_silent(site, listening, monkeypatch):
    monkeypatch.setattr(site_node, "LOCAL_DAYS", -1 / 48)  # valid for the first half of the last hour
    make_local_certificate(site)
    node = node_of(site, listening(site.prepared))
    with pytest.raises(EngineError, match=r"site-1 cannot answer: .* no longer good \(certificate has expired\)"):
        node.check()


def test_a_site_that_can_answer_does_not_complain(site, listening):
    make_local_certificate(site)
    node = node_of(site, listening(site.prepared))
    node.check()
    assert node.failed_looks == 0


def test_a_site_whose_node_is_deaf_says_so_after_some_patience(site, monkeypatch):
    monkeypatch.setattr(site_node, "CHECK_SECONDS", 0)
    make_local_certificate(site)
    node = node_of(site, 1)  # nobody listens there
    node.check()
    node.check()
    with pytest.raises(EngineError, match="its own node does not"):
        node.check()


@pytest.mark.parametrize(("seconds", "words"), [(-31, "ahead of"), (30, "behind"), (0, None)])
def test_a_clock_is_compared_with_the_servers(site, listening, seconds, words):
    make_local_certificate(site)
    port = listening(site.prepared, seconds)
    start = time.monotonic()
    clocks = compare_clocks("127.0.0.1", port, site.prepared / "local-ca.crt")
    took = time.monotonic() - start
    assert clocks.differ == (words is not None)
    assert abs(clocks.here - clocks.there + seconds) < 1 + took
    assert words is None or f" s {words} the server's (here 20" in str(clocks)


def test_a_refused_site_blames_its_clock_before_its_key(site, listening):
    make_local_certificate(site)
    keys.write_certificate(read_certificate(site.prepared / "local-ca.crt"), site.path / "ca.crt")
    port = listening(site.prepared, -30)
    text = (site.path / "federation.toml").read_text()
    (site.path / "federation.toml").write_text(text.replace(":9443", f":{port}"))
    log = site.path / "engine.log"
    log.write_text("refused")
    with pytest.raises(ProtocolError) as caught:
        join._wait_until_connected(site, SimpleNamespace(left=True), log, 0)
    said = str(caught.value)
    assert said.index("this machine's clock is ") < said.index("its key is not registered")
    assert "ahead of the server's (here " in said


def test_a_refused_site_with_the_right_time_blames_its_key(site):
    log = site.path / "engine.log"
    log.write_text("refused")
    with pytest.raises(ProtocolError, match="does not let site-1 in: its key is not registered there"):
        join._wait_until_connected(site, SimpleNamespace(left=True), log, 0)


@pytest.fixture
def nodes(site, monkeypatch):
    """The server takes the first two nodes for another one that is online, and lets in the third."""
    log, started = site.path / "engine.log", []
    log.write_text("")

    def start(_site, log_file, **_how):
        refused = len(started) < 2
        log_file.write_text(log_file.read_text() + ("refused" if refused else join.CONNECTED))
        started.append(SimpleNamespace(left=refused, stop=lambda: None))
        return started[-1]

    monkeypatch.setattr(join.SiteNode, "start", start)
    monkeypatch.setattr(join, "RETRY_SECONDS", 0)
    return started


def test_after_a_kill_a_site_waits_until_the_server_has_noticed(site, nodes, capsys):
    (site.path / "supernode.pid").write_text("1")
    assert join.connected(site, site.path / "engine.log") is nodes[2]
    assert "was killed before; the server may take up to 75 s to notice" in capsys.readouterr().out


def test_otherwise_a_refused_site_is_told_at_once(site, nodes):
    with pytest.raises(ProtocolError, match="does not let site-1 in"):
        join.connected(site, site.path / "engine.log")
    assert len(nodes) == 1


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        (join.REFUSED, ProtocolError, "does not let site-1 in: its key is not registered there"),
        ("Address already in use", EngineError, "ended with code 1"),
    ],
)
def test_a_node_that_ends_before_it_listens_is_refused_only_if_the_server_said_so(
    site, monkeypatch, said, error, words
):
    log = site.path / "engine.log"
    log.write_text(f"{join.REFUSED}, last time\n")

    def ends(_site, log_file, **_how):
        log_file.write_text(log_file.read_text() + said)
        raise EngineError("flower-supernode ended with code 1")

    monkeypatch.setattr(join.SiteNode, "start", ends)
    with pytest.raises(error, match=words):
        join.connected(site, log)


def test_a_listener_that_is_gone_is_an_error_in_words(site):
    make_local_certificate(site)
    with pytest.raises(EngineError, match="does not answer"):
        check_strangers_are_refused(free_port(), site.prepared / "local-ca.crt", TASKS)
