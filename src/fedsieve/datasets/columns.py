"""The columns of a table: which are labels, which are features, and names that occur more than once."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import names_that_differ
from fedsieve.errors import DataError, FedSieveWarning, extra_needed, listed

PREFIX = "prefix:"


def label_columns(spec: str | Path | Sequence[str], columns: Sequence[str]) -> list[str]:
    """The label columns that `spec` names, in the table's order for a prefix, else in the order of the spec.

    `spec` is "y1,y2", "prefix:label_", the path of a Mulan XML file, or a list of names.

    >>> label_columns("prefix:y_", ["age", "y_a", "y_b"])
    ['y_a', 'y_b']
    """
    if isinstance(spec, str) and spec.startswith(PREFIX):
        prefix = spec.removeprefix(PREFIX)
        chosen = [name for name in columns if prefix and name.startswith(prefix)]
        if not chosen:
            raise DataError(
                f"no column starts with {prefix!r}, so there is no label column; columns: {listed(columns)}."
            )
        return chosen
    chosen = _names(spec)
    if not chosen:
        raise DataError("no label column was named. Say for example --labels y1,y2 or --labels prefix:label_.")
    absent, _ = names_that_differ(chosen, columns)
    if absent:
        raise DataError(f"no label column {listed(absent)} among the columns {listed(columns)}.")
    return chosen


def labels_beside(path: Path, spec: str | Path | Sequence[str] | None, columns: Sequence[str]) -> list[str]:
    """The label columns of the table at `path`: as `spec` says, by default as the XML file beside it says."""
    if spec is None:
        spec = label_file_beside(path)
        if not spec.is_file():
            raise DataError(
                f"{path}: which columns are labels? There is no {spec.name} beside it. "
                "Say labels=, for example a Mulan XML file, names, or 'prefix:label_'."
            )
    try:
        return label_columns(spec, columns)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def label_file_beside(path: Path) -> Path:
    """Where the Mulan XML file of a table lies, if it has one."""
    return path.with_suffix(".xml")


def labels_of_xml(path: Path) -> list[str]:
    """The label names of a Mulan XML file, nested labels included, in document order."""
    try:
        from defusedxml import DefusedXmlException
        from defusedxml.ElementTree import ParseError, parse
    except ImportError:
        raise extra_needed("reading label files", "defusedxml", "data") from None
    try:
        root = parse(path).getroot()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from None
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:  # the last two: odd encodings
        raise DataError(f"{path}: is no valid XML: {error}") from None
    names = [element.get("name") for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    if not all(names):
        raise DataError(f"{path}: has a label without a name. Each must be like <label name='...'></label>.")
    if not names:
        raise DataError(f"{path}: names no label. It must hold elements like <label name='...'></label>.")
    return list(dict.fromkeys(names))


def feature_columns(columns: Sequence[str], labels: Sequence[str], drop: Sequence[str], owner: str) -> list[str]:
    """The columns that are neither labels nor to be dropped, in the table's order; at least one."""
    absent, _ = names_that_differ(drop, columns)
    if absent:
        raise DataError(f"{owner}: has no column {listed(absent)} to drop; columns: {listed(columns)}.")
    both = sorted(set(drop).intersection(labels))
    if both:
        raise DataError(f"{owner}: the column {listed(both)} cannot be a label and dropped.")
    taken = {*labels, *drop}
    features = [name for name in columns if name not in taken]
    if not features:
        raise DataError(f"{owner}: all {len(columns)} columns are labels or dropped, so there is no feature.")
    return features


def zero_or_one(values: Float, names: Sequence[str], owner: str, fill: str = "") -> Int:
    """Label columns (n_rows, n_labels) as whole numbers, if they hold 0 and 1 only; `fill` is the way out of gaps."""
    wrong = ~np.isin(values, (0.0, 1.0))
    if wrong.any():
        column = int(np.flatnonzero(wrong.any(axis=0))[0])
        row = int(np.flatnonzero(wrong[:, column])[0])
        missing, n_others = bool(np.isnan(values[row, column])), int(wrong[:, column].sum()) - 1
        got = "a missing value" if missing else "another number"  # which may be a person's
        raise DataError(
            f"{owner}: label {names[column]!r} must be 0 or 1; got {got} in data row {row + 1}"
            f"{f' and in {n_others} others' if n_others else ''}.{f' {fill}' if missing and fill else ''}"
        )
    return values.astype(np.int64)


def unique_name(name: str, used: dict[str, int]) -> str:
    """A name not used yet, which is added to `used`: the name itself, else NAME.2, NAME.3 and so on.

    `used` has the next number to try for each name, so that a thousand columns of one name are numbered in one go.

    >>> used = {}
    >>> [unique_name(name, used) for name in ("age", "dose", "age", "age")]
    ['age', 'dose', 'age.2', 'age.3']
    """
    unique, number = name, used.get(name, 2)
    while unique in used:
        unique, number = f"{name}.{number}", number + 1
    used[unique] = used.get(unique, 2)
    used[name] = number
    return unique


def warn_of_repeated_names(owner: str, repeated: Sequence[str]) -> None:
    """Warn that some names were numbered."""
    if repeated:
        names = list(dict.fromkeys(repeated))
        warnings.warn(
            f"{owner}: several columns are called {listed(names)}; the later ones are now NAME.2, NAME.3 and so on.",
            FedSieveWarning,
            stacklevel=2,
        )


def _names(spec: str | Path | Sequence[str]) -> list[str]:
    if isinstance(spec, Path) or (isinstance(spec, str) and spec.lower().endswith(".xml")):
        return labels_of_xml(Path(spec))
    parts = [name.strip() for name in spec.split(",")] if isinstance(spec, str) else [str(name) for name in spec]
    return list(dict.fromkeys(name for name in parts if name))
