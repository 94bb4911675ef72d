"""The operator's folder: what lies where, made with the rights that each file needs."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedsieve.arrays import Float
from fedsieve.deployment import keys
from fedsieve.deployment.agreement import Agreement, read_agreement
from fedsieve.deployment.folders import AGREEMENT, SERVER
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, listed
from fedsieve.files import write_atomically
from fedsieve.messages.columns import Bins
from fedsieve.protocol import Labeled
from fedsieve.reading import read_arrays, read_json

NODES_ANEW = "Stop 'fedsieve federation serve' and start it again, which writes the file anew."
SERVES = "serve.lock"  # at the server, held by the command that serves


@dataclass(frozen=True)
class ServerFolder:
    """The operator's folder, as `fedsieve federation init` makes it."""

    path: Path

    def agreement(self) -> Agreement:
        """The agreement, checked."""
        if not self.server.is_dir() and (self.path / "operator.pub").is_file():
            raise DataError(
                f"{self.path}: is a site's folder, and this command is the operator's. Name the folder that "
                "'fedsieve federation init' made."
            )
        if not (self.path / AGREEMENT).is_file():
            raise DataError(
                f"{self.path}: is no federation's folder. Make one: fedsieve federation init --out {self.path}"
            )
        return read_agreement(self.path / AGREEMENT)

    @property
    def server(self) -> Path:
        """All that stays with the server."""
        return self.path / SERVER

    @property
    def sites(self) -> Path:
        """One folder and one tar per site, to hand over."""
        return self.path / "sites"

    def site(self, name: str) -> SiteFolder:
        """The folder of a site before it is handed over."""
        return SiteFolder(self.sites / name)

    def public_keys(self, sites: tuple[str, ...]) -> dict[str, keys.PublicKey]:
        """The keys by which those of the sites are known that have one."""
        members = self.agreement().members
        return {name: keys.public_key(members[name]) for name in sites if members.get(name)}

    def write_labeled(self, X: Float, Y: Float) -> None:
        """Keep the labeled rows where the server's process finds them."""
        file = io.BytesIO()
        np.savez(file, X=X, Y=Y)
        write_atomically(
            self.server / "labeled.npz", lambda path: path.write_bytes(file.getbuffer()), mode=keys.PRIVATE
        )

    def labeled(self) -> Labeled:
        """The labeled rows that `serve` was given."""
        file, start = self.server / "labeled.npz", f"fedsieve federation serve {self.path} --labeled FILE"
        if not file.is_file():
            raise DataError(f"{self.path}: has no labeled rows yet. Start the server with: {start}")
        X, Y = read_arrays(file, ("X", "Y"), way_out=f"Start the server again: {start}")
        return Labeled(X, Y)

    def bins(self, agreement: str, make: Callable[[], Bins]) -> Bins:
        """The bins of all runs under an agreement: as the first run made them, though the labeled rows may change."""
        file = self.server / f"bins-{agreement}.npz"
        if not file.is_file():
            made, content = make(), io.BytesIO()
            np.savez(content, edges=made.edges, n_edges=made.n_edges)
            write_atomically(file, lambda path: path.write_bytes(content.getbuffer()), mode=keys.PRIVATE)
        edges, n_edges = read_arrays(file, ("edges", "n_edges"), way_out="Delete it; sites then need a new agreement.")
        return Bins(edges, n_edges.astype(np.int64))

    def nodes(self) -> dict[str, int] | None:
        """The engine's number of each site, once `serve` has registered their keys."""
        file = self.server / "nodes.json"
        if not file.is_file():
            return None
        nodes = read_json(file, way_out=NODES_ANEW)
        if not isinstance(nodes, dict) or not all(isinstance(entry, dict) for entry in nodes.values()):
            raise DataError(f"{file}: must be an object with an entry per site. {NODES_ANEW}")
        wrong = [name for name, entry in nodes.items() if type(entry.get("node")) is not int]
        if wrong:
            raise DataError(f"{file}: names no node (int) of {listed(wrong)}. {NODES_ANEW}")
        return {name: entry["node"] for name, entry in nodes.items()}
