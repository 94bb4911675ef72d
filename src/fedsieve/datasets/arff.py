"""Mulan and MEKA datasets in ARFF: which attributes are labels, and the table that results."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fedsieve.arrays import Float, Int, Rows
from fedsieve.datasets.arff_file import ArffTable, level_values, read_arff
from fedsieve.datasets.columns import feature_columns, label_file_beside, labels_beside, zero_or_one
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.description import warn_of_findings
from fedsieve.errors import DataError, listed
from fedsieve.values import dense, is_sparse

_MEKA = re.compile(r"(?:^|[\s:])-C\s+(-?\d{1,9})\b")


def load_arff(
    path: str | Path, labels: str | Path | Sequence[str] | None = None, *, drop: Sequence[str] = ()
) -> Dataset:
    """Read a Mulan or MEKA dataset, dense or sparse.

    `labels` names the label attributes: a list of names, "y1,y2", "prefix:label_" or the path of a Mulan XML file. By
    default they come from the XML file with the same stem beside the ARFF, else from MEKA's `-C n` in the relation's
    name: the first n attributes, or the last ones where n is negative. Labels are matched by name and keep the order
    in which they are named; all other attributes are features, except those to `drop` (an ID, a text).

    Nominal {0, 1} are numbers, and so are no/yes, n/y, false/true and f/t in any case and order. Other nominal
    attributes become codes by their place in the declaration and are listed in `Dataset.nominal`; as labels they are
    refused. A missing feature is NaN, a missing label is refused. In a sparse file an entry left out is 0, or the first
    value of a nominal attribute; `X` is CSR if all these are 0, else dense. A dense file gives an ndarray.

    Where several attributes have one name, the later ones become NAME.2, NAME.3 and so on.

    Warns (`FedSieveWarning`) about repeated names, and about features that equal a label or are constant.
    """
    dataset = arff_dataset(Path(path), labels, drop)
    warn_of_findings(dataset, str(path))
    return dataset


def arff_dataset(path: Path, labels: str | Path | Sequence[str] | None = None, drop: Sequence[str] = ()) -> Dataset:
    """`load_arff` without warnings about the data."""
    table = read_arff(path, skip=drop)
    chosen = _labels_of(path, table, labels)
    features = feature_columns(table.names, chosen, drop, str(path))
    numbers, nominal = _numbers(table)
    place = {name: column for column, name in enumerate(table.names)}
    coded = [name for name in chosen if name in nominal]
    if coded:
        levels = table.levels[place[coded[0]]]
        raise DataError(
            f"{path}: label {coded[0]!r} must be 0 or 1 (or no/yes, false/true); its values are {listed(levels or ())}."
        )
    return Dataset(
        name=path.stem,
        X=_block(table, numbers, [place[name] for name in features], may_be_sparse=True),
        Y=zero_or_one(_block(table, numbers, [place[name] for name in chosen]), chosen, str(path)),
        feature_names=tuple(features),
        label_names=tuple(chosen),
        nominal=tuple(name for name in features if name in nominal),
        files=(str(path),),
    )


def concatenated(parts: Sequence[Dataset]) -> tuple[Dataset, list[Int]]:
    """Datasets with the same columns as one, and the row numbers of each part."""
    first = parts[0]
    for part in parts[1:]:
        if (part.feature_names, part.label_names) != (first.feature_names, first.label_names):
            raise DataError(f"{listed(part.files)} has other columns than {listed(first.files)}.")
    ends = np.cumsum([len(part.Y) for part in parts])
    whole = replace(
        first,
        X=_stacked([part.X for part in parts]),
        Y=np.vstack([part.Y for part in parts]),
        files=tuple(file for part in parts for file in part.files),
    )
    return whole, [np.arange(end - len(part.Y), end) for part, end in zip(parts, ends, strict=True)]


def _stacked(parts: list[Rows]) -> Rows:
    if not is_sparse(parts[0]):
        return np.vstack(parts)
    from scipy import sparse  # takes long to load, and dense tables do without

    return sparse.vstack(parts)


def _labels_of(path: Path, table: ArffTable, labels: str | Path | Sequence[str] | None) -> list[str]:
    if labels is None and not label_file_beside(path).is_file() and (found := _MEKA.search(table.relation)):
        return _labels_of_meka(path, table, int(found[1]))
    return labels_beside(path, labels, table.names)


def _labels_of_meka(path: Path, table: ArffTable, n_labels: int) -> list[str]:
    if not 0 < abs(n_labels) < len(table.names):
        raise DataError(
            f"{path}: '-C {n_labels}' in the relation's name must leave labels and features; "
            f"there are {len(table.names)} attributes."
        )
    return list(table.names[:n_labels] if n_labels > 0 else table.names[n_labels:])


def _numbers(table: ArffTable) -> tuple[list[Float | None], set[str]]:
    """For each column the number of each code, `None` if it holds numbers already; and the names of coded columns."""
    numbers: list[Float | None] = []
    nominal = set()
    for name, levels in zip(table.names, table.levels, strict=True):
        values, is_code = (None, False) if levels is None else level_values(levels)
        numbers.append(values)
        if is_code:
            nominal.add(name)
    return numbers, nominal


def _block(table: ArffTable, numbers: list[Float | None], columns: list[int], *, may_be_sparse: bool = False) -> Rows:
    """Some columns as numbers: CSR if allowed, the file is sparse and every entry left out is 0; else dense."""
    block = table.codes[:, columns]
    omitted_are_zero = all((values := numbers[column]) is None or values[0] == 0 for column in columns)
    if not (may_be_sparse and omitted_are_zero):
        block = dense(block)
    by_column = is_sparse(block)
    for index, column in enumerate(columns):
        values = numbers[column]
        if values is not None:
            entries = block.data[block.indptr[index] : block.indptr[index + 1]] if by_column else block[:, index]
            known = ~np.isnan(entries)
            entries[known] = values[entries[known].astype(np.int64)]
    if not by_column:
        return block
    block.eliminate_zeros()
    return block.tocsr()
