"""A site's folder: what lies where, made with the rights that each file needs."""

import hashlib
import json
import os
import shutil
import tarfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.deployment import keys
from fedsieve.deployment.agreement import Agreement, read_agreement
from fedsieve.deployment.folders import (
    AGREEMENT,
    FROM_OPERATOR,
    IDENTITY,
    SERVER,
    make_private,
    open_to_others,
    write_json,
)
from fedsieve.deployment.stored_rows import LARGE, StoredRows, write_columns
from fedsieve.errors import DataError, ProtocolError
from fedsieve.files import write_atomically
from fedsieve.privacy import HeldBack, Views, held_back
from fedsieve.privacy.held_back import ColumnRanges
from fedsieve.protocol.parties import rows_seed
from fedsieve.reading import read_array, read_json
from fedsieve.tables import ArrayTable, SideBySide, Table
from fedsieve.values import dense

HELD_BACK = "held-back.json"
INCOMING = "incoming-"  # and the process whose rows they are
ROWS = "rows.npy"
KNOWN = "known-labels.npy"  # of a method whose sites need none
JOIN_AGAIN = "Leave (Ctrl-C) and join again."


@dataclass(frozen=True)
class SiteFolder:
    """A site's folder: its own name and key, and the operator's: certificate authority, key, copy of the agreement."""

    path: Path

    def agreement(self) -> Agreement:
        """The agreement as this site knows it."""
        if not (self.path / "site.json").is_file():
            raise DataError(f"{self.path}: {self._why_no_site()}")
        if not (self.path / AGREEMENT).is_file():
            raise DataError(
                f"{self.path}: has no agreement yet. Send {self.name}.request to the operator, and unpack the tar that "
                f"comes back: fedsieve federation unpack {self.name}.tar {self.path}"
            )
        return read_agreement(self.path / AGREEMENT)

    def _why_no_site(self) -> str:
        unpacked_over = "over the folder that 'fedsieve federation request' made, where site.key lies"
        if self.path.is_file():
            return f"is a file, no site's folder. Unpack what the operator sent {unpacked_over}, and name that folder."
        if (self.path / SERVER).is_dir():
            return "is the operator's folder, and this command is a site's. Name the folder of the site."
        if (self.path / AGREEMENT).is_file():
            return f"holds an agreement, but no key of a site. Unpack the tar {unpacked_over}, and name that folder."
        return f"is no site's folder. Make one: fedsieve federation request --name NAME --out {self.path}"

    @property
    def name(self) -> str:
        """This site's name."""
        way_out = 'It holds one line, {"name": "NAME"}, with the name that this site has in the agreement.'
        return str(read_json(self.path / "site.json", {"name": str}, way_out=way_out)["name"])

    @property
    def prepared(self) -> Path:
        """Where the rows lie while the site takes part, checked and in the agreement's order."""
        return self.path / "prepared"

    @property
    def ledger(self) -> Path:
        """What the site remembers across runs and joins."""
        return self.path / "ledger"

    @property
    def results(self) -> Path:
        """Where results arrive, one folder per run."""
        return self.path / "results"

    def close_to_others(self) -> list[Path]:
        """Make the folder its owner's alone, however it was unpacked; returns what was open, refuses what stays so."""
        parts = [self.path, self.prepared, self.results]
        return [make_private(folder) for folder in parts if folder.is_dir() and open_to_others(folder)]

    def write_rows(self, features: tuple[str, ...], X: Float, Y: Float | None = None) -> None:
        """Keep the checked rows, and labels where the method needs them here, for the processes that answer."""
        make_private(self.prepared)
        for name, values in ((ROWS, X), ("labels.npy", Y)):
            if values is not None:
                self._save(name, values)
        self._write_consent(features)

    def _write_consent(self, features: Sequence[str]) -> None:
        consent = {"features": list(features), "agreement": self.agreement().fingerprint}
        write_json(self.prepared / "consent.json", consent, mode=keys.PRIVATE)

    def write_table(self, rows: Table) -> None:
        """The same of a table that may be larger than memory; what was stored for it in this folder is moved."""
        if not rows.streamed:
            method = self.agreement().method
            labels = self.agreement().labels if method.sites_hold_labels else ()
            X = dense(rows.whole(method.features))
            self.write_rows(method.features, X, dense(rows.whole(labels)) if labels else None)
            return
        make_private(self.prepared)
        file = self.prepared / ROWS
        if isinstance(rows, StoredRows) and rows.path.parent == self.incoming:
            rows.path.replace(file)
        else:
            write_atomically(file, lambda path: write_columns(path, rows), mode=keys.PRIVATE)
        self._write_consent(rows.names)

    def store(self, rows: Table) -> StoredRows:
        """A streamed table as numbers in this folder: from there every pass is fast, and no other file is read."""
        shutil.rmtree(self.incoming, ignore_errors=True)
        file = make_private(self.incoming) / ROWS
        write_atomically(file, lambda path: write_columns(path, rows), mode=keys.PRIVATE)
        return StoredRows(file, rows.names)

    @property
    def incoming(self) -> Path:
        """Where the rows of a large file lie until the site takes part."""
        return self.path / f"{INCOMING}{os.getpid()}"

    def write_known_labels(self, known: Float) -> None:
        """Keep what is known of the labels besides, NaN where nothing is, for what may follow a run."""
        make_private(self.prepared)
        self._save(KNOWN, known)

    def rows(self) -> Table:
        """The prepared rows, for the agreement under which they were given and no other."""
        kinds = {"features": list[str], "agreement": str}
        consent = read_json(self.prepared / "consent.json", kinds, way_out=JOIN_AGAIN)
        agreement = self.agreement()
        if consent["agreement"] != agreement.fingerprint:
            raise ProtocolError("its agreement changed since it consented. It must join again.")
        features, file = tuple(consent["features"]), self.prepared / ROWS
        if file.is_file() and file.stat().st_size >= LARGE and not agreement.method.sites_hold_labels:
            return StoredRows(file, features, way_out=JOIN_AGAIN).drawing_from(self.rows_seed())
        X = read_array(file, way_out=JOIN_AGAIN)
        if not agreement.method.sites_hold_labels:
            return ArrayTable(features, X)
        return ArrayTable(features, X, agreement.labels, read_array(self.prepared / "labels.npy", way_out=JOIN_AGAIN))

    def rows_seed(self) -> bytes:
        """From which this site draws the rows of a large table that it compares."""
        return rows_seed(keys.secret_of(keys.read_private_key(self.path / "site.key")))

    def rows_with_labels(self) -> Table:
        """The prepared rows with all labels that are known here, NaN where one is not; without them where none is."""
        rows, agreement = self.rows(), self.agreement()
        file = self.prepared / KNOWN
        if agreement.method.sites_hold_labels or not file.is_file():
            return rows
        return SideBySide(rows, ArrayTable(agreement.labels, read_array(file, way_out=JOIN_AGAIN)))

    def held_back(
        self,
        rows: Table,
        min_cell: int,
        ranges: ColumnRanges | None = None,
        views: Views | None = None,
        new: Sequence[Bool] = (),
    ) -> HeldBack:
        """What is held back of these rows, seen in this way; looked for once while the site takes part."""
        nominal = self.agreement().method.nominal
        asked = [sorted((some or {}).items()) for some in (ranges, views)]
        masks = [hashlib.sha256(np.packbits(some).tobytes()).hexdigest() for some in new]
        about = [rows_digest(rows), rows.seed.hex(), sorted(nominal), min_cell, *asked, masks]
        what = hashlib.sha256(json.dumps(about).encode()).hexdigest()
        file = self.prepared / (f"held-back-{what[:16]}.json" if ranges or views else HELD_BACK)
        if file.is_file():
            kept = read_json(file, {"what": str}, way_out=JOIN_AGAIN)
            if kept.pop("what") == what:
                return HeldBack(**kept)
        held = held_back(rows, nominal, min_cell, ranges, views, new)
        write_json(file, {"what": what, **asdict(held)}, mode=keys.PRIVATE)
        return held

    def _save(self, name: str, values: Float) -> None:
        def save(path: Path) -> None:
            with path.open("wb") as file:
                np.save(file, np.asfortranarray(values) if values.nbytes >= LARGE else np.ascontiguousarray(values))

        write_atomically(self.prepared / name, save, mode=keys.PRIVATE)

    def pack(self, tar: Path) -> None:
        """The folder as a tar to hand over, with the rights of its files."""

        def write(path: Path) -> None:
            with tarfile.open(path, "w") as archive:
                archive.add(self.path, arcname=self.path.name, filter=_handed_over)

        write_atomically(tar, write, mode=keys.PRIVATE)


@lru_cache(maxsize=1)
def rows_digest(rows: Table) -> str:
    """One table's own digest: what was found out about other rows must never be taken for what these need.

    A process that answers has one table, and asks about it several times.
    """
    digest = hashlib.sha256(json.dumps([rows.names, rows.n_rows]).encode())
    for batch in rows.batches(rows.names):
        digest.update(np.ascontiguousarray(dense(batch), dtype=np.float64).tobytes())
    return digest.hexdigest()


def _handed_over(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Only what belongs to every site's folder travels, and nobody's user name with it."""
    parts = Path(entry.name).parts
    if len(parts) > 1 and parts[1] not in {*FROM_OPERATOR, *IDENTITY}:
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
