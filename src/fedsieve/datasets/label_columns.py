"""Which columns of a table are labels: a list of names, a common prefix, or a Mulan label file."""

from collections.abc import Sequence
from pathlib import Path

from fedsieve.errors import DataError, extra_needed, listed

PREFIX = "prefix:"


def label_columns(spec: str, columns: Sequence[str]) -> list[str]:
    """The label columns that `spec` names, in the table's order for a prefix, else in the order of the spec.

    `spec` is "y1,y2", "prefix:label_" or the path of a Mulan XML file.

    >>> label_columns("prefix:y_", ["age", "y_a", "y_b"])
    ['y_a', 'y_b']
    """
    if spec.startswith(PREFIX):
        prefix = spec.removeprefix(PREFIX)
        chosen = [name for name in columns if prefix and name.startswith(prefix)]
        if not chosen:
            raise DataError(
                f"no column starts with {prefix!r}, so there is no label column; columns: {listed(columns)}."
            )
        return chosen
    chosen = labels_of_xml(Path(spec)) if spec.lower().endswith(".xml") else _names(spec)
    if not chosen:
        raise DataError("no label column was named. Say for example --labels y1,y2 or --labels prefix:label_.")
    absent = [name for name in chosen if name not in columns]
    if absent:
        raise DataError(f"no label column {listed(absent)} among the columns {listed(columns)}.")
    return chosen


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


def _names(spec: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in spec.split(",") if name.strip()))
