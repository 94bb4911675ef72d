"""Labeled rows that a selection is judged on: as selectors take them, and in numbers, as classifiers do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from fedsieve.arrays import Bool, Float, Int
from fedsieve.datasets.coding import Declared
from fedsieve.errors import DataError
from fedsieve.experiments.evaluation import scale
from fedsieve.selectors.frames import coded_frames
from fedsieve.selectors.inputs import named_clients, numbers, read_clients
from fedsieve.selectors.labels import label_array, read_labels
from fedsieve.selectors.tables import column_names
from fedsieve.tables import Table
from fedsieve.text import counted
from fedsieve.values import check_values, dense


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """Labeled rows, unlabeled ones beside them where X has any, and the tables of further sites."""

    names: tuple[str, ...]
    numbers: Float  # (n_rows, n_features); codes for categories, NaN where a value is missing
    nominal: Bool  # (n_features,), which of them are codes
    usable: Int  # the features that are none of the columns that only name the rows
    Y: Int  # (n_rows, n_labels); 0 in unlabeled rows
    labeled: Bool  # (n_rows,)
    X_given: Any  # as it came, and so the labels
    Y_given: Any
    clients: Mapping[str, Any] | None = None  # as they came: rows, or pairs of rows and labels
    tables: Mapping[str, Table] = field(default_factory=dict)  # their rows in numbers

    @property
    def clients_hold_labels(self) -> bool:
        """Whether all clients came as pairs."""
        return bool(self.clients) and all(map(_is_pair, (self.clients or {}).values()))

    def as_given(self, rows: Int) -> tuple[Any, Any]:
        """Some rows and their labels, in whatever form they came."""
        return _safe_indexing(self.X_given, rows), _safe_indexing(self.Y_given, rows)

    def filled(self, rows: Int) -> Float:
        """Some rows in numbers; where a value is missing, the mean of these rows."""
        return _filled(self.numbers[rows], self.numbers[rows])

    def labeled_clients(self) -> dict[str, tuple[Float, Any]] | None:
        """The clients that hold labels, each with its rows in numbers; none where they hold none."""
        if self.clients is None or not self.clients_hold_labels:
            return None
        return {name: (X, self.clients[name][1]) for name, X in zip(self.tables, self.pool(), strict=True)}

    def pool(self) -> list[Float]:
        """The clients' rows in numbers, one table each."""
        return [_filled(X, X) for X in (dense(table.whole(self.names)) for table in self.tables.values())]


def read_labeled_rows(
    owner: str, X: Any, Y: Any, clients: Any, nominal: Any = (), dates: Any = (), features: Sequence[str] = ()
) -> LabeledRows:
    """What a user passes; text, dates and ids in data frames are read as `fit` reads them.

    `features` are the names of an array's columns, where there are any.
    """
    if Y is None:
        raise DataError(f"{owner}: Y is None; a selection is judged by labels.")
    labels, labeled = read_labels(Y, owner)
    if labeled.sum() < 2:
        raise DataError(
            f"{owner}: Y has {counted(int(labeled.sum()), 'labeled row')}; cross-validation needs two or more. Rows "
            "that are -1 throughout are unlabeled."
        )
    brought = None if clients is None else named_clients(clients)
    if brought is not None and not labeled.all():
        raise DataError(
            f"{owner}: {counted(int((~labeled).sum()), 'unlabeled row')} (-1) in Y. With clients, X and Y are the "
            "server's labeled rows; move unlabeled ones to a client."
        )
    rows = {name: table[0] if _is_pair(table) else table for name, table in (brought or {}).items()}
    names = column_names(X)
    declared = Declared(dates=_named(dates, names or ()), nominal=_named(nominal, names or ()))
    coded, coded_rows, coding = coded_frames(owner, X, rows, declared, takes_text=True)
    table = dense(numbers(f"{owner}: X", coded))
    features = names or tuple(features) or tuple(f"x{index}" for index in range(table.shape[1]))
    if len(table) != len(labels):
        raise DataError(f"{owner}: X has {len(table)} rows and Y {len(labels)}; they must be the same rows.")
    try:
        check_values(table, features, "mean")
    except DataError as error:
        raise DataError(f"{owner}: X has {error}") from None
    codes = set(coding.nominal(_named(nominal, features)))
    return LabeledRows(
        names=features,
        numbers=table,
        nominal=np.array([name in codes for name in features]),
        usable=np.flatnonzero([coding.has(name) for name in features]),
        Y=np.where(labeled[:, None], labels, 0).astype(np.int64),
        labeled=labeled,
        X_given=X,
        Y_given=label_array(Y, owner) if isinstance(Y, list | tuple) else Y,
        clients=brought,
        tables=read_clients(coded_rows, features, names is not None),
    )


class ClassifierInput:
    """The columns that a classifier sees in a fold: codes as one 0/1 column each, all scaled by the training rows."""

    def __init__(self, rows: LabeledRows, train: Int) -> None:
        measured, coded = np.flatnonzero(~rows.nominal), np.flatnonzero(rows.nominal)
        parts = [_filled(rows.numbers[:, measured], rows.numbers[np.ix_(train, measured)])]
        for feature in coded:
            column = rows.numbers[:, feature]
            values = np.unique(column[rows.labeled & ~np.isnan(column)])
            parts.append((column[:, None] == values).astype(np.float64))  # a missing code is none of them
        self.table = scale(np.hstack(parts), train)
        self._owner = np.concatenate([measured, np.repeat(coded, [part.shape[1] for part in parts[1:]])])

    def columns(self, features: Int) -> Int:
        """Where some features stand in the table."""
        return np.flatnonzero(np.isin(self._owner, features))


def _filled(table: Float, known: Float) -> Float:
    """The table with the means of `known` rows where values are missing; 0 where nothing is known."""
    missing = np.isnan(table)
    if not missing.any():
        return table
    present = ~np.isnan(known)
    mean = np.where(present, known, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    return np.where(missing, mean, table)


def _is_pair(brought: Any) -> bool:
    return isinstance(brought, tuple) and len(brought) == 2


def _named(entries: Any, features: tuple[str, ...]) -> tuple[str, ...]:
    """Features by name that are given by name or index; whoever fits says which are none."""
    known = dict(enumerate(features))
    return tuple(known.get(entry, str(entry)) if not isinstance(entry, str) else entry for entry in entries)
