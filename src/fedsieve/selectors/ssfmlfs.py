"""SSFMLFS, the paper's method, as a scikit-learn estimator."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fedsieve.selectors.base import FederatedSelector
from fedsieve.selectors.tables import in_form

if TYPE_CHECKING:
    from fedsieve.methods.graph_selection import GraphSelection
    from fedsieve.methods.ssfmlfs import SSFMLFSMethod


class SSFMLFS(FederatedSelector):
    """Semi-supervised federated multi-label feature selection with fuzzy information measures.

    Clients hold unlabeled rows, the server a few labeled ones. Features are vertices of a graph: their weight is
    the fuzzy dependency of the labels on them (server), their edges are fuzzy correlation distances (clients, only
    sums leave them); weighted PageRank ranks them. `docs/method.md` has the steps, `docs/parameters.md` the choices.

    Parameters
    ----------
    n_features_to_select : int, float or None
        How many features to keep, or, between 0 and 1, which share of them, rounded down as in scikit-learn's RFE but
        one at least; `None` takes 40 % below 100 features, 30 % below 500, 20 % below 1000, else 10 %.
    lam : float in [0.4, 2]
        The radius of a feature's relation is its deviation over all clients divided by `lam`.
    n_neighbors : int
        How many rows with unlike labels each labeled row is compared with.
    damping : float in [0, 1)
        How much of a score comes along the edges.
    relation : {"distance", "similarity"}
        Threshold the difference (the paper) or the similarity (the published code of GRMFS).
    irrelevant : {"least", "nonnegative"}
        Rows with unlike labels: the least similar ones, or the least similar that are not negative.
    decisions : {"crisp", "soft"}
        Compare the labels as they are, or averaged over related rows.
    ranges : {"federated", "robust", "local"} or dict name -> (low, high)
        Which range becomes [0, 1]: the exact one of all sites, one that a few values cannot stretch, each site's own,
        or declared ones.
    spread : {"pooled", "mean"}
        Deviation of all clients' rows together, or the mean of the clients' deviations.
    aggregation : {"blocks", "mean", "weighted"}
        Distances of features over all clients: of one relation in which rows of different clients are unrelated, or the
        mean of the clients' own distances, each client the same or by its rows.
    wire : {"auto", "matrices", "statistics", "vectors"}
        What clients send; the answer is the same. `auto` takes what a cost model (`docs/scaling.md`) says is done
        first: `statistics` up to about 2,000 features, else `vectors`.
    missing : {"error", "unrelated"}
        Refuse NaN, or treat a row with NaN as unrelated to all others in that feature.
    constant : {"last", "keep"}
        Features without spread over the clients: ranked last, or kept as vertices of the graph.
    nominal : sequence of names or indices
        Features whose values are codes: related if equal. Text in data frames is read as codes without being named.
    dates : sequence of names or indices
        Columns of data frames that hold dates, to be read as days since 1970-01-01; others with dates are refused.
    tol, max_iter : float, int
        PageRank stops at this relative change and fails after this many iterations.
    secure : bool
        Let nobody see a single client's replies, only their sum (secure sums; at least three clients). Needs `ranges`
        that are "robust" or declared, and the package's extra `secure`. Without clients it changes nothing.
    on_bad_client : {"raise", "drop"}
        End the run at a reply that breaks a rule, or start it anew without that client; secure sums go on without it.
    max_pairs : int
        A client whose rows make more pairs compares a sample of so many, drawn by `random_state`: sums are then right
        on average. Where all columns have few values, counting needs no sample.
    random_state : int, RandomState or None
        Of the samples of row pairs. The same number gives the same selection; `None` draws others every time.
    selected_distance : bool
        Under `vectors`: spend one more round on the distances among the selected features.
    max_message_bytes : int
        Refuse a wire form with a larger message.
    verbose : int
        1 prints a line for each round and one for the ranking; 0, the default, prints nothing. No agreement holds it.

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
    left_out_ : tuple, columns that only name the rows, and those that secure sums leave out under `policy="site"`,
        since they would tell of few rows
    categories_ : dict, column of text -> its words, in the order of their codes; other words have the code after them
    site_shift_ : how far each client's columns lie from the others': arrays `mean`, `spread`, `overlap` by `parties`
        and `features`, and `findings`, such as a column in another unit; None where single clients are not seen
    n_clipped_ : dict, site -> how many values lay outside the declared ranges
    score_error_ : ndarray, per feature the standard error of its score, at most, that samples of rows or of row
        pairs leave; 0 where all pairs were compared
    rank_error_ : ndarray, per feature by how many places its rank may be off for that reason (two standard errors)

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
        n_features_to_select: float | None = None,
        *,
        lam: float = 1.2,
        n_neighbors: int = 3,
        damping: float = 0.85,
        relation: str = "distance",
        irrelevant: str = "least",
        decisions: str = "crisp",
        ranges: str | Mapping[str, tuple[float, float]] = "federated",
        spread: str = "pooled",
        aggregation: str = "blocks",
        wire: str = "auto",
        missing: str = "error",
        constant: str = "last",
        nominal: Sequence[Any] = (),
        dates: Sequence[Any] = (),
        tol: float = 1e-9,
        max_iter: int = 500,
        secure: bool = False,
        on_bad_client: str = "raise",
        max_pairs: int = 10_000_000,
        random_state: Any = 0,
        selected_distance: bool = False,
        max_message_bytes: int = 512_000_000,
        verbose: int = 0,
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
        self.aggregation = aggregation
        self.wire = wire
        self.missing = missing
        self.constant = constant
        self.nominal = nominal
        self.dates = dates
        self.tol = tol
        self.max_iter = max_iter
        self.secure = secure
        self.on_bad_client = on_bad_client
        self.max_pairs = max_pairs
        self.random_state = random_state
        self.selected_distance = selected_distance
        self.max_message_bytes = max_message_bytes
        self.verbose = verbose

    @classmethod
    def federated_method(cls) -> "type[SSFMLFSMethod]":
        """The method that `fit` runs."""
        from fedsieve.methods.ssfmlfs import SSFMLFSMethod

        return SSFMLFSMethod

    def _keep(self, selection: "GraphSelection") -> None:
        self.radius_ = selection.radius
        self.distance_ = selection.distance
        self.selected_distance_ = selection.selected_distance
        self.n_iter_ = selection.n_iter
        self.n_clipped_ = selection.n_clipped
        self.score_error_ = selection.score_error
        self.rank_error_ = selection.rank_error

    def _seed(self) -> int:
        seed = self.random_state
        return int(seed if isinstance(seed, Integral) else check_random_state(seed).randint(2**31))

    def explain(self, *, as_frame: bool = False) -> Any:
        """What was found of each feature, best first: one dict per feature, or a pandas DataFrame.

        Where clients compared a sample of their row pairs, `why` says in words how certain the rank is.
        """
        from fedsieve.methods.sampling_error import certain_words

        check_is_fitted(self)
        names = self._feature_names()
        words = certain_words(names, self.rank_error_) if self.score_error_.any() else {}
        rows = [
            {
                "feature": names[i],
                "rank": rank,
                "selected": bool(self.support_[i]),
                "score": float(self.scores_[i]),
                "relevance": float(self.relevance_[i]),
                "radius": float(self.radius_[i]),
                "score_error": float(self.score_error_[i]),
                "rank_error": int(self.rank_error_[i]),
                **({"why": words[names[i]]} if words else {}),
            }
            for rank, i in enumerate(self.order_, start=1)
        ]
        return in_form(rows, as_frame)
