"""A client's side: holds one site's rows and answers requests about them; rows never leave in any other way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Rows, dense, is_sparse
from fedsieve.errors import DataError, FedSieveError, ProtocolError, listed
from fedsieve.fuzzy.relation import relation as relation_matrix
from fedsieve.protocol import messages as m
from fedsieve.protocol.summaries import is_unscaled_binary, moments_of, ranges_of, scaled

LARGEST = 1e300  # what is beyond has a range that overflows, and counts as infinite


@dataclass(frozen=True, eq=False)
class Site:
    """One site's table: column names and rows, dense or sparse."""

    features: tuple[str, ...]
    X: Rows

    def columns(self, wanted: m.Columns) -> Rows:
        """The wanted columns, in the wanted order, matched by name and checked for missing values."""
        place = {name: index for index, name in enumerate(self.features)}
        absent = [name for name in wanted.features if name not in place]
        if absent:
            raise DataError(f"no column {listed(absent)} here. Check this site's columns against the plan's list.")
        X = self.X if wanted.features == self.features else self.X[:, [place[name] for name in wanted.features]]
        check_values(X, wanted.features, wanted.missing)
        return X


def check_values(X: Rows, features: tuple[str, ...], missing: str) -> None:
    """Refuse infinite values always, and missing ones unless `missing="unrelated"`; names the column and the count."""
    values = X.data if is_sparse(X) else X
    if not values.size or np.abs(values).max() <= LARGEST:
        return
    table = dense(X)
    _refuse(np.abs(table) > LARGEST, "infinite (inf)", features, "Replace them; they have no place in a range.")
    if missing == "error":
        way_out = "Fill them in, or choose missing='unrelated' (--missing unrelated); the default is 'error'."
        _refuse(np.isnan(table), "missing (NaN)", features, way_out)


def _refuse(bad: Bool, what: str, features: tuple[str, ...], way_out: str) -> None:
    per_column = bad.sum(axis=0)
    if per_column.any():
        first = int(np.flatnonzero(per_column)[0])
        count, n_others = int(per_column[first]), int((per_column > 0).sum()) - 1
        more = f" and {n_others} more column{'s' * (n_others > 1)}" if n_others else ""
        raise DataError(f"{count} {what} value{'s' * (count > 1)} in column {features[first]!r}{more}. {way_out}")


class Memory(Protocol):
    """Where a client keeps its pair sums between rounds; it keeps nothing else."""

    def keep(self, sums: Float) -> None:
        """Remember these sums instead of any before."""

    def recall(self) -> Float | None:
        """The sums last kept, if any."""


class OwnMemory:
    """The memory of a client that lives as long as the run."""

    def __init__(self) -> None:
        self._sums: Float | None = None

    def keep(self, sums: Float) -> None:
        """Hold on to them."""
        self._sums = sums

    def recall(self) -> Float | None:
        """What was kept last."""
        return self._sums


class Client:
    """Answers the server's requests from one site's rows."""

    def __init__(self, site: Site, memory: Memory | None = None) -> None:
        self._site = site
        self._memory = memory or OwnMemory()
        self._answers: dict[type, Callable[..., m.Reply]] = {
            m.AskRanges: self._ranges,
            m.AskMoments: self._moments,
            m.AskRelations: self._relations,
            m.AskPairSums: self._pair_sums,
            m.AskProducts: self._products,
        }

    def answer(self, request: m.Request) -> m.Reply:
        """The reply to a request; a `Refusal` with the reason where the rows do not allow one."""
        try:
            return self._answers[type(request)](request)
        except FedSieveError as reason:
            return m.Refusal(str(reason))

    def _ranges(self, request: m.AskRanges) -> m.Ranges:
        return ranges_of(self._site.columns(request.columns), request.columns.features)

    def _moments(self, request: m.AskMoments) -> m.Moments:
        X, n_clipped = self._scaled(request.columns, request.scaling)
        return moments_of(X, request.columns.features, n_clipped)

    def _relations(self, request: m.AskRelations) -> m.Relations:
        spec = request.relation
        X, _ = self._scaled(spec.columns, spec.scaling)
        nominal = _mask(spec.columns)
        values = np.empty((X.shape[1], len(X), len(X)))
        for p in range(X.shape[1]):
            values[p] = relation_matrix(X[:, p], float(spec.radius[p]), spec.kind, nominal=bool(nominal[p]))
        return m.Relations(len(X), spec.columns.features, values)

    def _pair_sums(self, request: m.AskPairSums) -> m.PairSums:
        return m.PairSums.of(self._n_rows, request.relation.columns.features, self._sums_of(request.relation))

    def _products(self, request: m.AskProducts) -> m.Products:
        if request.relation is None:
            sums = self._memory.recall()
        else:
            sums = self._sums_of(request.relation)
            self._memory.keep(sums)
        if sums is None:
            raise ProtocolError("asked for a product before the relation was given. Start the run again.")
        return m.Products(self._n_rows, kernels.distance_product(sums, request.vector))

    def _sums_of(self, spec: m.Relation) -> Float:
        raw = self._site.columns(spec.columns)
        X = raw if is_unscaled_binary(raw, *_range(raw, spec.scaling)) else self._scaled(spec.columns, spec.scaling)[0]
        return kernels.pair_sums(X, spec.radius, spec.kind, nominal=_mask(spec.columns))

    def _scaled(self, columns: m.Columns, scaling: m.Scaling) -> tuple[Float, int]:
        X = self._site.columns(columns)
        return scaled(X, *_range(X, scaling), _mask(columns))

    @property
    def _n_rows(self) -> int:
        return int(self._site.X.shape[0])


def _range(X: Rows, scaling: m.Scaling) -> tuple[Float, Float]:
    if scaling.low is None or scaling.high is None:
        own = ranges_of(X, ())
        return own.low, own.high
    return scaling.low, scaling.high


def _mask(columns: m.Columns) -> Bool:
    return np.isin(columns.features, columns.nominal)
