"""SSFMLFS as a scikit-learn estimator: checks input, hands over to the protocol, keeps the result."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from fedsieve.arrays import dense
from fedsieve.errors import DataError, ParameterError
from fedsieve.protocol import Labelled, Site, SSFMLFSPlan
from fedsieve.protocol.site import check_values
from fedsieve.protocol.ssfmlfs.talk import GraphSelection
from fedsieve.runtimes import in_process
from fedsieve.runtimes.driver import Outcome
from fedsieve.selectors.labels import read_labels
from fedsieve.selectors.ranking_selector import RankingSelector
from fedsieve.selectors.tables import read_clients

POOL = "pool"


class SSFMLFS(RankingSelector):
    """Semi-supervised federated multi-label feature selection with fuzzy information measures.

    Clients hold unlabelled rows, the server a few labelled ones. Features are vertices of a graph: their weight is
    the fuzzy dependency of the labels on them (server), their edges are fuzzy correlation distances (clients, only
    sums leave them); weighted PageRank ranks them. `docs/method.md` has the steps, `docs/parameters.md` the choices.

    Parameters
    ----------
    n_features_to_select : int or None
        How many features to keep; `None` takes 40 % below 100 features, 30 % below 500, 20 % below 1000, else 10 %.
    lam : float in [0.4, 2]
        The radius of a feature's relation is its deviation over all clients divided by `lam`.
    n_neighbors : int
        How many rows with unlike labels each labelled row is compared with.
    damping : float in [0, 1)
        How much of a score comes along the edges.
    relation : {"distance", "similarity"}
        Threshold the difference (the paper) or the similarity (the published code of GRMFS).
    irrelevant : {"least", "nonnegative"}
        Rows with unlike labels: the least similar ones, or the least similar that are not negative.
    decisions : {"crisp", "soft"}
        Compare the labels as they are, or averaged over related rows.
    ranges : {"federated", "local"} or dict name -> (low, high)
        Which range becomes [0, 1]: over all sites, each site's own, or declared ones.
    spread : {"pooled", "mean"}
        Deviation of all clients' rows together, or the mean of the clients' deviations.
    wire : {"auto", "matrices", "statistics", "vectors"}
        What clients send; the answer is the same. `auto` takes `statistics` up to 2000 features, else `vectors`.
    missing : {"error", "unrelated"}
        Refuse NaN, or treat a row with NaN as unrelated to all others in that feature.
    constant : {"last", "keep"}
        Features without spread over the clients: ranked last, or kept as vertices of the graph.
    nominal : sequence of names or indices
        Features whose values are codes: related if equal.
    tol, max_iter : float, int
        PageRank stops at this relative change and fails after this many iterations.
    on_bad_client : {"raise", "drop"}
        End the run at a reply that breaks a rule, or start it anew without that client.
    random_state : None
        The method draws no random numbers; the parameter is here for code that sets it on every selector.
    selected_distance : bool
        Under `vectors`: spend one more round on the distances among the selected features.
    max_message_bytes : int
        Refuse a wire form with a larger message.

    Attributes
    ----------
    scores_, relevance_, radius_ : ndarray of shape (n_features_in_,)
    order_ : ndarray, feature indices, best first
    ranking_ : ndarray, 1 for the best feature
    support_ : ndarray, mask of the selected features
    distance_ : ndarray of shape (n_features_in_, n_features_in_) or None under `vectors`
    selected_distance_ : ndarray of shape (k, k), best first, or None
    n_iter_ : int
    transcript_ : tuple of entries (round, sender, receiver, kind, n_bytes); empty without clients
    dropped_ : dict, client -> why it was dropped
    n_clipped_ : dict, site -> how many values lay outside the declared ranges

    Examples
    --------
    >>> import numpy as np
    >>> from fedsieve import SSFMLFS
    >>> rng = np.random.default_rng(0)
    >>> sites = [rng.random((20, 5)) for _ in range(3)]
    >>> X, Y = rng.random((10, 5)), rng.integers(0, 2, (10, 3))
    >>> selector = SSFMLFS(n_features_to_select=2).fit(X, Y, clients=sites)
    >>> selector.order_
    array([3, 0, 2, 1, 4])
    >>> selector.transform(X).shape
    (10, 2)
    """

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        lam: float = 1.2,
        n_neighbors: int = 3,
        damping: float = 0.85,
        relation: str = "distance",
        irrelevant: str = "least",
        decisions: str = "crisp",
        ranges: str | Mapping[str, tuple[float, float]] = "federated",
        spread: str = "pooled",
        wire: str = "auto",
        missing: str = "error",
        constant: str = "last",
        nominal: Sequence[Any] = (),
        tol: float = 1e-9,
        max_iter: int = 500,
        on_bad_client: str = "raise",
        random_state: Any = None,
        selected_distance: bool = False,
        max_message_bytes: int = 512_000_000,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.lam = lam
        self.n_neighbors = n_neighbors
        self.damping = damping
        self.relation = relation
        self.irrelevant = irrelevant
        self.decisions = decisions
        self.ranges = ranges
        self.spread = spread
        self.wire = wire
        self.missing = missing
        self.constant = constant
        self.nominal = nominal
        self.tol = tol
        self.max_iter = max_iter
        self.on_bad_client = on_bad_client
        self.random_state = random_state
        self.selected_distance = selected_distance
        self.max_message_bytes = max_message_bytes

    def fit(self, X: Any, Y: Any, clients: Any = None) -> Self:
        """Rank the features.

        With `clients` (a list of tables, or a dict name -> table, at least two), X and Y are the server's labelled
        rows. Without, the rows of X are one pool, those with Y = -1 its unlabelled ones, and no federation is claimed.
        """
        X, Y = self._validated(X, Y)
        labels, labelled = read_labels(Y)
        if not labelled.any():
            raise DataError("SSFMLFS: all rows of Y are -1; at least some rows must be labelled.")
        named = hasattr(self, "feature_names_in_")
        features = tuple(self.feature_names_in_) if named else tuple(f"x{i}" for i in range(self.n_features_in_))
        if clients is None:
            _check_pool(X, features, self.missing)
            sites = {POOL: Site(features, X)}
        elif not labelled.all():
            raise DataError(
                f"SSFMLFS: {int((~labelled).sum())} rows of Y are -1 (unlabelled). With clients, X and Y are the "
                "server's labelled rows; move unlabelled ones to a client."
            )
        else:
            sites = read_clients(clients, features, named)
        plan = self._plan(features, min_clients=1 if clients is None else 2)
        outcome = in_process.select(plan, Labelled(dense(X[labelled]), labels[labelled]), sites)
        return self._keep(plan, outcome, federated=clients is not None)

    def _validated(self, X: Any, Y: Any) -> tuple[Any, Any]:
        if Y is None:
            raise DataError("SSFMLFS: requires y to be passed, but the target y is None. Unlabelled rows are -1.")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2)
        n_labelled = Y.shape[0] if sparse.issparse(Y) else len(np.asarray(Y))
        if n_labelled != X.shape[0]:
            raise DataError(f"SSFMLFS: X has {X.shape[0]} rows and Y {n_labelled}; they must be the same rows.")
        return sparse.csr_array(X) if sparse.issparse(X) else X, Y

    def _plan(self, features: tuple[str, ...], min_clients: int) -> SSFMLFSPlan:
        parameters = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in ("nominal", "random_state")
        }
        return SSFMLFSPlan(features, nominal=self._nominal_names(features), min_clients=min_clients, **parameters)

    def _nominal_names(self, features: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(features[int(e)] if isinstance(e, Integral) else str(e) for e in self.nominal)
        except IndexError:
            raise ParameterError(
                f"SSFMLFS: nominal={self.nominal!r} has an index beyond the {len(features)} features."
            ) from None

    def _keep(self, plan: SSFMLFSPlan, outcome: Outcome, federated: bool) -> Self:
        selection = outcome.selection
        assert isinstance(selection, GraphSelection)
        self._keep_ranking(selection.scores, selection.order, plan.k)
        self.relevance_ = selection.relevance
        self.radius_ = selection.radius
        self.distance_ = selection.distance
        self.selected_distance_ = selection.selected_distance
        self.n_iter_ = selection.n_iter
        self.transcript_ = outcome.transcript if federated else ()
        self.dropped_ = selection.dropped
        self.n_clipped_ = selection.n_clipped
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "unrelated"
        return tags


def _check_pool(X: Any, features: tuple[str, ...], missing: str) -> None:
    try:
        check_values(X, features, missing)
    except DataError as error:
        raise DataError(f"SSFMLFS: X has {error}") from None
