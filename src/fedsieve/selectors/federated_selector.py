"""What the semi-supervised federated selectors share: labeled rows here, unlabeled ones at clients or in one pool."""

from abc import abstractmethod
from collections.abc import Iterable
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from fedsieve.arrays import Bool, Rows, dense
from fedsieve.errors import DataError, ParameterError
from fedsieve.protocol import Labeled, Plan, Selection, Site
from fedsieve.protocol.site import check_values
from fedsieve.selectors.labels import read_labels
from fedsieve.selectors.ranking_selector import RankingSelector
from fedsieve.selectors.tables import read_clients
from fedsieve.transport import in_process

POOL = "pool"


class FederatedSelector(RankingSelector):
    """A selector that runs through the protocol; a subclass has a plan and keeps its findings.

    After `fit`: `scores_`, `order_`, `ranking_`, `support_`, `relevance_`, `transcript_` (empty without clients),
    `dropped_` (client -> why).
    """

    missing = "error"

    def fit(self, X: Any, Y: Any, clients: Any = None) -> Self:
        """Rank the features.

        With `clients` (a list of tables, or a dict name -> table, at least two), X and Y are the server's labeled
        rows. Without, the rows of X are one pool, those with Y = -1 its unlabeled ones, and no federation is claimed.
        """
        owner = type(self).__name__
        X, Y = self._validated(X, Y)
        labels, labeled = read_labels(Y, owner)
        if not labeled.any():
            raise DataError(f"{owner}: all rows of Y are -1; at least some rows must be labeled.")
        named = hasattr(self, "feature_names_in_")
        features = tuple(self.feature_names_in_) if named else tuple(f"x{i}" for i in range(self.n_features_in_))
        if clients is None:
            _check_pool(owner, X, features, self.missing)
            sites = {POOL: Site(features, pool)} if (pool := self._pool(X, labeled)) is not None else {}
        elif not labeled.all():
            raise DataError(
                f"{owner}: {int((~labeled).sum())} rows of Y are -1 (unlabeled). With clients, X and Y are the "
                "server's labeled rows; move unlabeled ones to a client."
            )
        else:
            sites = read_clients(clients, features, named)
        plan = self._plan(features, min_clients=len(sites) if clients is None else 2)
        outcome = in_process.select(plan, Labeled(dense(X[labeled]), labels[labeled]), sites)
        selection = outcome.selection
        self._keep_ranking(
            selection.scores, selection.order, plan.k if selection.n_selected is None else selection.n_selected
        )
        self.relevance_ = selection.relevance
        self.transcript_ = outcome.transcript if clients is not None else ()
        self.dropped_ = selection.dropped
        self._keep(selection)
        return self

    @abstractmethod
    def _plan(self, features: tuple[str, ...], min_clients: int) -> Plan:
        """The plan of these parameters."""

    @abstractmethod
    def _pool(self, X: Rows, labeled: Bool) -> Rows | None:
        """Which rows stand for the clients where there are none."""

    @abstractmethod
    def _keep(self, selection: Selection) -> None:
        """Keep what the method found besides a ranking."""

    def _validated(self, X: Any, Y: Any) -> tuple[Any, Any]:
        owner = type(self).__name__
        if Y is None:
            raise DataError(f"{owner}: requires y to be passed, but the target y is None. Unlabeled rows are -1.")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2)
        n_labeled = Y.shape[0] if sparse.issparse(Y) else len(np.asarray(Y))
        if n_labeled != X.shape[0]:
            raise DataError(f"{owner}: X has {X.shape[0]} rows and Y {n_labeled}; they must be the same rows.")
        return sparse.csr_array(X) if sparse.issparse(X) else X, Y

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


def _check_pool(owner: str, X: Any, features: tuple[str, ...], missing: str) -> None:
    try:
        check_values(X, features, missing)
    except DataError as error:
        raise DataError(f"{owner}: X has {error}") from None
