"""Talking to the engine's control interface: who is registered and online, starting and watching a run.

The operator shows a token that `serve` left in the operator's folder. The engine's modules are loaded with the first
connection: they take longer than the rest of a command's start.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cryptography.hazmat.primitives import serialization

from fedsieve.deployment.agreement import check_address
from fedsieve.deployment.folders import write_json
from fedsieve.deployment.keys import PublicKey
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.transport.flower.engine import LOOPBACK, EngineError
from fedsieve.transport.flower.guard import APP
from fedsieve.transport.flower.secret import read_secret

TOKEN = "control.token"  # in the server's folder
ONLINE, OFFLINE, UNREGISTERED, FINISHED = "online", "offline", "unregistered", "finished"  # the engine's words


@dataclass(frozen=True)
class NodeState:
    """A registered node: the engine's number for it, whether it is there, and when it was last, if that is known."""

    node: int
    status: str
    left: datetime | None = None


class Control:
    """A connection to the control interface of a federation's own server."""

    def __init__(self, folder: ServerFolder) -> None:
        from flwr.supercore.control.control_http_client import ControlHttpClient
        from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor

        from fedsieve.transport.flower.login import ShowToken

        agreement = folder.agreement()
        _, port = check_address(agreement.address)
        self._folder, self._sites = folder, agreement.sites
        self._client = ControlHttpClient.from_server_address(
            f"{LOOPBACK}:{port}",
            insecure=False,
            root_certificates=(folder.server / "ca.crt").read_bytes(),
            interceptors=[
                RuntimeVersionHttpInterceptor(component_name="flwr CLI"),
                ShowToken(read_secret(folder.server / TOKEN)),
            ],
        )

    def nodes(self) -> dict[str, NodeState]:
        """The state of each site that is registered, found by its key."""
        wanted = {_pem(key): name for name, key in self._folder.public_keys(self._sites).items()}
        found = {}
        for node in self.listed():
            if node.public_key in wanted:
                found[wanted[node.public_key]] = NodeState(node.node_id, node.status, _moment(node.last_deactivated_at))
        return found

    def register(self) -> dict[str, NodeState]:
        """Make the engine know exactly the keys in the server's folder; keeps the numbers for the server's process."""
        wanted = {_pem(key) for key in self._folder.public_keys(self._sites).values()}
        known = {node.public_key: node.node_id for node in self.listed()}
        for key, node_id in known.items():
            if key not in wanted:
                self._call("UnregisterNode", node_id=node_id)
        for name, key in self._folder.public_keys(self._sites).items():
            if _pem(key) not in known:
                self._call("RegisterNode", public_key=_pem(key), name=name)
        nodes = self.nodes()
        write_json(self._folder.server / "nodes.json", {name: {"node": state.node} for name, state in nodes.items()})
        return nodes

    def start(self, run: str, app: Path = APP) -> int:
        """Let the engine start a run's server process; returns the engine's number for it."""
        from flwr.cli.build import build_fab_from_disk
        from flwr.common.serde import user_config_to_proto
        from flwr.proto.fab_pb2 import Fab

        fab = Fab(content=build_fab_from_disk(app))
        answer = self._call("StartRun", fab=fab, override_config=user_config_to_proto({"run": run}))
        if not answer.HasField("run_id"):
            raise EngineError("the engine did not start the run; see the server's log.")
        return int(answer.run_id)

    def run_state(self, number: int) -> tuple[str, str]:
        """The engine's status of a run, and its details."""
        answer = self._call("ListRuns", run_id=number)
        status = answer.run_dict[number].status
        return str(status.status), str(status.details)

    def stop(self, number: int) -> None:
        """End a run's server process."""
        self._call("StopRun", run_id=number)

    def listed(self) -> list[Any]:
        """All nodes that the engine knows, whosever they are."""
        answer = self._call("ListNodes")
        return [node for node in answer.nodes_info if node.status != UNREGISTERED]

    def _call(self, method: str, **fields: Any) -> Any:
        import httpx
        from flwr.proto import control_pb2

        request = getattr(control_pb2, f"{method}Request")(**fields)
        try:
            return getattr(self._client, method)(request)
        except httpx.TransportError as error:
            raise EngineError(
                f"the server of {self._folder.path} does not answer ({type(error).__name__}). "
                f"Is it running? fedsieve federation serve {self._folder.path} --labeled FILE"
            ) from None
        except httpx.HTTPStatusError as error:
            raise EngineError(f"the engine refused {method}: {error.response.text[:300]}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._client.close()


def _moment(text: str) -> datetime | None:
    """A time as the engine writes it; empty while there is none."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _pem(key: PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
