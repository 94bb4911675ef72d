"""What a joined site remembers, in files of its own folder: each message may be met by a new process."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from fedsieve.arrays import Float
from fedsieve.deployment import keys
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.folders import make_private
from fedsieve.deployment.ledger import Changes, Ledger
from fedsieve.deployment.site_folder import JOIN_AGAIN, SiteFolder
from fedsieve.deployment.spent_noise import SpentNoise
from fedsieve.deployment.told_cohorts import ToldCohort, ToldCohorts
from fedsieve.errors import ProtocolError
from fedsieve.files import write_atomically
from fedsieve.messages import Memory
from fedsieve.privacy import Pins, Policy, Story, Told, Views
from fedsieve.protocol.parties import secret_seed
from fedsieve.reading import read_array
from fedsieve.tables import Table


class FolderState:
    """What a site remembers, for its own eyes only.

    Values and answers lie in the folder that is removed when it leaves; stories and the ledger stay.
    """

    def __init__(
        self,
        folder: SiteFolder,
        policy: Callable[[], Policy],
        *,
        has_rows: bool = True,
        rows: Callable[[], Table] | None = None,
    ) -> None:
        self._folder, self._policy, self._has_rows = folder, policy, has_rows
        self._rows = rows or folder.rows  # that are answered for
        self._ledger = Ledger(folder.ledger, lambda: folder.agreement().words)

    def memory(self, run: str) -> Memory:
        """Files of one run."""
        key = self._folder.path / "site.key"
        return _FileMemory(self._folder.prepared, Path(run).name, lambda: keys.secret_of(keys.read_private_key(key)))

    def story(self, run: str) -> Story:
        """From the ledger."""
        return self._ledger.story(run)

    def keep_story(self, run: str, story: Story) -> None:
        """In the ledger."""
        self._ledger.keep_story(run, story)

    def answer(self, run: str, digest: str) -> bytes | None:
        """From its file."""
        file = self._answer_file(run, digest)
        return file.read_bytes() if file.is_file() else None

    def keep_answer(self, run: str, digest: str, payload: bytes) -> None:
        """In a file of its own."""
        file = self._answer_file(run, digest)
        make_private(file.parent)
        write_atomically(file, lambda path: path.write_bytes(payload), mode=keys.PRIVATE)

    def lasting(self) -> Pins:
        """Of the present agreement."""
        return self._ledger.lasting(self._folder.agreement().fingerprint)

    def keep_lasting(self, pins: Pins) -> None:
        """Of the present agreement."""
        self._ledger.keep_lasting(self._folder.agreement().fingerprint, pins)

    def views(self) -> Views:
        """From the ledger."""
        return self._ledger.views()

    def keep_views(self, views: Views) -> None:
        """In the ledger."""
        self._ledger.keep_views(views)

    def told(self) -> Told:
        """From the ledger."""
        return self._ledger.told()

    def keep_told(self, told: Told) -> None:
        """In the ledger."""
        self._ledger.keep_told(told)

    def n_changed(self) -> int:
        """From the ledger."""
        return self.changes().least

    def changes(self) -> Changes:
        """How the site's rows differ from all that it has answered for, where its policy minds."""
        if not self._has_rows or self._policy().min_difference_rows <= 1:
            return Changes()
        return self._changes

    @cached_property
    def _changes(self) -> Changes:
        return self._ledger.changes(self._rows())

    def vault(self, run: str) -> "FolderVault":
        """Files of one run."""
        return FolderVault(self._vaults / Path(run).name)

    def end_sums(self, run: str, why: str) -> None:
        """Forget a run's secrets; the story says first that it is over, and why."""
        self.keep_story(run, replace(self.story(run), ended=why))
        shutil.rmtree(self._vaults / Path(run).name, ignore_errors=True)

    def end_other_sums(self, run: str) -> None:
        """Of runs that failed, or were left alone, nobody would ever ask the rest."""
        for folder in self._vaults.glob("*"):
            if folder.name != Path(run).name:
                self.end_sums(folder.name, "has begun a later run of secure sums since this one")

    def check_cohort(self, run: str, sites: tuple[str, ...]) -> None:
        """By the ledger."""
        rows, least = self._ledger.digest(self._rows()), self._policy().min_difference_sites
        reason = ToldCohorts(self._folder.ledger).why_too_alike(run, sites, rows, least)
        if reason:
            raise ProtocolError(reason)

    def keep_cohort(self, run: str, sites: tuple[str, ...], told_of: str) -> None:
        """In the ledger."""
        rows = self._ledger.digest(self._rows())
        ToldCohorts(self._folder.ledger).keep(ToldCohort(run, sites, rows, told_of))

    def check_consent(self, run: str) -> None:
        """By the record of consent, and the runs that the ledger counts under it."""
        self._consent(run)

    def admit(self, run: str) -> None:
        """Entered in the ledger, with the rows as they are in the site's own file, once consent is seen to cover it.

        Under noise rows are not compared with earlier ones: the budget covers what answers about both tell.
        """
        private = self._folder.agreement().method.private
        rows = self._rows() if self._has_rows and not private else None
        agreement, consent = self._folder.agreement().fingerprint, self._consent(run)
        self._ledger.admit(run, agreement, self._policy(), rows, consent=consent)

    def _consent(self, run: str) -> float | None:
        """The consent that covers a run; raises where there is none. An edge server has no rows to consent for."""
        if not self._has_rows:
            return None
        record = ConsentRecord(self._folder.path)
        since = record.since()
        reason = record.allowed_now(run, self._ledger.runs_under(since))
        if reason:
            raise ProtocolError(reason)
        return since

    def spend(self, run: str, digest: str, multiplier: float) -> None:
        """Entered in the ledger of all runs and agreements."""
        agreement = self._folder.agreement().fingerprint
        SpentNoise(self._folder.ledger).spend(run, agreement, digest, multiplier, self._policy())

    @property
    def _vaults(self) -> Path:
        return self._folder.prepared / "sums"

    def _answer_file(self, run: str, digest: str) -> Path:
        return self._folder.prepared / "answers" / Path(run).name / digest


class FolderVault:
    """What a site keeps of one run's secure sums, each a file that only it can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, name: str, data: bytes) -> None:
        """In a file of its own."""
        make_private(self._folder)
        write_atomically(self._file(name), lambda path: path.write_bytes(data), mode=keys.PRIVATE)

    def recall(self, name: str) -> bytes | None:
        """From its file."""
        file = self._file(name)
        return file.read_bytes() if file.is_file() else None

    def remove(self, name: str) -> None:
        """The file."""
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self._folder / name.replace(" ", "-")


class _FileMemory:
    def __init__(self, folder: Path, run: str, secret: Callable[[], bytes]) -> None:
        self._folder, self._run, self._secret = folder, run, secret

    @property
    def seed(self) -> bytes:
        return secret_seed(self._secret(), self._run)

    def keep(self, name: str, values: Float) -> None:
        def save(path: Path) -> None:
            with path.open("wb") as file:
                np.save(file, values)

        write_atomically(self._file(name), save, mode=keys.PRIVATE)

    def recall(self, name: str) -> Float | None:
        file = self._file(name)
        if not file.is_file():
            return None
        return read_array(file, way_out=JOIN_AGAIN)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name.replace(' ', '-')}-{self._run}.npy"
