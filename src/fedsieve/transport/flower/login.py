"""Our login at the engine's control interface, from both sides: who is let in, and how the operator shows the token.

The engine has a login for its makers' own product only. We put our own there: a token in the operator's folder, new at
every `serve` (`secret.py`).
"""

import hmac
from collections.abc import Sequence

import httpx
from flwr.common.constant import ACCESS_TOKEN_KEY
from flwr.supercore.auth.typing import AccountInfo
from flwr.supercore.interceptors.http.utils import add_headers
from flwr.supercore.protobuf.client import ProtobufCall, ProtobufRequestContext
from flwr.superlink.auth_plugin import NoOpControlAuthnPlugin

Metadata = Sequence[tuple[str, str | bytes]]


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
