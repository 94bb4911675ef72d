"""The engine of a joined site: its node and executor, the listener between them, and whether it can still answer."""

import ssl
import time
from dataclasses import dataclass
from pathlib import Path

from fedsieve.deployment import keys
from fedsieve.deployment.folders import make_private
from fedsieve.deployment.lease import LEASE, new_lease
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.transport.flower.engine import (
    BELOW,
    LOOPBACK,
    SITE,
    TASK_SECRET,
    EngineError,
    EngineProcess,
    environment,
    free_port,
    superexec_command,
    supernode_command,
)
from fedsieve.transport.flower.guard import put_guards
from fedsieve.transport.flower.listener import greet_tls
from fedsieve.transport.flower.secret import TASKS, check_strangers_are_refused, new_secret
from fedsieve.transport.flower.warm import CLIENT, kept_ready

LOCAL_DAYS = 3650  # of the listener's certificate: longer than any `join` lives
START_SECONDS = 60
CHECK_SECONDS = 20  # from one look at the listener to the next
FORGOTTEN_SECONDS = 75  # for so long the server takes a node that was killed for online, and a bit
PATIENCE = 3  # looks that may fail one after the other, on a busy machine


@dataclass
class SiteNode:
    """Both processes of a site that has joined."""

    site: SiteFolder
    node: EngineProcess
    executor: EngineProcess
    port: int
    failed_looks: int = 0
    looked: float = 0

    @classmethod
    def start(cls, site: SiteFolder, log_file: Path, *, guarded: bool = True, below: Path | None = None) -> "SiteNode":
        """Start them for rows that are prepared, or for the sites of an edge server's own federation.

        Unguarded only where the app is another one, in a measurement.
        """
        make_private(site.prepared)
        make_local_certificate(site)
        authority, secret, port = site.prepared / "local-ca.crt", new_secret(site.prepared / TASK_SECRET), free_port()
        env = {
            **environment(site.path / "engine", first=put_guards(site) if guarded else None),
            SITE: str(site.path.absolute()),
            LEASE: new_lease(site),
            **({} if below is None else {BELOW: str(below.absolute())}),
            **kept_ready(CLIENT if guarded else ""),
        }
        node = EngineProcess.start(supernode_command(site, port), env, _pid_file(site), log_file)
        try:
            _wait_for_listener(node, port, authority)
            check_strangers_are_refused(port, authority, TASKS)
            command = superexec_command(port, authority, secret)
            executor = EngineProcess.start(command, env, site.path / "superexec.pid", log_file)
        except BaseException:
            node.stop()
            raise
        return cls(site, node, executor, port)

    @property
    def left(self) -> bool:
        """Whether the node has ended: it does when the server does not let it in, or not any more."""
        return self.node.process.poll() is not None

    def check(self) -> None:
        """Raise if this site looks online and cannot answer."""
        self.executor.check()
        if time.monotonic() - self.looked < CHECK_SECONDS:
            return
        self.looked = time.monotonic()
        try:
            greet_tls(LOOPBACK, self.port, self.site.prepared / "local-ca.crt")
            self.failed_looks = 0
        except ssl.SSLCertVerificationError as error:
            raise EngineError(
                f"{self.site.name} cannot answer: the certificate between its own processes is no longer good "
                f"({error.verify_message}). Is this machine's clock right? Join again."
            ) from None
        except OSError as error:
            self.failed_looks += 1
            if self.failed_looks >= PATIENCE:
                raise EngineError(
                    f"{self.site.name} cannot answer: its own node does not ({type(error).__name__}). Join again. "
                    f"Log: {self.node.log_file}"
                ) from None

    def stop(self) -> None:
        """End both; first the one that starts others."""
        self.executor.stop()
        self.node.stop()


def was_killed(site: SiteFolder) -> bool:
    """Whether the site's last node ended without taking leave of the server, as after a loss of power."""
    return _pid_file(site).exists()


def _pid_file(site: SiteFolder) -> Path:
    return site.path / "supernode.pid"


def make_local_certificate(site: SiteFolder) -> None:
    """Make a certificate for the engine's own listener on loopback, a new one at every start."""
    authority = keys.new_authority(site.name, LOCAL_DAYS)
    key, certificate = keys.new_certificate(authority, [LOOPBACK], LOCAL_DAYS)
    keys.write_certificate(authority[1], site.prepared / "local-ca.crt")
    keys.write_certificate(certificate, site.prepared / "local.crt")
    keys.write_private_key(key, site.prepared / "local.key", ssh=False)


def _wait_for_listener(node: EngineProcess, port: int, authority: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        node.check()
        try:
            greet_tls(LOOPBACK, port, authority)
            return
        except OSError as error:
            if time.monotonic() > end:
                raise EngineError(f"the engine's node did not start: {type(error).__name__}.") from None
            time.sleep(0.1)
