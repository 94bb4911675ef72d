"""Columns of files as numbers, in memory or batch by batch; how many words nobody knows is said."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.cli.console import warn
from fedsieve.datasets.coding import Coding, unknown_words
from fedsieve.datasets.kinds import Column, arrow_column
from fedsieve.datasets.scan import scan, unknown_counts
from fedsieve.datasets.streamed_file import FileTable, check_kinds
from fedsieve.datasets.streams import TableStream
from fedsieve.tables import ArrayTable, Table


def kinds(table: Any, features: Sequence[str]) -> dict[str, Column]:
    """What the cells of each column are."""
    if isinstance(table, TableStream):
        return scan(table, features)
    return {name: arrow_column(table.column(name)) for name in features}


def as_table(file: str, table: Any, columns: dict[str, Column], features: Sequence[str], coding: Coding) -> Table:
    """The features as a table of numbers: in memory, or read again from the file in every pass."""
    if not isinstance(table, TableStream):
        return ArrayTable(tuple(features), as_numbers(file, columns, table.num_rows, features, coding))
    check_kinds(file, columns, features, coding)
    unknown = unknown_counts(columns, [name for name in coding.fixed if name in features], coding.categories)
    if unknown:
        warn(unknown_words(file, unknown))
    return FileTable(table, columns, coding, features)


def as_numbers(file: str, columns: dict[str, Column], n_rows: int, features: Sequence[str], coding: Coding) -> Float:
    """The features as numbers; says how many words count as "other", and never which."""
    X, unknown = np.empty((n_rows, len(features))), {}
    for place, name in enumerate(features):
        X[:, place], n_unknown = coding.numbers(file, name, columns[name], n_rows)
        if n_unknown:
            unknown[name] = n_unknown
    if unknown:
        warn(unknown_words(file, unknown))
    return X
