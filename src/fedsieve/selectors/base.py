"""What all selectors share, a ranking of which the best are kept; and what federated ones share, one `fit`."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from fedsieve.arrays import Bool, Float, Int, Rows
from fedsieve.errors import DataError, FedSieveWarning, ParameterError
from fedsieve.ordering import default_n_features, places
from fedsieve.privacy import preset
from fedsieve.protocol import Labeled, Method
from fedsieve.protocol.influence import KeptReplies, influence, odd_sites, stretch
from fedsieve.protocol.totals import KeptTotals
from fedsieve.selectors.inputs import clients_with_labels, common_labels, label_names, read_clients, read_labels
from fedsieve.tables import ArrayTable, Table, check_values, dense
from fedsieve.transport import in_process
from fedsieve.transport.rerank import rerank
from fedsieve.transport.totals_file import Totals


class RankingSelector(SelectorMixin, BaseEstimator):
    """A selector whose `fit` ends in `_keep_ranking`.

    Attributes: `scores_` per feature, `order_` (indices, best first), `ranking_` (1 is best), `support_` (mask).
    """

    n_features_to_select: Any

    def _n_kept(self) -> int:
        """How many features the parameters ask for."""
        n_features, wanted = int(self.n_features_in_), self.n_features_to_select
        k: int = default_n_features(n_features) if wanted is None else wanted
        if not 1 <= k <= n_features:
            raise ParameterError(
                f"{type(self).__name__}: n_features_to_select must be in [1, n_features={n_features}]; got {k}."
            )
        return k

    def _keep_ranking(self, scores: Float, order: Int, k: int) -> None:
        self.scores_ = scores
        self.order_ = order
        self.ranking_ = places(order) + 1
        self.support_ = self.ranking_ <= k

    def _get_support_mask(self) -> Bool:
        check_is_fitted(self)
        mask: Bool = self.support_
        return mask


POOL = "pool"


@dataclass(frozen=True, eq=False)
class Federation:
    """The tables of one `fit`: names, the server's labeled rows, and one table per client."""

    features: tuple[str, ...]
    labels: tuple[str, ...]  # where clients hold them
    labeled: Labeled
    tables: dict[str, Table]


@dataclass(frozen=True, eq=False)
class _Run:
    """What is kept of a `fit` for later questions: all but the clients' tables."""

    method: Method
    federation: Federation
    kept: KeptReplies
    totals: KeptTotals


class FederatedSelector(RankingSelector):
    """A selector that runs a federated method; a subclass names the method and keeps its findings.

    After `fit`: `scores_`, `order_`, `ranking_`, `support_`, `relevance_`, `per_label_` (n_labels, n_features) of the
    labels `label_names_` (`None` where the method tells nothing of single labels), `transcript_` (empty without
    clients),
    `dropped_` (client -> why), `influence_` (client -> how far the order moves without it), `left_out_` (columns that
    secure sums leave out, since few rows of all clients differ in them).
    """

    federated_method: ClassVar[type[Method]]
    missing = "error"

    def fit(self, X: Any, Y: Any = None, clients: Any = None, policy: str = "library") -> Self:
        """Rank the features.

        With `clients`, X and Y are the server's labeled rows. Clients are a list or a dict by name, two at least: of
        tables, or of pairs (rows, labels) for a method whose clients hold labels. Without clients no federation is
        claimed: the rows of X are one pool, and those with Y = -1 its unlabeled ones.

        `policy` is "library" (one machine holds all rows anyway) or "site" (each client refuses what a site that joined
        a federation would refuse).
        """
        rules = preset(policy, type(self).__name__)
        federation = self._read(X, Y, clients)
        min_clients = len(federation.tables) if clients is None else 2
        parameters = self._parameters(federation)
        if clients is None:  # one place: there are no sums to hide
            parameters["secure"] = False
        elif parameters.get("secure"):
            parameters |= {"min_cell": rules.min_cell, "rows_per_column": rules.rows_per_column}
        method = self.federated_method(federation.features, min_clients=min_clients, **parameters)
        kept, totals = KeptReplies(), KeptTotals()
        outcome = in_process.select(
            method, federation.labeled, federation.tables, policy=rules, kept=kept, totals=totals
        )
        self.transcript_ = outcome.transcript if clients is not None else ()
        self.dropped_ = outcome.selection.dropped
        self._conclude(method, outcome.selection, _Run(method, replace(federation, tables={}), kept, totals))
        return self

    def rerank(self, n_features_to_select: Any, **parameters: Any) -> Self:
        """Select another number of features without asking the clients: a new fitted selector; this one stays.

        `parameters` are others that no client is asked for, as `random_state`; one that is part of what the clients
        were asked is refused by name. Needs what `fit` kept in memory: not possible after pickling.
        """
        check_is_fitted(self)
        owner, run = type(self).__name__, self._run
        if run is None:
            raise DataError(f"{owner}: a pickled selector keeps no totals to rerank from. Fit again.")
        if run.totals.why_none:
            raise DataError(
                f"{owner}: there are no totals to rerank from: {run.totals.why_none}. Its order_ does not depend on "
                "the number of features: take the best of it."
            )
        wanted = {"n_features_to_select": n_features_to_select, **parameters}
        again: Self = copy(self)
        again.set_params(**wanted)
        known = again._parameters(run.federation)
        names = ("seed" if name == "random_state" else name for name in wanted)
        labeled = run.federation.labeled
        changes = {name: known.get(name) for name in names}
        method, selection = rerank(Totals.of(run.method, labeled, run.totals), labeled, changes)
        again._conclude(method, selection, run)
        return again

    def _conclude(self, method: Method, selection: Any, run: "_Run") -> None:
        """Keep what was found, and what later questions about it need."""
        self._run: _Run | None = run
        self._influence: Callable[[], tuple[dict[str, float] | None, dict[str, float]]] | None = lambda: (
            influence(method, run.federation.labeled, selection, run.kept),
            stretch(run.kept),
        )
        n_selected = method.k if selection.n_selected is None else selection.n_selected
        self._keep_ranking(selection.scores, selection.order, n_selected)
        self.relevance_ = selection.relevance
        self.per_label_ = selection.per_label
        self.left_out_ = selection.left_out
        self._keep(selection)

    @property
    def influence_(self) -> dict[str, float] | None:
        """Per client the share of the selected features that others would replace without it, ranges being the same.

        Computed when it is first read; a client that moves far more than the others, or a column's spread more than
        twofold, is warned of. `None` where it cannot be told: fewer than three clients, `wire="vectors"`, noise, or
        `secure=True`, which shows nobody a single client's replies. Not kept in a pickled selector.
        """
        check_is_fitted(self)
        if self._influence is None:
            raise AttributeError(f"{type(self).__name__}: influence_ is not kept in a pickled selector; fit again.")
        moved, factors = self._influence()
        self._influence = lambda: (moved, factors)
        for words in odd_sites(moved, factors).values():
            warnings.warn(words, FedSieveWarning, stacklevel=2)
        return moved

    def __getstate__(self) -> Any:
        """Without rows, replies and totals, which `influence_` and `rerank` need."""
        state = super().__getstate__()
        return {**state, "_influence": None, "_run": None} if "_influence" in state else state

    @abstractmethod
    def _keep(self, selection: Any) -> None:
        """Keep what the method found besides a ranking."""

    def _pool(self, X: Rows, labeled: Bool) -> Rows | None:  # noqa: ARG002 (labeled rows are rows of the pool as well)
        """Which rows stand for the clients where there are none."""
        return X

    def _parameters(self, federation: Federation) -> dict[str, Any]:
        """The parameters of this selector that are the method's, features by name."""
        known = {field.name for field in fields(self.federated_method)}
        given = {name: value for name, value in self.get_params(deep=False).items() if name in known}
        if "nominal" in given:
            given["nominal"] = self._names("nominal", given["nominal"], federation.features)
        if self.federated_method.sites_hold_labels:
            given["labels"] = federation.labels
        return given

    def _read(self, X: Any, Y: Any, clients: Any) -> Federation:
        owner, with_labels = type(self).__name__, self.federated_method.sites_hold_labels
        if Y is None:
            way_out = "It is a supervised method." if with_labels else "Unlabeled rows are -1."
            raise DataError(f"{owner}: requires y to be passed, but the target y is None. {way_out}")
        X = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=with_labels, ensure_min_samples=2
        )
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        named = hasattr(self, "feature_names_in_")
        features = tuple(self.feature_names_in_) if named else tuple(f"x{i}" for i in range(self.n_features_in_))
        read = self._read_clients_with_labels if with_labels else self._read_clients_without_labels
        return read(X, Y, clients, features, named)

    def _read_clients_with_labels(
        self, X: Rows, Y: Any, clients: Any, features: tuple[str, ...], named: bool
    ) -> Federation:
        owner = type(self).__name__
        pairs = {} if clients is None else clients_with_labels(owner, clients)
        rows = read_clients({name: rows for name, (rows, _) in pairs.items()}, features, named)
        sizes = {"the server": (X.shape[0], Y), **{f"client {n!r}": (rows[n].n_rows, pairs[n][1]) for n in pairs}}
        labels, (own, *others) = common_labels(owner, sizes, features)
        self.label_names_ = labels
        tables: dict[str, Table] = {
            name: ArrayTable(features, table.whole(features), labels, labels_there)
            for (name, table), labels_there in zip(rows.items(), others, strict=True)
        }
        return Federation(features, labels, Labeled(dense(X), own), tables)

    def _read_clients_without_labels(
        self, X: Rows, Y: Any, clients: Any, features: tuple[str, ...], named: bool
    ) -> Federation:
        owner = type(self).__name__
        n_labels = Y.shape[0] if sparse.issparse(Y) else len(np.asarray(Y))
        if n_labels != X.shape[0]:
            raise DataError(f"{owner}: X has {X.shape[0]} rows and Y {n_labels}; they must be the same rows.")
        labels, labeled = read_labels(Y, owner)
        if not labeled.any():
            raise DataError(f"{owner}: all rows of Y are -1; at least some rows must be labeled.")
        if clients is None:
            try:
                check_values(X, features, self.missing)
            except DataError as error:
                raise DataError(f"{owner}: X has {error}") from None
            pool = self._pool(X, labeled)
            tables: dict[str, Table] = {} if pool is None else {POOL: ArrayTable(features, pool)}
        elif not labeled.all():
            raise DataError(
                f"{owner}: {int((~labeled).sum())} rows of Y are -1 (unlabeled). With clients, X and Y are the "
                "server's labeled rows; move unlabeled ones to a client."
            )
        else:
            tables = read_clients(clients, features, named)
        self.label_names_ = label_names(Y, labels.shape[1])
        return Federation(features, (), Labeled(dense(X[labeled]), labels[labeled]), tables)

    def _names(self, parameter: str, entries: Iterable[Any], features: tuple[str, ...]) -> tuple[str, ...]:
        """Names of features that are given as names or indices."""
        try:
            return tuple(features[int(e)] if isinstance(e, Integral) else str(e) for e in entries)
        except IndexError:
            raise ParameterError(
                f"{type(self).__name__}: {parameter}={entries!r} has an index beyond the {len(features)} features."
            ) from None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "unrelated"
        return tags
