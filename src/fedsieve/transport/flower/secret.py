"""Who may speak to the engine's listeners on loopback, which every account of the machine can reach: who has a secret.

The operator shows a token to the control interface (`login.py`). Tasks are given out to whoever knows the secret of the
party's own folder.
"""

import secrets
import ssl
from http import HTTPStatus
from pathlib import Path

from fedsieve.deployment.folders import make_private
from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import DataError
from fedsieve.files import write_atomically
from fedsieve.transport.flower.engine import LOOPBACK, EngineError

REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
TASKS, CONTROL = "/v1/runtime/acquire-task", "/v1/control/list-nodes"
UNKNOWN = "none"  # a token that no server ever had


def new_secret(file: Path) -> Path:
    """Write a new secret that only the owner can read."""
    make_private(file.parent)
    write_atomically(file, lambda part: part.write_text(secrets.token_hex(32), encoding="ascii"), mode=PRIVATE)
    return file


def read_secret(file: Path) -> str:
    """The secret, or one that opens nothing where no server was ever started."""
    try:
        return file.read_text(encoding="ascii")
    except FileNotFoundError:
        return UNKNOWN
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: cannot be read ({type(error).__name__}). Start the server again.") from None


def check_strangers_are_refused(port: int, authority: Path, *paths: str) -> None:
    """Knock as another account of this machine could; an engine that opens is not used."""
    import httpx  # takes long to load, and a command's help does without

    for path in paths:
        try:
            answer = httpx.post(
                f"https://{LOOPBACK}:{port}{path}",
                headers={"content-type": "application/protobuf"},
                verify=_trusting(authority),
                timeout=10,
            )
        except httpx.TransportError as error:
            raise EngineError(f"the engine on port {port} does not answer ({type(error).__name__}).") from None
        if answer.status_code not in REFUSED:
            raise EngineError(
                f"the engine on port {port} does not ask who calls {path} (it answered {answer.status_code}), so any "
                "account of this machine could. Use the version of flwr that fedsieve asks for."
            )


def _trusting(authority: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority))
