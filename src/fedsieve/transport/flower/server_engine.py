"""The engine of a federation's server: its meeting place and executor, and the login that keeps other accounts out."""

from dataclasses import dataclass
from pathlib import Path

from fedsieve.deployment.agreement import check_address
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.transport.flower.control import TOKEN
from fedsieve.transport.flower.engine import (
    CONTROL_TOKEN,
    FEDERATION,
    TASK_SECRET,
    EngineProcess,
    environment,
    superexec_command,
    superlink_command,
)
from fedsieve.transport.flower.secret import CONTROL, TASKS, check_strangers_are_refused, new_secret
from fedsieve.transport.flower.warm import SERVER, kept_ready


@dataclass
class ServerEngine:
    """Both processes of a server."""

    folder: ServerFolder
    link: EngineProcess
    executor: EngineProcess

    @classmethod
    def start(cls, folder: ServerFolder, host: str, log_file: Path) -> "ServerEngine":
        """Start them; who knew the token or secret of an earlier server is locked out."""
        server = folder.server
        token, secret = new_secret(server / TOKEN), new_secret(server / TASK_SECRET)
        env = {**environment(server / "engine"), FEDERATION: str(folder.path.absolute()), **kept_ready(SERVER)}
        own = {**env, CONTROL_TOKEN: str(token.absolute())}
        link = EngineProcess.start(superlink_command(folder, host), own, server / "superlink.pid", log_file)
        try:
            _, port = check_address(folder.agreement().address)
            command = superexec_command(port, server / "ca.crt", secret)
            executor = EngineProcess.start(command, env, server / "superexec.pid", log_file)
        except BaseException:
            link.stop()
            raise
        return cls(folder, link, executor)

    def check_login(self) -> None:
        """Raise if another account of this machine could act as the operator, or take the server's tasks."""
        _, port = check_address(self.folder.agreement().address)
        check_strangers_are_refused(port, self.folder.server / "ca.crt", CONTROL, TASKS)

    def check(self) -> None:
        """Raise if one of them ended."""
        self.link.check()
        self.executor.check()

    def stop(self) -> None:
        """End both; first the one that starts others."""
        self.executor.stop()
        self.link.stop()
