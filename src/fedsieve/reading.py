"""JSON, TOML and numpy files read within bounds: whatever is wrong with one is a `DataError` that names it.

A file may be cut, empty, or made to harm whoever reads it. So its size is looked at before its content, dotted keys
before they are parsed, and depth and numbers before anybody computes with them or prints them.
"""

import json
import re
import tokenize
import tomllib
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import DataError

MAX_BYTES = 1 << 28  # of a JSON file: names and scores of a million features
MAX_TOML_BYTES = 1 << 24  # 50,000 names of 64 characters are 3.4 MB; the parser reads about 3 MB a second
MAX_DEPTH = 32  # ours are at most 6 deep
MAX_WHOLE = 1 << 64  # the engine numbers its nodes with as many bits
MAX_REASON = 200  # characters of a parser's own words, which may quote the file
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")
"""A dotted key for which the parser would take time that grows with the square of its parts."""
_DAMAGED = (
    *(ValueError, TypeError, KeyError, OSError, EOFError, MemoryError, OverflowError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),
)
"""What numpy raises when a file is cut, is of another form, or claims to hold more than there is."""

Fields: TypeAlias = Mapping[str, Any]
"""The keys that an object must have, and the kind of each value."""
_WORDS = {str: "text", int: "a whole number", float: "a number", list[str]: "a list of names"}


def read_json(path: Path, fields: Fields | None = None, *, way_out: str = "") -> Any:
    """The content of a JSON file; with `fields` an object that has them. `way_out` ends every complaint.

    >>> read_json(Path("no.json"), way_out="Start again.")
    Traceback (most recent call last):
    fedsieve.errors.DataError: no.json: cannot be read: No such file or directory. Start again.
    """
    try:
        return parse_json(_bytes(path, MAX_BYTES), fields)
    except DataError as error:
        raise DataError(f"{path}: {error} {way_out}".rstrip()) from None


def read_json_lines(path: Path, fields: Fields | None = None, *, way_out: str = "") -> list[Any]:
    """The values of a file with one per line; a last line without its end is just being written, and left out."""
    found = []
    try:
        content = _bytes(path, MAX_BYTES)
    except DataError as error:
        raise DataError(f"{path}: {error} {way_out}".rstrip()) from None
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            found.append(parse_json(line, fields))
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error} {way_out}".rstrip()) from None
    return found


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    try:
        return parse_toml(toml_text(path))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def read_array(path: Path, *, way_out: str = "") -> Float:
    """The one array of a `.npy` file."""
    with _damage_named(path, way_out), path.open("rb") as file:
        array: Float = np.lib.format.read_array(file, allow_pickle=False)
        return array


def read_array_head(path: Path, *, n_columns: int, way_out: str = "") -> tuple[tuple[int, int], int]:
    """The shape of a table that a `.npy` file has column after column, and where its numbers begin; all must be there.

    A file of another kind, or one that is cut, is damage.
    """
    with _damage_named(path, way_out), path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        shape, by_column, kind = np.lib.format.read_array_header_1_0(file) if version == (1, 0) else ((), False, None)
        start = file.tell()
        if not by_column or kind != np.float64 or len(shape) != 2 or shape[1] != n_columns:
            raise ValueError("no table, column after column")
        if path.stat().st_size != start + 8 * shape[0] * shape[1]:
            raise ValueError("cut")
        return (shape[0], shape[1]), start


def read_arrays(path: Path, names: tuple[str, ...], *, way_out: str = "") -> list[Float]:
    """Arrays of a `.npz` file, by name."""
    with _damage_named(path, way_out), path.open("rb") as file, np.load(file, allow_pickle=False) as found:
        return [found[name] for name in names]


def parse_json(content: bytes | str, fields: Fields | None = None) -> Any:
    """What JSON says, within bounds; the error does not name a file.

    >>> parse_json('{"name": 7}', {"name": str})
    Traceback (most recent call last):
    fedsieve.errors.DataError: must be an object with 'name' (text).
    """
    text = _text(content, "JSON") if isinstance(content, bytes) else content
    try:
        found = json.loads(text)
    except RecursionError:
        raise _too_deep("JSON") from None
    except ValueError as error:  # also of a number of thousands of digits
        raise _invalid("JSON", error) from None
    _check_values(found, "JSON")
    if fields is not None and not (
        isinstance(found, dict) and all(key in found and _fits(found[key], kind) for key, kind in fields.items())
    ):
        wanted = ", ".join(f"{key!r} ({_WORDS[kind]})" for key, kind in fields.items())
        raise DataError(f"must be an object{' with ' * bool(wanted)}{wanted}.")
    return found


def toml_text(path: Path) -> str:
    """A TOML file as text; like that of `parse_toml`, the error does not name the file."""
    return _text(_bytes(path, MAX_TOML_BYTES), "TOML")


def parse_toml(text: str) -> dict[str, Any]:
    """What TOML says, within bounds; the error does not name a file.

    >>> parse_toml("a = " + "[" * 5000)
    Traceback (most recent call last):
    fedsieve.errors.DataError: is no TOML that can be used: it is nested more than 32 deep.
    """
    if len(text) > MAX_TOML_BYTES:
        raise _too_long(len(text), MAX_TOML_BYTES)
    if _LONG_KEY.search(text):
        raise _too_deep("TOML")
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise _too_deep("TOML") from None
    except ValueError as error:
        raise _invalid("TOML", error) from None
    _check_values(found, "TOML")
    return found


def _bytes(path: Path, most: int) -> bytes:
    try:
        size = path.stat().st_size
        if size > most:
            raise _too_long(size, most)
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}.") from None


def _text(content: bytes, form: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise _invalid(form, error) from None


@contextmanager
def _damage_named(path: Path, way_out: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}. {way_out}".rstrip()) from None
    except _DAMAGED:
        raise DataError(f"{path}: is cut or damaged. {way_out}".rstrip()) from None


def _check_values(found: Any, form: str) -> None:
    """Level by level, since what is deep cannot be walked by calls.

    Infinite numbers are TOML, so the rule of the key that has one names it; in JSON nobody may write them.
    """
    level = [found]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner += value
                inner += value.values()
            elif isinstance(value, list):
                inner += value
            elif isinstance(value, str):
                if not value.isascii():
                    _check_characters(value, form)
            elif isinstance(value, int) and not -MAX_WHOLE <= value < MAX_WHOLE:
                raise DataError(f"is no {form} that can be used: it holds a whole number beyond 64 bits.")
            elif form == "JSON" and isinstance(value, float) and not isfinite(value):
                raise DataError(f"is no {form} that can be used: it holds {value}, which is no finite number.")
        if not inner:
            return
        level = inner
    raise _too_deep(form)


def _check_characters(text: str, form: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(f"is no {form} that can be used: it holds half a character (a lone surrogate).") from None


def _fits(value: Any, kind: Any) -> bool:
    if kind == list[str]:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return type(value) is kind


def _invalid(form: str, error: ValueError) -> DataError:
    return DataError(f"is no valid {form}: {str(error)[:MAX_REASON]}.")


def _too_deep(form: str) -> DataError:
    return DataError(f"is no {form} that can be used: it is nested more than {MAX_DEPTH} deep.")


def _too_long(size: int, most: int) -> DataError:
    return DataError(f"has {size} bytes; at most {most} are read.")
