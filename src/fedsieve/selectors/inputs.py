"""What users pass, turned into named tables: arrays, frames, sparse tables, with labels or without."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from fedsieve.arrays import Float, Rows
from fedsieve.checks import names_that_differ
from fedsieve.datasets.dask_table import DaskTable, is_dask
from fedsieve.errors import DataError, FedSieveWarning, columns_differ, listed
from fedsieve.selectors.labels import classes_of, label_array, read_labels
from fedsieve.selectors.tables import column_names
from fedsieve.tables import ArrayTable, FrameTable, Table
from fedsieve.text import counted

WAY_OUT = "Give every site the columns of the labeled rows, in any order."


def named_clients(clients: Any) -> dict[str, Any]:
    """What each client brings, by name: a list gets names by position, a mapping keeps its own."""
    if isinstance(clients, Mapping):
        named = {str(name): brought for name, brought in clients.items()}
        if len(named) < len(clients):
            raise DataError(f"clients must have different names; as text some of {list(clients)} are the same.")
        return named
    if isinstance(clients, Sequence) and not isinstance(clients, str):
        width = len(str(max(len(clients) - 1, 0)))
        return {f"client-{index:0{width}d}": brought for index, brought in enumerate(clients)}
    raise DataError(f"clients must be a list of tables or a dict name -> table; got {type(clients).__name__}.")


def read_clients(clients: Any, features: Sequence[str], named: bool) -> dict[str, Table]:
    """One table per client.

    `named` says whether the labeled rows came with column names; then the clients' columns are matched by name.
    """
    tables = named_clients(clients)
    return {name: _table(f"client {name!r}", table, tuple(features), named) for name, table in tables.items()}


def _table(owner: str, table: Any, features: tuple[str, ...], named: bool) -> Table:
    if is_dask(table):
        try:
            table = DaskTable(table)
        except DataError as error:
            raise DataError(f"{owner}: {error}") from None
    if isinstance(table, Table):
        missing, extra = names_that_differ(features, table.names)
        if missing:
            raise columns_differ(owner, missing, extra, WAY_OUT)
        return table
    names = column_names(table)
    if (names is not None) != named:
        have = ("no names", "names") if named else ("names", "none")
        raise DataError(
            f"{owner} has columns with {have[0]}, the labeled rows with {have[1]}; columns are matched by name. "
            "Pass data frames everywhere, or arrays everywhere."
        )
    if names is not None:
        missing, extra = names_that_differ(features, names)
        if missing:
            raise columns_differ(owner, missing, extra, WAY_OUT)
        if extra:
            unused = f"{counted(len(extra), 'column')} not among the labeled rows', unused: {listed(extra, 4)}."
            warnings.warn(f"{owner}: {unused}", FedSieveWarning, stacklevel=2)
            table = table[list(features)]
    X = numbers(owner, table)
    if X.shape[1] != len(features):
        raise DataError(
            f"{owner} has {counted(X.shape[1], 'column')}, the labeled rows have {len(features)}. {WAY_OUT}"
        )
    return ArrayTable(features, X) if names is None or sparse.issparse(table) else FrameTable(table)


def numbers(owner: str, table: Any) -> Rows:
    """The table as float64, (n_rows, n_columns); a column that holds no numbers is named."""
    if sparse.issparse(table):
        return sparse.csr_array(table, dtype=np.float64)
    try:
        X = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        if column_names(table) is None:
            raise DataError(f"{owner} holds something that is no number. Encode it.") from None
        X = _by_column(owner, table)
    if X.ndim != 2:
        raise DataError(f"{owner} must be a table of rows and columns; got shape {X.shape}.")
    return X


def _by_column(owner: str, table: Any) -> Rows:
    """A data frame one column at a time: pandas' nullable columns convert only so, and a culprit can be named."""
    columns = []
    for name in column_names(table) or ():
        try:
            columns.append(np.asarray(table[name], dtype=np.float64))
        except (TypeError, ValueError):  # whose words would show the value
            raise DataError(f"{owner} holds something that is no number in column {name!r}. Encode it.") from None
    return np.stack(columns, axis=1)


def label_names(Y: Any, n_labels: int) -> tuple[str, ...]:
    """What the labels are called: the columns of a data frame, the classes of a 1-D y, else y0, y1, ...

    >>> label_names([[1, 0], [0, 1]], 2), label_names(["cat", "dog", -1], 2)
    (('y0', 'y1'), ('cat', 'dog'))
    """
    names, values = column_names(Y), label_array(Y, "labels")
    if values.ndim == 1 or values.shape[1] == 1:
        names = tuple(str(value) for value in classes_of(values.ravel(), "labels")[0].tolist())
    return names if names is not None and len(names) == n_labels else tuple(f"y{i}" for i in range(n_labels))


def is_one_label(Y: Any, n_labels: int) -> bool:
    """Whether Y is one label that some rows have and some have not, told as two classes of which the second is it.

    >>> is_one_label([0, 1, 1], 2), is_one_label([[0, 1], [1, 0]], 2)
    (True, False)
    """
    values = label_array(Y, "labels")
    return n_labels == 2 and (values.ndim == 1 or values.shape[1] == 1)


def clients_with_labels(owner: str, clients: Any) -> dict[str, tuple[Any, Any]]:
    """What each client brings where clients hold labels: a pair of rows and labels, by name."""
    pairs = named_clients(clients)
    for name, pair in pairs.items():
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise DataError(
                f"{owner}: client {name!r} must be a pair (rows, labels): this method needs labels at the clients; "
                f"got {type(pair).__name__}."
            )
    return pairs


def common_labels(
    owner: str, tables: Mapping[str, tuple[int, Any]], features: tuple[str, ...]
) -> tuple[tuple[str, ...], list[Float]]:
    """The labels' names and each site's 0/1 labels; classes (1-D) are encoded for all sites together."""
    names = column_names(next(iter(tables.values()))[1])
    values = [_label_values(owner, site, n_rows, y, names) for site, (n_rows, y) in tables.items()]
    widths = {value.shape[1] for value in values}
    if len(widths) > 1:
        raise DataError(f"{owner}: all sites must have the same number of labels; got {sorted(widths)}.")
    if widths == {1}:
        encoded, labeled = read_labels(np.concatenate(values).ravel(), owner)
        if encoded.shape[1] == 2:
            encoded = encoded[:, 1:]  # two classes are one label; as two, each would tell all of the other
    else:
        parts = [read_labels(value, f"{owner}: {site}") for site, value in zip(tables, values, strict=True)]
        encoded, labeled = (np.concatenate(part) for part in zip(*parts, strict=True))
    if not labeled.all():
        raise DataError(
            f"{owner}: {counted(int((~labeled).sum()), 'unlabeled row')} (-1). It needs labels for all rows."
        )
    given = names if names is not None and len(names) == encoded.shape[1] else None
    label_names = given or tuple(f"y{i}" for i in range(encoded.shape[1]))
    while set(label_names) & set(features):
        label_names = tuple(f"label {name}" for name in label_names)
    return label_names, np.split(encoded, np.cumsum([len(value) for value in values])[:-1])


def _label_values(owner: str, site: str, n_rows: int, y: Any, names: tuple[str, ...] | None) -> Any:
    """One site's labels as (n_rows, n_labels), in the order of the server's."""
    own = column_names(y)
    if (own is None) != (names is None):
        have = ("no names", "names") if names is not None else ("names", "none")
        raise DataError(
            f"{owner}: {site} has labels with {have[0]}, the server with {have[1]}; labels are matched by name. "
            "Pass data frames everywhere, or arrays everywhere."
        )
    if own is not None and names is not None:
        missing, extra = names_that_differ(names, own)
        if missing or extra:
            way_out = "Give every site the same labels, in any order."
            raise columns_differ(f"{owner}: {site}, its labels,", missing, extra, way_out)
        y = y[list(names)]
    value = label_array(y, f"{owner}: {site}")
    if value.ndim not in (1, 2) or len(value) != n_rows:
        raise DataError(
            f"{owner}: {site} has {n_rows} rows and labels of shape {value.shape}; they must be the same rows."
        )
    return value.reshape(n_rows, -1)
