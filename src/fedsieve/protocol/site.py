"""One site's table, and the values that no table may have."""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Bool, Float, Rows, dense, is_sparse
from fedsieve.errors import DataError, listed
from fedsieve.protocol.messages.parts import Columns

LARGEST = 1e300  # what is beyond has a range that overflows, and counts as infinite


@dataclass(frozen=True, eq=False)
class Site:
    """One site's table: column names and rows, dense or sparse; and its labels, where a site has any."""

    features: tuple[str, ...]
    X: Rows
    labels: tuple[str, ...] = ()
    Y: Float | None = None  # 0/1, (n_rows, n_labels)

    def columns(self, wanted: Columns) -> Rows:
        """The wanted columns, in the wanted order, matched by name and checked for missing values."""
        place = {name: index for index, name in enumerate(self.features)}
        absent = [name for name in wanted.features if name not in place]
        if absent:
            raise DataError(f"no column {listed(absent)} here. Check this site's columns against the plan's list.")
        X = self.X if wanted.features == self.features else self.X[:, [place[name] for name in wanted.features]]
        check_values(X, wanted.features, wanted.missing)
        return X

    def label_columns(self, wanted: tuple[str, ...]) -> Float:
        """The wanted labels, in the wanted order, matched by name."""
        absent = [name for name in wanted if name not in self.labels]
        if self.Y is None or absent:
            raise DataError(f"no label {listed(absent or wanted)} here. This method needs sites that hold labels.")
        return self.Y[:, [self.labels.index(name) for name in wanted]]


def check_values(X: Rows, features: tuple[str, ...], missing: str) -> None:
    """Refuse infinite values always, and missing ones unless `missing="unrelated"`; names the column and the count."""
    values = X.data if is_sparse(X) else X
    if not values.size or np.abs(values).max() <= LARGEST:
        return
    table = dense(X)
    _refuse(np.abs(table) > LARGEST, "infinite (inf)", features, "Replace them; they have no place in a range.")
    if missing == "error":
        way_out = "Fill them in; SSFMLFS can do without them: missing='unrelated' (--missing unrelated)."
        _refuse(np.isnan(table), "missing (NaN)", features, way_out)


def _refuse(bad: Bool, what: str, features: tuple[str, ...], way_out: str) -> None:
    per_column = bad.sum(axis=0)
    if per_column.any():
        first = int(np.flatnonzero(per_column)[0])
        count, n_others = int(per_column[first]), int((per_column > 0).sum()) - 1
        more = f" and {n_others} more column{'s' * (n_others > 1)}" if n_others else ""
        raise DataError(f"{count} {what} value{'s' * (count > 1)} in column {features[first]!r}{more}. {way_out}")
