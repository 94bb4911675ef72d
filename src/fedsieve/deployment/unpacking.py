"""What a site takes out of the operator's tar: the operator's files, a first key in a trial, and nothing of its own.

A tar can hold anything: rules that forbid nothing, a ledger that counted no run, links that lead out of the folder. So
only known names are taken, everything is looked at before anything is written, and what the site made itself stays.
"""

import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from fedsieve.deployment.folders import AGREEMENT, FROM_OPERATOR, IDENTITY, make_private
from fedsieve.deployment.keys import PRIVATE
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, listed
from fedsieve.files import write_together
from fedsieve.reading import MAX_TOML_BYTES
from fedsieve.text import visible

MAX_MEMBERS = 64  # ours have eight, the folder itself and its files
MAX_BYTES = 1 << 16  # of a file other than the agreement; ours have some thousand
MAX_TAR_BYTES = MAX_TOML_BYTES + (1 << 20)
PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
ASK = "Nothing was unpacked. Ask the operator for a tar made by 'fedsieve federation pack'."
DAMAGED = (tarfile.TarError, ValueError, OverflowError, RecursionError, EOFError, OSError)


def unpack(tar: Path, folder: Path) -> list[str]:
    """Put the operator's files into a site's folder, the agreement last; returns their names.

    The site's name and key come along only where the folder has none yet, as after `init --with-keys`.
    """
    name, files = _content(tar)
    _check_destination(folder, name)
    brought = {file: files[file] for file in IDENTITY if file in files}
    if any((folder / file).exists() for file in IDENTITY):
        _check_same_identity(tar, folder, brought)
        brought = {}
    order = (*brought, *(file for file in FROM_OPERATOR if file != AGREEMENT), AGREEMENT)
    make_private(folder)
    write_together({folder / file: _writer(files[file]) for file in order}, mode=PRIVATE)
    return list(order)


def _content(tar: Path) -> tuple[str, dict[str, bytes]]:
    """The site's name and its files, once the tar holds these and no others."""
    try:
        size = tar.stat().st_size
        if not tar.is_file() or size > MAX_TAR_BYTES:
            raise DataError(f"{tar}: is no file of at most {MAX_TAR_BYTES} bytes. {ASK}")
        with tarfile.open(tar, "r:") as archive:  # never a compressed one, whose size tells nothing
            name, files = "", {}
            for member in _members(tar, archive):
                parts = member.name.split("/")
                name = name or parts[0]
                _check_member(tar, member, name)
                if member.isdir():
                    continue
                if parts[1] in files:
                    raise DataError(f"{tar}: holds {parts[1]} twice. {ASK}")
                part = archive.extractfile(member)
                files[parts[1]] = b"" if part is None else part.read()
    except DAMAGED as error:
        if isinstance(error, DataError):
            raise
        reason = error.strerror if isinstance(error, OSError) else "it is damaged, compressed, or something else"
        raise DataError(f"{tar}: cannot be read as a tar: {reason}. {ASK}") from None
    absent = [file for file in FROM_OPERATOR if file not in files]
    if absent or 0 < sum(file in files for file in IDENTITY) < len(IDENTITY):
        absent += [file for file in IDENTITY if file not in files and not absent]
        raise DataError(f"{tar}: lacks {listed(absent)}. {ASK}")
    return name, files


def _members(tar: Path, archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for number, member in enumerate(archive):
        if number >= MAX_MEMBERS:
            raise DataError(f"{tar}: holds more than {MAX_MEMBERS} entries. {ASK}")
        yield member


def _check_member(tar: Path, member: tarfile.TarInfo, name: str) -> None:
    """Refuse what is neither the site's folder nor a plain file of known name in it."""
    known = [f"{name}/{file}" for file in (*FROM_OPERATOR, *IDENTITY)]
    is_folder = member.isdir() and member.name == name
    if name in ("", ".", "..") or not (is_folder or member.name in known):
        raise DataError(
            f"{tar}: holds '{visible(member.name[:100])}', which is not for the operator to hand over: a site's rules "
            f"and records are its own. {ASK}"
        )
    if member.isdir():
        return
    if member.type not in PLAIN or member.issparse():
        raise DataError(f"{tar}: '{member.name}' is a link or something else than a plain file. {ASK}")
    most = MAX_TOML_BYTES if member.name == f"{name}/{AGREEMENT}" else MAX_BYTES
    if not 0 <= member.size <= most:
        raise DataError(f"{tar}: '{member.name}' has {member.size} bytes; at most {most} are taken. {ASK}")


def _check_destination(folder: Path, name: str) -> None:
    """Refuse a folder of something else, and that of another site."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: is no folder. Name the site's own, or a new one.")
    begun = any((folder / file).is_file() for file in ("site.json", AGREEMENT))
    if folder.is_dir() and any(folder.iterdir()) and not begun:
        raise DataError(f"{folder}: is not empty, and no site's folder. Name the site's own, or a new one.")
    if (folder / "site.json").is_file() and SiteFolder(folder).name != name:
        raise DataError(
            f"{folder}: is the folder of {SiteFolder(folder).name!r}; the tar is for '{visible(name)}'. Take the tar "
            "of this site, or another folder."
        )


def _check_same_identity(tar: Path, folder: Path, brought: Mapping[str, bytes]) -> None:
    """Refuse a key that would take the place of the one that is there."""
    other = [file for file, content in brought.items() if not _holds(folder / file, content)]
    if other:
        raise DataError(
            f"{tar}: brings another {listed(other)} than {folder} has; whoever made that key could answer in this "
            "site's name. For a new key: fedsieve federation request --renew, which the operator approves; in a trial, "
            f"move {listed(IDENTITY)} away first. Nothing was unpacked."
        )


def _holds(file: Path, content: bytes) -> bool:
    return file.is_file() and file.stat().st_size == len(content) and file.read_bytes() == content


def _writer(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)
