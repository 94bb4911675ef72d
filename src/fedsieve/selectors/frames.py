"""Data frames with text, dates and ids, as frames of numbers: what `fit` reads before anything is computed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.categories import named_like_an_id
from fedsieve.checks import check_unique
from fedsieve.datasets.coding import Coding, Declared, decide, reasons_listed, unknown_words, warn_of
from fedsieve.datasets.dask_table import is_dask
from fedsieve.datasets.kinds import NUMBERS, Column, frame_columns
from fedsieve.errors import DataError
from fedsieve.selectors.odd_arrays import refuse_odd_array
from fedsieve.selectors.tables import column_names
from fedsieve.tables import Table


class CodedFrame:
    """A data frame of which some columns were replaced by numbers; the others are read where they are."""

    def __init__(self, frame: Any, replaced: Mapping[str, Float]) -> None:
        self.columns = list(frame.columns)
        self.frame, self._replaced = frame, replaced

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, names: str | list[str]) -> Any:
        """One column, or a frame of some."""
        if isinstance(names, list):
            return CodedFrame(self.frame[names], self._replaced)
        return self._replaced[names] if names in self._replaced else self.frame[names]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Float:
        """All columns as float64."""
        return np.column_stack([np.asarray(self[name], dtype=np.float64) for name in self.columns])


def coded_frames(
    owner: str, X: Any, clients: Mapping[str, Any], declared: Declared, *, takes_text: bool
) -> tuple[Any, dict[str, Any], Coding]:
    """The labeled rows and the clients' tables in numbers, and how they became so; warns of columns left out.

    Frames of numbers alone stay as they are, and so does whatever is no frame with names.
    """
    refuse_odd_array(f"{owner}: X", X)
    for name, table in clients.items():
        refuse_odd_array(f"client {name!r}", table)
    frames = {"the labeled rows": X, **{f"client {name!r}": table for name, table in clients.items()}}
    names = column_names(X)
    check_unique(owner, "columns of X must have different names", names or (), "Rename one of them.")
    known = set(names or ())
    if any(isinstance(table, Table) or is_dask(table) for table in clients.values()):
        return X, dict(clients), Coding()  # which hold numbers only, and so must the others
    if names is None or any(not known <= set(column_names(frame) or ()) for frame in frames.values()):
        return X, dict(clients), Coding()  # whoever reads them says what is missing
    columns = {who: {name: c for name, c in frame_columns(frame) if name in known} for who, frame in frames.items()}
    if not any(map(named_like_an_id, names)) and all(_plain(c) for table in columns.values() for c in table.values()):
        return X, dict(clients), Coding()
    try:
        coding = decide(columns, names, declared, takes_text=takes_text)
    except DataError as error:
        raise DataError(f"{owner}: {error}") from None
    if coding.left_out:
        way_out = (
            "If one is a feature, name it in `nominal`, or give it another name or, if it differs, as floats "
            "(with gaps, as pandas' Float64)."
        )
        warn_of(f"{owner}: columns are left out: {reasons_listed(coding.left_out)}. {way_out}")
    coded = {who: _coded(who, frame, columns[who], coding) for who, frame in frames.items()}
    first, *others = coded.values()
    return first, dict(zip(clients, others, strict=True)), coding


def _plain(column: Column) -> bool:
    """Whether the column is read as it is, and can be no id."""
    return _is_own(column) and not column.whole and not column.coded


def _is_own(column: Column) -> bool:
    """Whether it is the frame's own, not made of text or objects."""
    return column.kind == NUMBERS and not isinstance(column.values, np.ndarray)


def _coded(who: str, frame: Any, columns: Mapping[str, Column], coding: Coding) -> Any:
    replaced, unknown = {}, {}
    for name, column in columns.items():
        if not coding.has(name):
            replaced[name] = np.zeros(len(frame))  # which no method ranks before anything else
        elif name in coding.categories or not _is_own(column):
            replaced[name], n_unknown = coding.numbers(who, name, column, len(frame))
            if n_unknown:
                unknown[name] = n_unknown
    if unknown:
        warn_of(unknown_words(who, unknown))
    return CodedFrame(frame, replaced)
