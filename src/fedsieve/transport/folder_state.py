"""What a joined site remembers, in files of its own folder: each message may be met by a new process."""

import shutil
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import numpy as np

from fedsieve.arrays import Float
from fedsieve.deployment import keys
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.folders import JOIN_AGAIN, SiteFolder, make_private
from fedsieve.deployment.ledger import Changes, Ledger
from fedsieve.errors import ProtocolError
from fedsieve.files import write_atomically
from fedsieve.messages import Memory
from fedsieve.privacy import Pins, Policy, Story, Views
from fedsieve.reading import read_array


class FolderState:
    """What a site remembers, for its own eyes only.

    Values and answers lie in the folder that is removed when it leaves; stories and the ledger stay.
    """

    def __init__(self, folder: SiteFolder, policy: Callable[[], Policy], *, has_rows: bool = True) -> None:
        self._folder, self._policy, self._has_rows = folder, policy, has_rows
        self._ledger = Ledger(folder.ledger)

    def memory(self, run: str) -> Memory:
        """Files of one run."""
        return _FileMemory(self._folder.prepared, Path(run).name)

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
        return self._ledger.changes(self._folder.rows())

    def vault(self, run: str) -> "FolderVault":
        """Files of one run."""
        return FolderVault(self._folder.prepared / "sums" / Path(run).name)

    def end_sums(self, run: str) -> None:
        """Files of one run."""
        shutil.rmtree(self._folder.prepared / "sums" / Path(run).name, ignore_errors=True)

    def check_cohort(self, run: str, sites: tuple[str, ...]) -> None:
        """By the ledger."""
        reason = self._ledger.why_too_alike_cohort(run, sites, self._policy(), self._folder.rows())
        if reason:
            raise ProtocolError(reason)

    def keep_cohort(self, run: str, sites: tuple[str, ...]) -> None:
        """In the ledger."""
        self._ledger.keep_cohort(run, sites, self._folder.rows())

    def admit(self, run: str) -> None:
        """Entered in the ledger, with the rows as they are in the site's own file, once consent is seen to cover it."""
        rows = self._folder.rows() if self._has_rows else None
        if self._has_rows:
            consent = ConsentRecord(self._folder.path)
            reason = consent.allowed_now(run, self._ledger.runs_since(consent.since()))
            if reason:
                raise ProtocolError(reason)
        self._ledger.admit(run, self._folder.agreement().fingerprint, self._policy(), rows)

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
    def __init__(self, folder: Path, run: str) -> None:
        self._folder, self._run = folder, run

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
