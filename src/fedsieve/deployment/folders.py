"""The folders of a federation's parties: what lies where, made with the rights that each file needs."""

import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.deployment import keys
from fedsieve.deployment.agreement import Agreement, read_agreement
from fedsieve.errors import DataError, ProtocolError
from fedsieve.files import write_atomically
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable, Table

AGREEMENT = "federation.toml"
OWNER_ONLY = 0o700


def make_private(folder: Path) -> Path:
    """A folder that only its owner may enter."""
    if not folder.parent.exists():
        make_private(folder.parent)
    folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
    folder.chmod(OWNER_ONLY)
    return folder


@dataclass(frozen=True)
class ServerFolder:
    """The operator's folder, as `fedsieve federation init` makes it."""

    path: Path

    def agreement(self) -> Agreement:
        """The agreement, checked."""
        if not (self.path / AGREEMENT).is_file():
            raise DataError(
                f"{self.path}: is no federation's folder. Make one: fedsieve federation init --out {self.path}"
            )
        return read_agreement(self.path / AGREEMENT)

    @property
    def server(self) -> Path:
        """All that stays with the server."""
        return self.path / "server"

    @property
    def sites(self) -> Path:
        """One folder and one tar per site, to hand over."""
        return self.path / "sites"

    def site(self, name: str) -> "SiteFolder":
        """The folder of a site before it is handed over."""
        return SiteFolder(self.sites / name)

    def public_key_file(self, site: str) -> Path:
        """Where the server keeps a site's public key."""
        return self.server / "keys" / f"{site}.pub"

    def public_keys(self, sites: tuple[str, ...]) -> dict[str, keys.PublicKey]:
        """The keys by which sites are known."""
        return {name: keys.read_public_key(self.public_key_file(name)) for name in sites}

    def write_labeled(self, X: Float, Y: Float) -> None:
        """Keep the labeled rows where the server's process finds them."""
        file = io.BytesIO()
        np.savez(file, X=X, Y=Y)
        write_atomically(
            self.server / "labeled.npz", lambda path: path.write_bytes(file.getbuffer()), mode=keys.PRIVATE
        )

    def labeled(self) -> Labeled:
        """The labeled rows that `serve` was given."""
        try:
            with np.load(self.server / "labeled.npz") as content:
                return Labeled(content["X"], content["Y"])
        except OSError:
            raise DataError(
                f"{self.path}: has no labeled rows yet. Start the server with: "
                f"fedsieve federation serve {self.path} --labeled FILE"
            ) from None

    def nodes(self) -> dict[str, int] | None:
        """The engine's number of each site, once `serve` has registered their keys."""
        file = self.server / "nodes.json"
        if not file.is_file():
            return None
        return {name: int(entry["node"]) for name, entry in json.loads(file.read_text(encoding="utf-8")).items()}


@dataclass(frozen=True)
class SiteFolder:
    """A site's folder: its name and key, the server's certificate authority, and a copy of the agreement."""

    path: Path

    def agreement(self) -> Agreement:
        """The agreement as this site knows it."""
        if not (self.path / "site.json").is_file():
            raise DataError(
                f"{self.path}: is no site's folder. Unpack the tar that the federation's operator gave you."
            )
        return read_agreement(self.path / AGREEMENT)

    @property
    def name(self) -> str:
        """This site's name."""
        return str(json.loads((self.path / "site.json").read_text(encoding="utf-8"))["name"])

    @property
    def prepared(self) -> Path:
        """Where the rows lie while the site takes part, checked and in the agreement's order."""
        return self.path / "prepared"

    @property
    def results(self) -> Path:
        """Where results arrive, one folder per run."""
        return self.path / "results"

    def write_rows(self, features: tuple[str, ...], X: Float, Y: Float | None = None) -> None:
        """Keep the checked rows, and labels where the method needs them here, for the processes that answer."""
        make_private(self.prepared)
        for name, values in (("rows.npy", X), ("labels.npy", Y)):
            if values is not None:
                self._save(name, values)
        consent = {"features": list(features), "agreement": self.agreement().fingerprint}
        write_json(self.prepared / "consent.json", consent, mode=keys.PRIVATE)

    def rows(self) -> Table:
        """The prepared rows, for the agreement under which they were given and no other."""
        consent = json.loads((self.prepared / "consent.json").read_text(encoding="utf-8"))
        agreement = self.agreement()
        if consent["agreement"] != agreement.fingerprint:
            raise ProtocolError("its agreement changed since it consented. It must join again.")
        features, X = tuple(consent["features"]), np.load(self.prepared / "rows.npy")
        if not agreement.method.sites_hold_labels:
            return ArrayTable(features, X)
        return ArrayTable(features, X, agreement.labels, np.load(self.prepared / "labels.npy"))

    def _save(self, name: str, values: Float) -> None:
        def save(path: Path) -> None:
            with path.open("wb") as file:
                np.save(file, np.ascontiguousarray(values))

        write_atomically(self.prepared / name, save, mode=keys.PRIVATE)

    def pack(self, tar: Path) -> None:
        """The folder as a tar to hand over, with the rights of its files."""

        def write(path: Path) -> None:
            with tarfile.open(path, "w") as archive:
                archive.add(self.path, arcname=self.path.name, filter=_handed_over)

        write_atomically(tar, write, mode=keys.PRIVATE)


def write_json(path: Path, content: Any, *, mode: int | None = None) -> None:
    """Write plain values in one step."""
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    write_atomically(path, lambda file: file.write_text(text, encoding="utf-8"), mode=mode)


def _handed_over(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Only what belongs to every site's folder travels, and nobody's user name with it."""
    kept = {"site.json", AGREEMENT, "ca.crt", "operator.pub", "site.key", "site.pub"}
    parts = Path(entry.name).parts
    if len(parts) > 1 and parts[1] not in kept:
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
