"""Who may speak to the engine's listeners on loopback, which every account of the machine can reach.

The engine's control interface has a login for its makers' own product only. We put our own there: a token in the
operator's folder, new at every `serve`. Tasks are given out to whoever knows the secret of the party's own folder.
"""

import hmac
import secrets
import ssl
from collections.abc import Sequence
from pathlib import Path

import httpx
from flwr.common.constant import ACCESS_TOKEN_KEY
from flwr.supercore.auth.typing import AccountInfo
from flwr.supercore.interceptors.http.utils import add_headers
from flwr.supercore.protobuf.client import ProtobufCall, ProtobufRequestContext
from flwr.superlink.auth_plugin import NoOpControlAuthnPlugin

from fedsieve.deployment.folders import make_private
from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import DataError
from fedsieve.files import write_atomically
from fedsieve.transport.flower.engine import LOOPBACK, EngineError

Metadata = Sequence[tuple[str, str | bytes]]
REFUSED = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
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


class OperatorOnly(NoOpControlAuthnPlugin):
    """Lets in who shows the token; takes the place of the engine's own check, which lets in everybody."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token

    def validate_tokens_in_metadata(self, metadata: Metadata) -> tuple[bool, AccountInfo | None]:
        """Whether the caller is the operator."""
        shown = dict(metadata).get(ACCESS_TOKEN_KEY, "")
        known = hmac.compare_digest(shown if isinstance(shown, bytes) else shown.encode(), self._token.encode())
        return super().validate_tokens_in_metadata(metadata) if known else (False, None)

    def refresh_tokens(self, metadata: Metadata) -> tuple[Metadata | None, AccountInfo | None]:  # noqa: ARG002
        """Nobody gets a new one here."""
        return None, None


class ShowToken:
    """Adds the operator's token to each call of the control interface."""

    def __init__(self, token: str) -> None:
        self._token = token

    def intercept(self, context: ProtobufRequestContext, call_next: ProtobufCall) -> httpx.Response:
        """As a bearer of the token."""
        add_headers(context.request, {"authorization": f"Bearer {self._token}"})
        return call_next(context)


def check_strangers_are_refused(port: int, authority: Path, *paths: str) -> None:
    """Knock as another account of this machine could; an engine that opens is not used."""
    for path in paths:
        answer = httpx.post(
            f"https://{LOOPBACK}:{port}{path}",
            headers={"content-type": "application/protobuf"},
            verify=_trusting(authority),
            timeout=10,
        )
        if answer.status_code not in REFUSED:
            raise EngineError(
                f"the engine on port {port} does not ask who calls {path} (it answered {answer.status_code}), so any "
                "account of this machine could. Use the version of flwr that fedsieve asks for."
            )


def _trusting(authority: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority))
