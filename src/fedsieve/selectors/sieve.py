"""Sieve as a scikit-learn estimator, and its reasons in words."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fedsieve.arrays import Bool, Float, Rows
from fedsieve.checks import check_list
from fedsieve.errors import NOTHING_VARIES, DataError, FedSieveWarning, ParameterError
from fedsieve.selectors.base import FederatedSelector
from fedsieve.selectors.tables import in_form

if TYPE_CHECKING:
    from fedsieve.methods.sieve import SieveMethod
    from fedsieve.methods.sieve_selection import Bootstraps, SieveSelection
    from fedsieve.selectors.federation import Federation
    from fedsieve.sieve import PairStability

Value = TypeVar("Value")


class Sieve(FederatedSelector):
    """Selects the features that help to predict the labels, from few labeled rows and many unlabeled ones.

    Clients hold unlabeled rows, the server a few labeled ones. Clients send histograms and covariances of their
    columns, in two rounds, and the means between them where values are missing; nothing else. These add up, so that the
    result is that of all rows in one place, whatever the partition. A forward regression takes the features one by one
    that explain most of the labels predicted for all rows; what randomized trees split the labeled rows by counts
    besides. `docs/sieve.md` derives it, `docs/selection-quality.md` measures it.

    Parameters
    ----------
    n_features_to_select : int, float, None or "auto"
        How many features to keep, a group counting once; or, between 0 and 1, which share of them, rounded down as in
        scikit-learn's RFE but one at least. `None` takes 40 % below 100 features, 30 % below 500, 20 %
        below 1000, else 10 %. "auto" takes the fewest whose cross-validated ranking loss on the labeled rows is within
        one standard error of the lowest.
    nominal : sequence of names or indices
        Features whose values are codes (whole numbers): they are treated as one 0/1 column per code. Text in data
        frames is read as codes without being named: `categories_`.
    dates : sequence of names or indices
        Columns of data frames that hold dates, to be read as days since 1970-01-01; others with dates are refused.
    groups : sequence of sequences of names or indices
        Features that are kept or left together, such as 0/1 columns that encode one variable.
    missing : {"mean", "indicator", "error"}
        What becomes of missing values (NaN). "mean": the mean of all present values stands in, those of all sites and
        the server's, as if all rows were in one place. "indicator": also, a 0/1 column that tells which are missing
        belongs to the feature. "error": there may be none.
    center : {"federation", "sites"}
        Columns are compared as deviations from the mean of all rows, or of each site's own rows: then what shifts a
        whole site (a device, a batch) plays no part, and its own means stand in for what it misses.
    ranges : {"robust", "federated"} or dict name -> (low, high)
        Which range becomes [0, 1]: one that a few values of all sites cannot stretch, the exact one of all sites, or
        declared ones. Beyond robust and declared ones values are clipped.
    blend : {"regression", "views"}
        What the order is made of: the forward regression and trees, or the three views of the first Sieve, to compare
        with.
    ridge : float above 0, or "auto"
        Penalty of the linear model of the labels, in units of a column's mean square. "auto" takes, of five, the one
        that errs least on labeled rows left out.
    n_trees : int
        How many trees look at the labeled rows.
    n_bootstraps : int
        Over how many bootstraps of the labeled rows `stability_` is measured; 0 leaves it out.
    screen : int
        Above so many columns (or twice the number to select, where it is given) only the most relevant ones are
        compared with each other; the covariance matrix of all then exists nowhere.
    fdr : float between 0 and 1, or None
        Select the features that help with some label at this false discovery rate: on average at most this share of a
        selection is false. Says how many features are selected, possibly none; needs columns that are more or less
        Gaussian, and more unlabeled rows than twice the columns. `docs/error-rate.md` says when to trust it.
    secure : bool
        Let nobody see a single client's replies, only their sum (secure sums; at least three clients). Needs `ranges`
        that are "robust" or declared, and the package's extra `secure`. Without clients it changes nothing.
    epsilon : float or None
        With a number, clients answer with noise only: whether one given row is among a client's is hidden up to
        (epsilon, delta)-differential privacy, in one answer of each client. Nobody is asked for ranges: those of the
        labeled rows count, or declared ones. Needs the extra `private`; `docs/privacy.md` says what it costs.
    delta : float
        The small probability by which that promise may fail; keep it well below 1 / rows.
    on_bad_client : {"raise", "drop"}
        End the run at a reply that breaks a rule, or start it anew without that client; secure sums go on without it.
    random_state : int, RandomState or None
        Draws trees, bootstraps and folds; with an int (the default) the result is always the same.
    max_message_bytes : int
        Refuse larger messages.
    verbose : int
        1 prints a line for each round and one for the ranking; 0, the default, prints nothing. No agreement holds it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,), larger is better; below 0 for features that were screened out
    relevance_ : ndarray, how much the views think of a feature; adds up to 1 without groups
    redundancy_ : ndarray, absolute correlation with the chosen feature most like it, other than itself
    redundant_with_ : ndarray, the index of that feature, -1 where there is none
    pair_stability_ : how often each feature is chosen from halves of the labeled rows, `share`; `stable(threshold)` and
        `bound(threshold)`: which are chosen so often, and how many of them at most, on average, without reason
        (Shah and Samworth); computed when it is first read
    stability_ : ndarray, in which share of bootstraps the feature is chosen; computed when it is first read, or pickled
    null_band_ : ndarray, a score that chance alone would rarely reach; computed when it is first read
    rank_interval_ : ndarray of shape (n_features_in_, 2), between which ranks a feature is in nine of ten bootstraps;
        computed with `stability_`
    per_label_ : ndarray of shape (n_labels, n_features_in_), a feature's absolute correlation with each label over all
        rows; the two classes of a 1-D Y have equal rows
    label_names_ : tuple, the names of these labels
    ranks_ : dict, view -> rank of each feature by it, 1 is best
    order_ : ndarray, feature indices, best first
    ranking_ : ndarray, 1 for the best feature
    support_ : ndarray, mask of the selected features
    privacy_ : dict under `epsilon`, else None: what was promised, the clients' weight, and `words` to say what it means
    missing_total_ : ndarray, the share of all rows that miss a value of the feature; None under `epsilon`
    missing_share_ : dict, client (and "server") -> the same of its rows; None where single clients are not seen
    fdr_ : dict under `fdr`, else None: `selected` (indices), `W` (by how much a feature beats its knockoff), `e_values`
        and the `threshold` they must reach, `draw_thresholds`, `exact`, `words`, and `doubts` about the rate
    choice_ : the numbers of features tried under "auto": `k`, `sizes`, `loss`, `error`; else None
    transcript_ : tuple of entries (round, sender, receiver, kind, n_bytes); empty without clients
    dropped_ : dict, client -> why it was dropped
    left_out_ : tuple, columns that only name the rows, and those that secure sums leave out under `policy="site"`,
        since they would tell of few rows
    categories_ : dict, column of text -> its words, in the order of their codes; other words have the code after them
    site_shift_ : how far each client's columns lie from the others': arrays `mean`, `spread`, `overlap` by `parties`
        and `features`, and `findings`, such as a column in another unit; None where single clients are not seen

    Examples
    --------
    >>> import numpy as np
    >>> from fedsieve import Sieve
    >>> rng = np.random.default_rng(0)
    >>> sites = [rng.random((40, 6)) for _ in range(3)]
    >>> X = rng.random((30, 6))
    >>> Y = np.column_stack([X[:, 1] > 0.5, X[:, 1] + X[:, 4] > 1])
    >>> selector = Sieve(n_features_to_select=2).fit(X, Y, clients=sites)
    >>> selector.get_support(indices=True)
    array([1, 4])
    >>> print(selector.explain()[0]["why"])
    selected as 1st of 2: most relevant of all, most for 'y0' and 'y1'; chosen in 100 % of the bootstraps (rank 1 to 1);
    nothing chosen is much like it.
    """

    def __init__(
        self,
        n_features_to_select: float | str | None = None,
        *,
        nominal: Sequence[Any] = (),
        dates: Sequence[Any] = (),
        groups: Sequence[Sequence[Any]] = (),
        missing: str = "mean",
        center: str = "federation",
        ranges: str | Mapping[str, tuple[float, float]] = "robust",
        blend: str = "regression",
        ridge: float | str = "auto",
        n_trees: int = 200,
        n_bootstraps: int = 20,
        screen: int = 2000,
        fdr: float | None = None,
        secure: bool = False,
        epsilon: float | None = None,
        delta: float = 1e-6,
        on_bad_client: str = "raise",
        random_state: Any = 0,
        max_message_bytes: int = 512_000_000,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.nominal = nominal
        self.dates = dates
        self.groups = groups
        self.missing = missing
        self.center = center
        self.ranges = ranges
        self.blend = blend
        self.ridge = ridge
        self.n_trees = n_trees
        self.n_bootstraps = n_bootstraps
        self.screen = screen
        self.fdr = fdr
        self.secure = secure
        self.epsilon = epsilon
        self.delta = delta
        self.on_bad_client = on_bad_client
        self.random_state = random_state
        self.max_message_bytes = max_message_bytes
        self.verbose = verbose

    @classmethod
    def federated_method(cls) -> "type[SieveMethod]":
        """The method that `fit` runs."""
        from fedsieve.methods.sieve import SieveMethod

        return SieveMethod

    def fit(
        self,
        X: Any,
        Y: Any = None,
        clients: Any = None,
        policy: str = "library",
        sample_weight: Any = None,
        **others: Any,
    ) -> Self:
        """Rank the features.

        With `clients`, X and Y are the server's labeled rows, and clients a list or a dict by name, two at least, of
        tables. Without clients no federation is claimed: the rows of X are one pool, and those with Y = -1 its
        unlabeled ones. `policy` is "library" or "site", as for all federated selectors.

        Single labels of labeled rows may be unknown, -1 or NaN: each label is learned from the rows where it is known.

        `sample_weight` has one number per row of X. A labeled row of weight 2 counts like two equal rows, one of weight
        0 not at all: exactly, to rounding, in the covariances, the linear models and the trees, and so in `scores_`
        and `order_`, if equal rows stand side by side; robust ranges and means count rows, so that they take whole
        weights so, and count rows of other weights once. Not exactly in what is drawn over rows: bootstraps draw as
        many rows as there are, in proportion to their weight, "auto" deals rows, not copies, out to folds, and above
        4,096 labeled rows each tree draws rows, not copies.
        Unlabeled rows count once, or not at all with 0.
        """
        if sample_weight is not None and self.epsilon is not None:
            raise ParameterError(
                "Sieve: takes no sample_weight beside epsilon: noisy sums are of rows that count once. "
                "Leave one of them out."
            )
        return self._fit(X, Y, clients, policy, others, sample_weight)

    def explain(self, *, as_frame: bool = False) -> Any:
        """Why each feature is in or out, best first: one dict per feature, `why` in words; or a pandas DataFrame.

        Under `epsilon` each also says, as `noise`, what noise left of the clients' say. In a pickled selector whose
        `null_band_` was never read, nothing is said of chance. Once `pair_stability_` was read, each says its share.
        """
        from fedsieve.methods.sieve_reasons import Findings

        check_is_fitted(self)
        noise = {} if self.privacy_ is None else {"noise": self.privacy_["words"]}
        names = self._feature_names()
        told = slice(1, None) if self._one_label else slice(None)  # of two classes the second is the label
        found = Findings(
            self.order_,
            int(self.support_.sum()),
            self.scores_,
            self.relevance_,
            self.redundancy_,
            self.redundant_with_,
            *self._bootstraps(),
            np.full(len(names), np.nan) if self._chance is None else self._chance(),
            self.per_label_[told],
            self._error_rate,
        )
        rows = found.reasons(names, self.label_names_[told])
        halves = _known(self._halves)  # a hundred rankings: not computed for this alone
        shares = [{} if halves is None else {"pair_stability": float(halves().share[i])} for i in self.order_]
        return in_form([{**row, **share, **noise} for row, share in zip(rows, shares, strict=True)], as_frame)

    @property
    def stability_(self) -> Float:
        """Per feature the share of bootstraps in which it is chosen; NaN without any. Computed when first read."""
        check_is_fitted(self)
        return self._bootstraps().stability

    @property
    def rank_interval_(self) -> Float:
        """Per feature the ranks between which it is in nine of ten bootstraps; computed when it is first read."""
        check_is_fitted(self)
        found = self._bootstraps()
        return np.column_stack([found.rank_low, found.rank_high])

    @property
    def null_band_(self) -> Float:
        """Per feature the score that one in twenty permutations of the labels exceeds: below it, no better than chance.

        Computed when it is first read, from the labeled rows. A selector that was pickled before has none.
        """
        check_is_fitted(self)
        return _asked(self._chance, "null_band_")

    @property
    def pair_stability_(self) -> "PairStability":
        """How often halves of the labeled rows choose each feature, with a bound on what is stable without reason.

        Computed when it is first read, from the labeled rows. A selector that was pickled before has none.
        """
        check_is_fitted(self)
        return _asked(self._halves, "pair_stability_")

    def __getstate__(self) -> Any:
        """Without the labeled rows, which stability, null band and pairs follow from.

        Stability is computed now, if it was not read before; of the null band and the pairs stays what was computed.
        """
        state = super().__getstate__()
        if "_chance" not in state:
            return state
        known = {name: _known(state[name]) for name in ("_chance", "_halves")}
        return {**state, **known, "_bootstraps": ComputedValue(state["_bootstraps"]())}

    def _parameters(self, federation: "Federation") -> dict[str, Any]:
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31)
        check_list("Sieve", "groups", self.groups, "lists of features")
        groups = (self._names(f"groups[{n}]", group, federation.features) for n, group in enumerate(self.groups))
        return {**super()._parameters(federation), "groups": tuple(groups), "seed": int(seed)}

    def _pool(self, X: Rows, labeled: Bool) -> Rows | None:
        n_others = int((~labeled).sum())
        if n_others == 1:
            raise DataError("Sieve: one row of Y is -1 (unlabeled); a single row has no spread. Leave it out.")
        return X[~labeled] if n_others else None

    def _keep(self, selection: "SieveSelection") -> None:
        self.redundancy_ = selection.redundancy
        self.redundant_with_ = selection.redundant_with
        self.ranks_ = selection.ranks
        self.choice_ = selection.choice
        self.privacy_ = None if selection.privacy is None else dict(selection.privacy)
        self._error_rate = selection.error_rate
        self.fdr_ = None if selection.error_rate is None else selection.error_rate.attributes()
        self._bootstraps: Callable[[], Bootstraps] = selection.bootstraps
        self._chance: Callable[[], Float] | None = selection.chance
        self._halves: Callable[[], PairStability] | None = selection.halves

    def _keep_of_run(self, selection: "SieveSelection") -> None:
        from fedsieve.protocol import SERVER

        found, names, n = selection.missing, self._feature_names(), int(self.n_features_in_)
        share = np.zeros(n) if found.share is None else found.share
        self.missing_total_ = share if selection.privacy is None else None  # under noise nobody tells
        self.missing_share_ = None
        if selection.privacy is None and not selection.unseen:
            by_site = found.by_site or {site: {} for site in (SERVER, *(selection.n_rows or ()))}
            self.missing_share_ = {s: np.array([of.get(name, 0.0) for name in names]) for s, of in by_site.items()}
        if selection.nothing_varies:
            warnings.warn(f"Sieve: {NOTHING_VARIES}", FedSieveWarning, stacklevel=4)
        if words := found.without_values(names):
            warnings.warn(f"Sieve: {words}", FedSieveWarning, stacklevel=4)
        for doubt in selection.error_rate.doubts if selection.error_rate else ():
            warnings.warn(f"Sieve: {doubt}", FedSieveWarning, stacklevel=4)


def _asked(found: Callable[[], Value] | None, name: str) -> Value:
    """What is computed when it is first read."""
    if found is None:
        raise AttributeError(f"Sieve: {name} was not read before the selector was pickled; fit again.")
    return found()


class ComputedValue(Generic[Value]):
    """A value that was computed once, where a function that computes it may stand."""

    def __init__(self, value: Value) -> None:
        self._value = value

    def __call__(self) -> Value:
        """The value."""
        return self._value


def _known(found: Any) -> ComputedValue[Any] | None:
    """What a cached function has computed already; `None` where it has not been asked."""
    if found is None or isinstance(found, ComputedValue):
        return found
    return ComputedValue(found()) if found.cache_info().currsize else None
