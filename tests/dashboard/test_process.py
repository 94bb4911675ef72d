"""The view's process: who can read its secret, what it does to the command that started it, and how it ends."""

import http.client
import json
import socket
import stat
import time
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from fedsieve.cli.federation import live
from fedsieve.cli.federation.live import Wanted, live_view
from fedsieve.dashboard import patience
from fedsieve.dashboard.process import ADDRESS, LOG, NEEDED, SIGNS, TOKEN, LiveView, check_parts
from fedsieve.errors import MissingExtraError, ParameterError

FILES = (TOKEN, ADDRESS, SIGNS)


def ask(address: str, path: str = "") -> tuple[int, bytes]:
    """Once the process is up."""
    url, end = urlsplit(address), time.monotonic() + 60
    while True:
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
        try:
            connection.request("GET", path if path.startswith("/") else f"{url.path}{path}")
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.1)
        finally:
            connection.close()


def test_a_view_lives_and_ends_with_its_command(server, capfd):
    with live_view(Wanted("serve", True, 0, False), "server", server.path, server.server) as show:
        printed = capfd.readouterr().out
        address = (server.server / ADDRESS).read_text().strip()
        token = (server.server / TOKEN).read_text().strip()
        assert len(token) >= 43
        assert token in address
        assert token not in printed  # what is no terminal may be a log
        assert str(server.server / ADDRESS) in printed
        show(lambda: {"site-0": "online"})
        for name in (*FILES, LOG):
            assert stat.S_IMODE((server.server / name).stat().st_mode) == 0o600, name
        assert ask(address, "/healthz") == (200, b"ok\n")
        assert json.loads(ask(address, "state.json")[1])["sites"][0]["online"] is True
        assert ask(address, "/state.json")[0] == 403
        url = urlsplit(address)
        with socket.create_connection(("127.0.0.1", url.port)) as silent:
            silent.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127")  # and then nothing
            silent.settimeout(patience.FIRST_SECONDS + 60)
            assert silent.recv(100) == b""
        with socket.create_connection(("127.0.0.1", url.port)) as second:
            second.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            second.settimeout(patience.FIRST_SECONDS + 10)
            said = b""
            while not said.endswith(b"ok\n"):
                said += second.recv(1000)
            with suppress(ConnectionError):  # it may have ended already
                second.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127")
                assert second.recv(100) == b""
    assert not [name for name in FILES if (server.server / name).exists()]
    assert (server.server / LOG).read_text() == ""
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", url.port))


def test_it_listens_on_loopback_alone_and_goes_with_a_killed_command(server):
    view = LiveView.start("server", server.path, server.server, 0)
    try:
        assert urlsplit(view.address).hostname == "127.0.0.1"
        view.process.stdin.close()  # as the system does for a process that was killed
        view.process.wait(60)
        assert view.give_sign().startswith("the live view has ended")
        assert view.give_sign() == ""  # said once
    finally:
        view.stop()


def test_a_port_that_is_taken_costs_the_view_and_not_the_command(server, capfd):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with live_view(Wanted("serve", True, port, False), "server", server.path, server.server) as show:
            show(dict)
    error = " ".join(capfd.readouterr().err.split())
    assert f"there is no live view (port {port}: Address already in use.) 'serve' goes on without it." in error
    assert not [name for name in FILES if (server.server / name).exists()]


def test_a_missing_part_names_its_extra(monkeypatch):
    for package in NEEDED:
        monkeypatch.setattr(
            "fedsieve.dashboard.process.find_spec", lambda name, gone=package: None if name == gone else 1
        )
        with pytest.raises(
            MissingExtraError, match=rf"--dashboard needs the package '{package}'.*fedsieve\[dashboard\]"
        ):
            check_parts("fedsieve federation serve --dashboard")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((True, 70000, False), r"--dashboard-port must be in \[0, 65535\], 0 for a free one; got 70000"),
        ((True, -1, False), r"--dashboard-port must be in \[0, 65535\], 0 for a free one; got -1"),
        ((False, 8080, False), "--dashboard-port is of the live view; give --dashboard too"),
        ((False, 0, True), "--open-metrics is of the live view; give --dashboard too"),
    ],
)
def test_clumsy_options(given, message):
    with pytest.raises(ParameterError, match=message):
        Wanted("serve", *given)


def test_signs_that_cannot_be_written_end_nothing(server, monkeypatch, capfd):
    class Silent:
        stdin, returncode = None, None

        def poll(self):
            return None

        def wait(self, _seconds=None):
            return 0

    view = LiveView(server.server / "nowhere", Silent(), "http://127.0.0.1:1/x/")
    monkeypatch.setattr(live.LiveView, "start", lambda *_args, **_options: view)
    with live_view(Wanted("serve", True, 0, False), "server", server.path, server.server) as show:
        show(lambda: {"site-0": "online"})
        show(lambda: {"site-0": "online"})
    assert "Warning" not in capfd.readouterr().err
