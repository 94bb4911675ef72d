"""How a text file writes its table: what separates columns, which sign decimals have, which encoding. Found, or asked.

What could mean two things is refused, with the option that says which: a wrong guess would look like data.
"""

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import BinaryIO, cast

from fedsieve.errors import DataError, ParameterError, listed

SEPARATORS = {",": ",", ";": ";", "\t": "tab", "|": "|"}
SAMPLE_BYTES = 1 << 20
SAMPLE_ROWS = 1000
CHUNK = 1 << 22
_COMMA = re.compile(r"[+-]?\d+,\d+")
_MAYBE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_DOT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_WINDOWS_ONLY = bytes(range(0x80, 0xA0))  # control characters in latin-1, quotes and the euro sign in Windows


@dataclass(frozen=True)
class Reading:
    """What was said about how files are to be read; what was not is found out, file by file."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    index_col: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no file can have."""
        if self.sep is not None and (len(self.sep) != 1 or self.sep in '"\r\n'):
            raise ParameterError(f"--sep must be one character, or tab; got {self.sep!r}.")
        if self.decimal not in (None, ",", "."):
            raise ParameterError(f"--decimal must be '.' or ','; got {self.decimal!r}.")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise ParameterError(
                    f"--encoding must be one that Python knows, such as utf-8 or latin-1; got {self.encoding!r}."
                ) from None


@dataclass(frozen=True)
class Dialect:
    """How one file is written."""

    sep: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    def __str__(self) -> str:
        r"""In words.

        >>> str(Dialect(";", ",", "latin-1"))
        "sep ';', decimal ',', latin-1"
        """
        return f"sep {SEPARATORS.get(self.sep, self.sep)!r}, decimal {self.decimal!r}, {self.encoding}"

    def for_ending(self, suffix: str) -> "Dialect":
        """The same in a file of another ending, which may want another separator."""
        if suffix.startswith(".tsv"):
            return replace(self, sep="\t")
        return replace(self, sep=";" if self.decimal == "," else ",") if self.sep == "\t" else self


def dialect_of(file: Path, reading: Reading) -> Dialect:
    """How the file is written, as far as nobody said so."""
    encoding = reading.encoding or _encoding(file)
    text = _sample(file, encoding)
    sep = reading.sep or ("\t" if ".tsv" in file.name.lower() else _separator(file, text))
    return Dialect(sep, reading.decimal or _decimal(file, text, sep), encoding)


def opened(file: Path) -> BinaryIO:
    """The file's bytes, unpacked where its name says that they are packed."""
    return cast(BinaryIO, gzip.GzipFile(file)) if file.name.lower().endswith(".gz") else file.open("rb")


def longest_line(file: Path) -> int:
    """Bytes of the file's longest line, wherever quotes are."""
    longest = begun = 0
    for chunk in _chunks(file):
        first, *others = chunk.split(b"\n")
        begun += len(first)
        longest = max(longest, begun, *map(len, others))
        begun = len(others[-1]) if others else begun
    return longest


def _chunks(file: Path) -> Iterator[bytes]:
    try:
        with opened(file) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError(f"{file}: cannot be unpacked: it is cut, or no gzip file.") from None


def _encoding(file: Path) -> str:
    """UTF-8 if all of the file is; else what Western machines wrote before it, by the characters used."""
    decoder, is_utf8, windows = codecs.getincrementaldecoder("utf-8")(), True, False
    for number, chunk in enumerate(_chunks(file)):
        if number == 0 and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if chunk.isascii() and is_utf8 and not decoder.getstate()[0]:
            continue
        windows = windows or len(chunk.translate(None, _WINDOWS_ONLY)) < len(chunk)
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError:
            is_utf8 = False
            decoder.reset()
    if is_utf8 and not decoder.getstate()[0]:
        return "utf-8"
    return "cp1252" if windows else "latin-1"


def _sample(file: Path, encoding: str) -> str:
    """The beginning of the file as text, up to the end of a line."""
    head = next(_chunks(file), b"")[:SAMPLE_BYTES]
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head).removeprefix("\ufeff")
    return text if len(head) < SAMPLE_BYTES else text[: text.rfind("\n") + 1]


def _rows(text: str, sep: str) -> list[list[str]]:
    rows = []
    try:
        for row in csv.reader(StringIO(text, newline=""), delimiter=sep):
            if row:
                rows.append(row)
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error:  # of a field that never ends
        pass
    return rows


def _separator(file: Path, text: str) -> str:
    """The one sign that cuts every row into as many fields as the header; a comma where there is nothing to cut."""
    cut = {sep: rows for sep in SEPARATORS if (rows := _rows(text, sep)) and len(rows[0]) > 1}
    even = [sep for sep, rows in cut.items() if len({len(row) for row in rows}) == 1]
    if len(even) > 1:
        signs = " or ".join(repr(SEPARATORS[sep]) for sep in even)
        raise DataError(f"{file}: its columns could be separated by {signs}. Say which: --sep.")
    if even:
        return even[0]
    return "," if "," in cut or not cut else max(cut, key=lambda sep: len(cut[sep][0]))


def _decimal(file: Path, text: str, sep: str) -> str:
    """A comma where numbers have one and none has a dot."""
    header, *rows = _rows(text, sep) or [[]]
    with_comma = [
        (place, row, field.strip())
        for row, fields in enumerate(rows, 1)
        for place, field in enumerate(fields)
        if _COMMA.fullmatch(field.strip())
    ]
    if not with_comma or any(_DOT.fullmatch(field.strip()) for fields in rows for field in fields):
        return "."
    if all(_MAYBE_THOUSANDS.fullmatch(field) for _, _, field in with_comma):
        place, row, _ = with_comma[0]
        raise DataError(
            f"{file}: has numbers with a comma before three digits, first in row {row}, column {_name(header, place)}: "
            "decimals, or thousands? Say --decimal ',' or --decimal '.'."
        )
    return ","


def _name(header: Sequence[str], place: int) -> str:
    return listed([header[place]]) if place < len(header) else str(place + 1)
