"""Where the files of a known dataset lie: a local mirror first, then the cache folder, then a download into it.

Every file is checked against its SHA-256 on each use, wherever it lies.
"""

import os
import re
from pathlib import Path
from typing import Any

from fedsieve.datasets.registry import MULAN, Entry, entry
from fedsieve.errors import DataError, extra_needed, listed
from fedsieve.files import write_atomically

MIRROR, REMOTE = "FEDSIEVE_DATA", "FEDSIEVE_DATA_URL"
TIMEOUT = 30  # seconds without a byte


def fetch(name: str) -> dict[str, Path]:
    """The files of a dataset, by name, downloaded where they are not at hand.

    The environment variable FEDSIEVE_DATA names a folder with mulan/<dataset>/<file>, which is used first and never
    written to; else files lie in the platform's cache folder, in the same layout. FEDSIEVE_DATA_URL replaces the
    address to download from; below it lies <dataset>/<file>. A file with another SHA-256 than expected is an error.
    """
    known = entry(name)
    return {file: _at_hand(known, file) or _download(known, file) for file in known.files}


def locate(name: str) -> dict[str, Path | None]:
    """Where each file of a dataset lies, `None` if it would have to be downloaded; nothing is checked or downloaded."""
    known = entry(name)
    return {file: _find(known, file) for file in known.files}


def _folders() -> list[Path]:
    """The folders to look into, the last of which may be written to."""
    cache = Path(_pooch().os_cache("fedsieve"))
    mirror = os.environ.get(MIRROR, "").strip()
    if not mirror:
        return [cache]
    if not Path(mirror).expanduser().is_dir():
        raise DataError(f"{MIRROR} must name a folder; got {mirror!r}. Mend it, or unset it to download files.")
    return [Path(mirror).expanduser(), cache]


def _find(known: Entry, file: str) -> Path | None:
    paths = (folder / "mulan" / known.name / file for folder in _folders())
    return next((path for path in paths if path.is_file()), None)


def _at_hand(known: Entry, file: str) -> Path | None:
    path = _find(known, file)
    if path is not None:
        _check(path, known.files[file], str(path), "Replace it, or delete it to have it downloaded again.")
    return path


def _check(path: Path, expected: str, owner: str, way_out: str) -> None:
    got = _pooch().file_hash(str(path))
    if got != expected:
        raise DataError(f"{owner}: is not the file it should be: SHA-256 must be {expected}; got {got}. {way_out}")


def _download(known: Entry, file: str) -> Path:
    """Bring one file into the cache folder: complete and checked, or not at all."""
    pooch = _pooch()
    folder = _folders()[-1] / "mulan" / known.name
    base = os.environ.get(REMOTE, "").strip() or MULAN
    url = f"{base.rstrip('/')}/{known.name}/{file}"

    def write(temporary: Path) -> None:
        import requests  # comes with pooch

        try:
            pooch.HTTPDownloader(progressbar=False, timeout=TIMEOUT)(url, str(temporary), None)
        except requests.RequestException as error:
            raise DataError(_without_network(known, folder, url, error)) from None
        _check(temporary, known.files[file], url, "Nothing was kept. The download was changed on its way; try again.")

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be made: {error.strerror}. Let {MIRROR} name a folder with the files."
        ) from None
    write_atomically(folder / file, write)
    return folder / file


def _without_network(known: Entry, folder: Path, url: str, error: Exception) -> str:
    missing = [file for file in known.files if _find(known, file) is None]
    return (
        f"{url}: cannot be downloaded ({_reason(error)}). Without a network, put {listed(missing)} into {folder}, "
        f"or into mulan/{known.name} below a folder that {MIRROR} names."
    )


def _reason(error: Exception) -> str:
    """The innermost cause: the outer ones repeat the address and name Python objects."""
    while isinstance(inner := getattr(error, "reason", None) or next(iter(error.args), None), Exception):
        error = inner
    return re.sub(r"^\w*Connection\w*\(.*?\): |^<.*?>: ", "", str(error)) or type(error).__name__


def _pooch() -> Any:
    try:
        import pooch
    except ImportError:
        raise extra_needed("datasets.load", "pooch", "data") from None
    return pooch
