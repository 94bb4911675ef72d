"""A run as one of its sites knows it afterwards: what it selected, and that this site took part in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsieve.deployment.after_run import check_allowed
from fedsieve.deployment.consent import ReleasedRows
from fedsieve.deployment.ledger import Ledger
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import ProtocolError
from fedsieve.methods.follow_ups import FOLLOW_UPS
from fedsieve.protocol.follow_up import FollowUp, is_attempt_of, run_followed
from fedsieve.selection_file import JSON, read_selection


@dataclass(frozen=True)
class FollowedRun:
    """A run whose result this site was given."""

    folder: SiteFolder
    run: str

    @classmethod
    def chosen(cls, folder: SiteFolder, run: str | None = None) -> "FollowedRun":
        """The one of that id, or the last one, whose result arrived."""
        runs = sorted(path.parent.name for path in folder.results.glob(f"*/{JSON}"))
        if not runs:
            raise ProtocolError(
                f"{folder.path}: has no result of a run yet. One comes at the end of a run in which this site takes "
                f"part: fedsieve federation join {folder.path} --data FILE"
            )
        if run is not None and run not in runs:
            raise ProtocolError(f"{folder.path}: has no result of a run {run!r}. Known: {', '.join(runs[-5:])}.")
        return cls(folder, run or runs[-1])

    def selected(self) -> list[str]:
        """The columns that it selected, best first."""
        file = self.folder.results / Path(self.run).name / JSON
        if not file.is_file():
            raise ProtocolError(f"has no result of a run {self.run!r}, so that nothing can follow it here.")
        record = read_selection(file, whole=True)
        federation: Any = record.get("federation")
        agreement = self.folder.agreement()
        if not isinstance(federation, dict) or federation.get("agreement") != agreement.fingerprint:
            raise ProtocolError(f"run {self.run!r} was under another agreement than it holds now. Start a new run.")
        if not any(is_attempt_of(entry["run"], self.run) for entry in Ledger(self.folder.ledger).runs()):
            raise ProtocolError(f"has answered nothing in a run {self.run!r}, so that nothing can follow it here.")
        selected: list[str] = record["selected"]
        return selected

    def follow_up(self, what: str) -> FollowUp:
        """What may follow it, on the columns that it selected; raises `ProtocolError` where nothing may."""
        agreement = self.folder.agreement()
        check_allowed(agreement.after, what)
        return FOLLOW_UPS[what].after(agreement.method, self.selected(), agreement.labels)

    def released(self, method: FollowUp) -> ReleasedRows:
        """What would leave of the prepared rows, as a consent names it."""
        agreement, rows = self.folder.agreement(), self.folder.rows()
        digest = Ledger(self.folder.ledger, lambda: agreement.words).digest(rows)
        columns, n_bytes = method.columns_read, method.n_bytes(rows.n_rows)
        return ReleasedRows(self.run, agreement.fingerprint, columns, rows.n_rows, n_bytes, digest)


def followed(folder: SiteFolder, name: str) -> tuple[FollowedRun, str]:
    """The run that a letter under this name is about, and what follows it."""
    run, what = run_followed(name)
    if not run or what not in FOLLOW_UPS:
        raise ProtocolError(f"was asked for {name!r}, which names nothing that follows a run.")
    return FollowedRun(folder, run), what
