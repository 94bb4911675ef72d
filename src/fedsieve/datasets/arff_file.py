"""An ARFF file as columns of numbers: liac-arff parses, this file adds line numbers to its errors; labels come later.

Dense and sparse files. `?` and an empty value are missing (NaN). A nominal attribute becomes numbers by `level_values`.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Rows
from fedsieve.datasets.columns import unique_name, warn_of_repeated_names
from fedsieve.errors import DataError, MissingExtraError, extra_needed, listed

TWO_WORDS = ({"0", "1"}, {"no", "yes"}, {"n", "y"}, {"false", "true"}, {"f", "t"})
"""Pairs of nominal values that mean 0 and 1, in any order and in any case."""

_HEADER = re.compile(r"\s*@(relation|attribute)\s+(.*?)\s*$", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)(.*)", re.DOTALL)
_INTEGER = re.compile(r"(?<=\s)integer$", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class ArffTable:
    """What the file holds. `levels` has the declared values of a nominal attribute, `None` of one with numbers.

    `codes` (n_rows, n_attributes) holds numbers, codes of levels, and NaN where a value is missing: an ndarray, or a
    CSC array for a sparse file. There an entry left out is 0, which for a nominal attribute is its first level.
    """

    relation: str
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...] | None, ...]
    codes: Rows


def level_values(levels: Sequence[str]) -> tuple[Float, bool]:
    """The number for each level of a nominal attribute, and whether it is a mere code.

    0 and 1 are numbers, and so are no/yes, n/y, false/true, f/t in any case. All others are coded by their place.

    >>> level_values(["YES", "NO"])
    (array([1., 0.]), False)
    >>> level_values(["red", "green", "blue"])
    (array([0., 1., 2.]), True)
    """
    words = [_plain(level) for level in levels]
    for pair in TWO_WORDS:
        if pair.issuperset(words):
            return np.array([sorted(pair).index(word) for word in words], dtype=np.float64), False
    return np.arange(len(levels), dtype=np.float64), True


def read_arff(path: Path, skip: Sequence[str] = ()) -> ArffTable:
    """Parse the file; attributes of text are refused unless they are among the names to `skip`."""
    arff = _liac_arff()
    lines = _lines(path)
    is_sparse = _first_data_line(lines).startswith("{")
    mended = _Mended(lines)
    try:
        decoded = arff.load(mended, encode_nominal=True, return_type=arff.LOD if is_sparse else arff.DENSE)
    except (arff.ArffException, ValueError) as error:
        raise DataError(f"{path}: {_what_is_wrong(arff, error, lines, mended.number, is_sparse)}") from None
    warn_of_repeated_names(str(path), mended.repeated)
    names = tuple(name.replace("\\'", "'").replace('\\"', '"') for name, _ in decoded["attributes"])
    kinds = [kind for _, kind in decoded["attributes"]]
    _check_levels(path, lines, kinds)
    if not decoded["data"]:
        raise DataError(f"{path}: has a header but no rows.")
    texts = [column for column, kind in enumerate(kinds) if kind == "STRING"]
    wanted = [names[column] for column in texts if names[column] not in skip]
    if wanted:
        raise DataError(f"{path}: attribute {listed(wanted)} holds text, no numbers. Leave it out: drop={wanted!r}.")
    return ArffTable(
        relation=decoded["relation"],
        names=names,
        levels=tuple(tuple(kind) if isinstance(kind, list) else None for kind in kinds),
        codes=_sparse_codes(decoded["data"], texts, len(names)) if is_sparse else _dense_codes(decoded["data"], texts),
    )


def _check_levels(path: Path, lines: list[str], kinds: list[Any]) -> None:
    """Refuse an empty place among declared values, which the parser takes for a missing one."""
    broken = next((place for place, kind in enumerate(kinds) if isinstance(kind, list) and None in kind), None)
    if broken is not None:
        declared = [number for number, line in enumerate(lines, start=1) if _is_attribute(line)]
        number = declared[broken]
        raise DataError(
            f"{path}: line {number}: declares an empty value or '?', which means a missing one: "
            f"{_shown(lines[number - 1])}. Remove the comma too many, or quote the value."
        )


def _plain(level: str) -> str:
    """A level without what does not change its meaning: case, and decimals of 0 and 1."""
    return {"0.0": "0", "1.0": "1"}.get(level, level.lower())


def _dense_codes(data: list[list[Any]], texts: list[int]) -> Float:
    for row in data:
        for column in texts:
            row[column] = None
    return np.array(data, dtype=np.float64)  # a missing value, None, becomes NaN


def _sparse_codes(data: list[dict[int, Any]], texts: list[int], n_columns: int) -> Rows:
    from scipy import sparse  # takes long to load, and dense files do without

    for row in data:
        for column in texts:
            row.pop(column, None)
    rows = np.repeat(np.arange(len(data)), [len(row) for row in data])
    columns = np.fromiter(chain.from_iterable(data), dtype=np.int64, count=len(rows))
    written = np.array(list(chain.from_iterable(row.values() for row in data)), dtype=np.float64)
    return sparse.csc_array((written, (rows, columns)), shape=(len(data), n_columns))


def _lines(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            return list(file)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: is no UTF-8 text (byte {error.object[error.start]:#x}). Convert it, for example with iconv."
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from None


def _first_data_line(lines: list[str]) -> str:
    rest = iter(lines)
    for line in rest:
        if _is_data(line):
            break
    return next((line.strip() for line in rest if line.strip() and not line.lstrip().startswith("%")), "")


def _is_attribute(line: str) -> bool:
    return line.lstrip().lower().startswith("@attribute")


def _shown(line: str) -> str:
    line = line.strip()
    return repr(line if len(line) <= 60 else f"{line[:57]}...")


def _is_data(line: str) -> bool:
    return line.strip().lower().startswith("@data")


class _Mended:
    """The lines with tabs in the header as spaces, whole numbers declared as numbers, and repeated names numbered.

    liac-arff cannot read the tabs, refuses repeated names, and would silently cut off the decimals of an `integer`
    attribute. `number` counts the lines from 1; `repeated` collects the names.
    """

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.number = 0
        self.repeated: list[str] = []
        self._used: dict[str, int] = {}

    def __iter__(self) -> Iterator[str]:
        in_header = True
        for line in self.lines:
            self.number += 1
            declared = _HEADER.match(line) if in_header else None
            in_header = in_header and not _is_data(line)
            if declared and declared[1].lower() == "attribute":
                yield f"@attribute {self._attribute(_INTEGER.sub('numeric', declared[2]))}"
            else:
                yield f"@{declared[1]} {declared[2]}" if declared else line

    def _attribute(self, declaration: str) -> str:
        found = _NAME.match(declaration)
        if not found:
            return declaration
        quote = found[1][0] if found[1][0] in "'\"" and len(found[1]) > 1 else ""
        name = found[1][1:-1] if quote else found[1]
        unique = unique_name(name, self._used)
        if unique != name:
            self.repeated.append(name)
        return f"{quote}{unique}{quote}{found[2]}"


def _what_is_wrong(arff: Any, error: Any, lines: list[str], number: int, is_sparse: bool) -> str:
    """The parser's error in words for the user; lines of the header are shown, those of data hold a person's values."""
    line = lines[number - 1].strip() if lines else ""
    where, quoted = f"line {number}", _shown(line)
    declared = [text for text in lines if _is_attribute(text)]
    if isinstance(error, arff.BadDataFormat):
        if is_sparse:
            return f"{where}: names an attribute beyond the last one, {len(declared) - 1} (counted from 0)."
        n_values = len(next(csv.reader([line], quotechar='"' if '"' in line else "'", skipinitialspace=True)))
        return f"{where}: has {n_values} values, the header declares {len(declared)} attributes."
    if isinstance(error, arff.BadAttributeType | arff.BadAttributeFormat):
        return f"{where}: {quoted} must be like @attribute NAME numeric, or NAME {{value,value}}; dates are not read."
    if isinstance(error, arff.BadNominalValue):
        return f"{where}: a value is none of those that the header declares for its attribute."
    if isinstance(error, arff.BadNumericalValue):
        return f"{where}: has text where the header declares a number."
    if isinstance(error, arff.BadRelationFormat):
        return f"{where}: a relation's name with blanks or commas needs quotes: {quoted}."
    if not any(map(_is_data, lines)):
        return "has no line @data after @relation and @attribute lines, so it is no ARFF file."
    return f"{where}: is no ARFF" + (f": {quoted}." if line.startswith("@") else ".")


def _liac_arff() -> Any:
    """The package liac-arff. Another one on the index has the same import name and takes its place if it came later."""
    try:
        import arff
    except ImportError:
        raise extra_needed("reading ARFF files", "liac-arff", "data") from None
    if not all(hasattr(arff, name) for name in ("dump", "load", "DENSE", "LOD", "ArffException")):
        raise MissingExtraError(
            "reading ARFF files needs the package 'liac-arff', but another package that is also imported as 'arff' "
            f"hides it ({getattr(arff, '__file__', None)}). Mend it with: pip uninstall arff; "
            "pip install --force-reinstall liac-arff"
        )
    return arff
