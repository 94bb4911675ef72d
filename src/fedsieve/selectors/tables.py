"""Tables as users have them (arrays, pandas, polars, scipy sparse) turned into named columns of numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from fedsieve.arrays import Rows
from fedsieve.errors import DataError, columns_differ
from fedsieve.protocol import Site

WAY_OUT = "Give every site the columns of the labeled rows, in any order."


def column_names(table: Any) -> tuple[str, ...] | None:
    """The column names of a data frame; `None` for arrays, and for frames whose columns are only numbered."""
    columns = getattr(table, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


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


def read_clients(clients: Any, features: Sequence[str], named: bool) -> dict[str, Site]:
    """One site per client.

    `named` says whether the labeled rows came with column names; then the clients' columns are matched by name.
    """
    tables = named_clients(clients)
    return {name: _site(f"client {name!r}", table, tuple(features), named) for name, table in tables.items()}


def _site(owner: str, table: Any, features: tuple[str, ...], named: bool) -> Site:
    names = column_names(table)
    if (names is not None) != named:
        have = ("no names", "names") if named else ("names", "none")
        raise DataError(
            f"{owner} has columns with {have[0]}, the labeled rows with {have[1]}; columns are matched by name. "
            "Pass data frames everywhere, or arrays everywhere."
        )
    if names is not None:
        missing = [name for name in features if name not in names]
        extra = [name for name in names if name not in features]
        if missing or extra:
            raise columns_differ(owner, missing, extra, WAY_OUT)
    X = numbers(owner, table)
    if X.shape[1] != len(features):
        raise DataError(f"{owner} has {X.shape[1]} columns, the labeled rows have {len(features)}. {WAY_OUT}")
    return Site(names or features, X)


def numbers(owner: str, table: Any) -> Rows:
    """The table as float64, (n_rows, n_columns); a column that holds no numbers is named."""
    if sparse.issparse(table):
        return sparse.csr_array(table, dtype=np.float64)
    try:
        X = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if column_names(table) is None:
            raise DataError(f"{owner} holds something that is no number: {error}. Encode it.") from None
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
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{owner} holds something that is no number: column {name!r} ({error}). Encode it."
            ) from None
    return np.stack(columns, axis=1)
