"""Columns as Sieve sees them: numbers scaled to [0, 1] by the federation's ranges, codes as one 0/1 column per code."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Bool, Float, Int, Rows, dense
from fedsieve.errors import DataError, ProtocolError
from fedsieve.protocol.messages.parts import Columns, Scaling
from fedsieve.protocol.summaries import BLOCK, scaled

MAX_CODES = 1000  # between the smallest and the largest code of a column


@dataclass(frozen=True, eq=False)
class Encoding:
    """The encoded columns: their names, the feature each belongs to, and the code it stands for (NaN for a number)."""

    names: tuple[str, ...]
    owner: Int
    code: Float
    low: Float  # per feature
    high: Float
    nominal: Bool

    @classmethod
    def of(cls, columns: Columns, scaling: Scaling) -> "Encoding":
        """From the federation's ranges; the codes of a nominal column are all whole numbers of its range.

        >>> columns = Columns(("age", "color"), ("color",), "error")
        >>> Encoding.of(columns, Scaling(np.array([18.0, 1.0]), np.array([99.0, 3.0]))).names
        ('age', 'color=1', 'color=2', 'color=3')
        """
        low, high = scaling.low, scaling.high
        if low is None or high is None or not low.shape == high.shape == (len(columns.features),):
            raise ProtocolError(
                "was sent no ranges, or not one per column; the encoding must be the same at all sites."
            )
        if not np.isfinite([low, high]).all():
            raise ProtocolError("was sent ranges that are no finite numbers.")
        nominal = np.isin(columns.features, columns.nominal)
        names, owner, code = [], [], []
        for feature, name in enumerate(columns.features):
            codes = _codes(name, float(low[feature]), float(high[feature])) if nominal[feature] else [None]
            names += [name if value is None else f"{name}={value}" for value in codes]
            owner += [feature] * len(codes)
            code += [np.nan if value is None else float(value) for value in codes]
        return cls(tuple(names), np.array(owner, dtype=np.int64), np.array(code), low, high, nominal)

    def table(self, X: Rows) -> Float:
        """The rows of X, dense, in encoded columns."""
        return np.hstack(list(self.blocks(X)))

    def blocks(self, X: Rows) -> Iterator[Float]:
        """The encoded columns of a few features at a time, so that a wide sparse table is never dense as a whole."""
        by_column = X if isinstance(X, np.ndarray) else X.tocsc()
        for first in range(0, len(self.low), BLOCK):
            features = slice(first, first + BLOCK)
            yield self._encoded(dense(by_column[:, features]), features)

    def _encoded(self, raw: Float, features: slice) -> Float:
        nominal = self.nominal[features]
        values, _ = scaled(raw, self.low[features], self.high[features], nominal)
        if not nominal.any():
            return values
        broken = nominal & (values != np.round(values))
        if broken.any():
            row, place = np.argwhere(broken)[0]
            name = self.names[int(np.argmax(self.owner == features.start + place))].rpartition("=")[0]
            raise _no_whole_number(name, float(values[row, place]))
        chosen = (self.owner >= features.start) & (self.owner < features.stop)
        spread, code = values[:, self.owner[chosen] - features.start], self.code[chosen]
        return np.where(np.isnan(code), spread, spread == code)


def _codes(name: str, low: float, high: float) -> list[int]:
    if low != round(low) or high != round(high):
        raise _no_whole_number(name, low if low != round(low) else high)
    if high - low >= MAX_CODES or max(-low, high) > 2**53:  # beyond, floats do not tell all codes apart
        raise DataError(
            f"the codes of nominal column {name!r} go from {low:g} to {high:g}; at most {MAX_CODES} are encoded. "
            "Number the categories 0, 1, 2, ..., or treat the column as a number."
        )
    return list(range(int(low), int(high) + 1))


def _no_whole_number(name: str, code: float) -> DataError:
    return DataError(
        f"nominal column {name!r} has the code {code:g}, which is no whole number. Number the categories 0, 1, 2, ..."
    )
