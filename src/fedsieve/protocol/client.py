"""A client's side: holds one site's rows and answers requests about them; rows never leave in any other way."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Rows
from fedsieve.errors import FedSieveError, ProtocolError
from fedsieve.fuzzy.relation import relation as relation_matrix
from fedsieve.protocol import messages as m
from fedsieve.protocol.labeled_answers import covariances_of, information_of, partial_correlations_of
from fedsieve.protocol.scaled_answers import projections_of, scaled_covariances_of
from fedsieve.protocol.site import Site
from fedsieve.protocol.summaries import is_unscaled_binary, moments_of, ranges_of, scaled


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
            m.AskInformation: lambda request: information_of(*self._labeled(request), request),
            m.AskCovariances: lambda request: covariances_of(*self._labeled(request), request),
            m.AskPartialCorrelations: lambda request: partial_correlations_of(*self._labeled(request), request),
            m.AskScaledCovariances: lambda request: scaled_covariances_of(self._columns(request), request),
            m.AskProjections: lambda request: projections_of(self._columns(request), request),
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

    def _labeled(self, request: m.AskInformation | m.AskCovariances | m.AskPartialCorrelations) -> tuple[Rows, Float]:
        return self._site.columns(request.columns), self._site.label_columns(request.labels)

    def _columns(self, request: m.AskScaledCovariances | m.AskProjections) -> Rows:
        return self._site.columns(request.columns)

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
