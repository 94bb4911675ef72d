"""A tiny known dataset in the place of the five, and a web server on this machine that has its files."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch
import pytest

from fedsieve.datasets import registry
from fedsieve.datasets.registry import KnownDataset

HEADER = "@relation tiny\n@attribute sweet numeric\n@attribute y_b {0,1}\n@attribute red {0,1}\n@attribute y_a {0,1}\n"
FILES = {
    "tiny-train.arff": HEADER + "@data\n0.5,1,0,0\n1.5,0,1,1\n2.5,1,1,0\n",
    "tiny-test.arff": HEADER + "@data\n3.5,0,0,1\n4.5,1,1,1\n",
    "tiny.xml": "<labels><label name='y_a'/><label name='y_b'/></labels>",
}
TINY = KnownDataset(
    name="tiny",
    domain="fruit",
    n_samples=5,
    n_features=2,
    n_labels=2,
    k=1,
    split=(3, 2),
    rows=("tiny-train.arff", "tiny-test.arff"),
    labels="tiny.xml",
    files={name: hashlib.sha256(text.encode()).hexdigest() for name, text in FILES.items()},
    source="A. Orchard: On Fruit. 2001.",
)


@dataclass
class Remote:
    """What the server was asked for, and how it shall answer: `bodies` replace a file, `cut` ends it half-way."""

    url: str
    asked: list[str] = field(default_factory=list)
    bodies: dict[str, bytes] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)


@contextmanager
def remote_server() -> Iterator[Remote]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            remote.asked.append(self.path)
            name = self.path.rpartition("/")[2]
            if self.path != f"/mulan/tiny/{name}" or name not in FILES:
                self.send_error(404)
                return
            body = remote.bodies.get(name, FILES[name].encode())
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if name in remote.cut else body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    remote = Remote(f"http://127.0.0.1:{server.server_port}/mulan")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield remote
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def use_tiny(monkeypatch: pytest.MonkeyPatch, folder: Path, url: str) -> Path:
    """Know the tiny dataset only, at that address, with a cache folder of its own; returns where its files go."""
    monkeypatch.setattr(registry, "KNOWN", {"tiny": TINY})
    monkeypatch.setattr(pooch, "os_cache", lambda name: folder / "cache" / name)
    monkeypatch.setenv("FEDSIEVE_DATA_URL", url)
    monkeypatch.delenv("FEDSIEVE_DATA", raising=False)
    return folder / "cache" / "fedsieve" / "mulan" / "tiny"


def write_mirror(folder: Path) -> Path:
    """Lay the files out as a mirror below `folder`; returns their folder."""
    home = folder / "mulan" / "tiny"
    home.mkdir(parents=True)
    for name, text in FILES.items():
        (home / name).write_text(text)
    return home
