"""What is kept longer than needed, and its deletion: sites' replies and totals at the server, old results at a site.

Records (`what-left.jsonl`, `consent.jsonl`), rules, keys and the server's results are never touched.
"""

import shutil
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fedsieve.checks import check_count
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.ledger import DAY
from fedsieve.deployment.runs import AFTER, RunFolder
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, ParameterError, ProtocolError, listed


@dataclass(frozen=True)
class Kept:
    """What is kept of one run."""

    run: str
    path: Path
    what: str
    delete: Callable[[], None]
    busy: bool = False  # of a run that is led now

    @property
    def n_bytes(self) -> int:
        """Of all files."""
        return folder_size(self.path)

    @property
    def age_days(self) -> float:
        """Since something was last added."""
        return (time.time() - self.path.stat().st_mtime) / DAY


def kept_in(folder: Path) -> list[Kept]:
    """What is kept in a party's folder, oldest run first; tells the server's from a site's."""
    if (folder / "site.json").is_file():
        places = sorted(path for path in SiteFolder(folder).results.glob("*") if path.is_dir())
        return [Kept(path.name, path, "a result", partial(shutil.rmtree, path)) for path in places]
    if (folder / AGREEMENT).is_file() and ServerFolder(folder).server.is_dir():
        runs = [RunFolder(path) for path in sorted((ServerFolder(folder).server / "runs").glob("*"))]
        after = [RunFolder(path) for path in sorted((ServerFolder(folder).server / AFTER).glob("*"))]
        return [one for run in (*runs, *after) for one in _of_run(run)]
    raise DataError(f"{folder}: is no federation's and no site's folder. Name the one of 'init' or of 'join'.")


def _of_run(run: RunFolder) -> Iterator[Kept]:
    if run.replies.is_dir():
        yield _replies(run)
    if run.totals.is_file():
        what = "totals over all sites, for 'fedsieve rerank'"
        yield Kept(run.id, run.totals, what, run.purge_totals, run.leader() is not None)
    if run.rows.is_dir():
        what = "rows of sites that 'fedsieve federation collect' has not handed over"
        yield Kept(run.id, run.rows, what, run.purge_rows, run.leader() is not None)


def _replies(run: RunFolder) -> Kept:
    busy = run.leader() is not None
    if busy:
        what = "replies of a run that goes on"
    elif not run.has_ended:
        what = "replies of a run without a result, which cannot be resumed without them"
    else:
        what = "replies, kept on purpose"
    return Kept(run.id, run.replies, what, run.purge_replies, busy)


def chosen(kept: list[Kept], runs: Collection[str], older_than: int | None, everything: bool) -> list[Kept]:
    """Those that were named, or are old enough, or all; a run that goes on is refused by name, else passed over."""
    if sum((bool(runs), older_than is not None, everything)) != 1:
        raise ParameterError("purge needs one of --runs ID,ID, --older-than DAYS and --all, to know what to delete.")
    if older_than is not None:
        check_count("", "--older-than", older_than, 0)
    known = {one.run: one.busy for one in kept}
    if unknown := [name for name in runs if name not in known]:
        raise DataError(f"nothing is kept of {listed(unknown)}. Kept: {listed(list(known), 20) or 'nothing'}.")
    if busy := [name for name in runs if known[name]]:
        raise ProtocolError(f"{listed(busy)} goes on: its replies are needed. Wait for its end, or end it.")
    old_enough = [one for one in kept if older_than is None or one.age_days >= older_than]
    return [one for one in old_enough if (not runs or one.run in runs) and not one.busy]


def folder_size(folder: Path) -> int:
    """The bytes of all files in a folder, or of one file."""
    if folder.is_file():
        return folder.stat().st_size
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
