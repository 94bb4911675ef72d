"""The process of a live view: `python -m fedsieve.dashboard KIND FOLDER SOCKET TOKEN_FILE [--open-metrics]`.

The command that is looked at starts it and holds its standard input; when that ends, so does this process. SOCKET is
the number of a socket that listens already.
"""

import logging
import os
import socket
import sys
import threading
from pathlib import Path

import uvicorn

from fedsieve.dashboard.app import make_app
from fedsieve.dashboard.patience import PatientProtocol
from fedsieve.dashboard.views import VIEWS


def main(kind: str, folder: str, number: str, token_file: str, *switches: str) -> None:
    """Serve until the command that started this ends."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    logging.basicConfig(level=logging.ERROR)  # no address, which holds the token, is ever logged
    token = Path(token_file).read_text(encoding="utf-8").strip()
    app = make_app(VIEWS[kind](Path(folder)), token, open_metrics="--open-metrics" in switches)
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
    )
    with socket.socket(fileno=int(number)) as listening:
        uvicorn.Server(config).run(sockets=[listening])


def _end_with_input() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
