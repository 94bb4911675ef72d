"""A known dataset by its name: its files, from a local mirror, the cache folder or a download, then its tables.

Every file is checked against its SHA-256 on each use, wherever it lies.
"""

import os
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from fedsieve.datasets.arff import arff_dataset, concatenated
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.registry import MULAN, KnownDataset, known_dataset
from fedsieve.errors import DataError, extra_needed, listed
from fedsieve.files import write_atomically

MIRROR, REMOTE = "FEDSIEVE_DATA", "FEDSIEVE_DATA_URL"
TIMEOUT = 30  # seconds without a byte


def load(name: str) -> Dataset:
    """One of the five datasets of the paper: cal500, corel5k, emotions, enron, yeast.

    `X` has the rows of the official train file, then those of the test file; `train` and `test` are their row numbers.
    Mulan's full files of yeast and enron hold the same rows in another order. cal500 has no official split. `X` is a
    CSR array of 0 and 1 for corel5k and enron, else an ndarray. Labels are in the XML file's order.

    Files come from the folder that FEDSIEVE_DATA names, from the platform's cache folder, or from Mulan's repository,
    and are checked at each call (SHA-256). Each call returns new tables, which you may change. There are no warnings;
    `describe` shows what looks odd.
    """
    known = known_dataset(name)
    paths = fetch(known.name)
    parsed = _parsed(known.name, tuple(str(paths[file]) for file in known.rows), str(paths[known.labels]))
    return replace(
        parsed,
        X=parsed.X.copy(),
        Y=parsed.Y.copy(),
        train=None if parsed.train is None else parsed.train.copy(),
        test=None if parsed.test is None else parsed.test.copy(),
    )


def fetch(name: str) -> dict[str, Path]:
    """The files of a dataset, by name, downloaded where they are not at hand.

    The environment variable FEDSIEVE_DATA names a folder with mulan/<dataset>/<file>, which is used first and never
    written to; else files lie in the platform's cache folder, in the same layout. FEDSIEVE_DATA_URL replaces the
    address to download from; below it lies <dataset>/<file>. A file with another SHA-256 than expected is an error.
    """
    known = known_dataset(name)
    return {file: _at_hand(known, file) or _download(known, file) for file in known.files}


def locate(name: str) -> dict[str, Path | None]:
    """Where each file of a dataset lies, `None` if it would have to be downloaded; nothing is checked or downloaded."""
    known = known_dataset(name)
    return {file: _find(known, file) for file in known.files}


@lru_cache(maxsize=8)
def _parsed(name: str, rows: tuple[str, ...], labels: str) -> Dataset:
    known = known_dataset(name)
    parts = [arff_dataset(Path(file), Path(labels)) for file in rows]
    whole, numbers = concatenated(parts)
    train, test = numbers if known.split else (None, None)
    return replace(whole, name=name, train=train, test=test, source=known.source, files=(*rows, labels))


def _folders() -> list[Path]:
    """The folders to look into, the last of which may be written to."""
    cache = Path(_pooch().os_cache("fedsieve"))
    mirror = os.environ.get(MIRROR, "").strip()
    if not mirror:
        return [cache]
    if not Path(mirror).expanduser().is_dir():
        raise DataError(f"{MIRROR} must name a folder; got {mirror!r}. Mend it, or unset it to download files.")
    return [Path(mirror).expanduser(), cache]


def _find(known: KnownDataset, file: str) -> Path | None:
    paths = (folder / "mulan" / known.name / file for folder in _folders())
    return next((path for path in paths if path.is_file()), None)


def _at_hand(known: KnownDataset, file: str) -> Path | None:
    path = _find(known, file)
    if path is not None:
        _check(path, known.files[file], str(path), "Replace it, or delete it to have it downloaded again.")
    return path


def _check(path: Path, expected: str, owner: str, way_out: str) -> None:
    got = _pooch().file_hash(str(path))
    if got != expected:
        raise DataError(f"{owner}: is not the file it should be: SHA-256 must be {expected}; got {got}. {way_out}")


def _download(known: KnownDataset, file: str) -> Path:
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


def _without_network(known: KnownDataset, folder: Path, url: str, error: Exception) -> str:
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
