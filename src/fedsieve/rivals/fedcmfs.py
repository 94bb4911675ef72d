"""FedCMFS: each label's parents and children by conditional independence over all sites. Our reading."""

from collections.abc import Mapping

from fedsieve.methods.fedcmfs import CausalSelection, FedCMFSMethod
from fedsieve.selectors.base import FederatedSelector


class FedCMFS(FederatedSelector):
    """Ranks features by how many labels they are a direct cause or effect of, then by association.

    Y. Song, D. Cao, J. Miao, S. Yang, K. Yu: Causal Multi-Label Feature Selection in Federated Setting.
    arXiv 2403.06419, 2024.

    Fidelity: our reading. Certain are the three steps (FedCFL finds, FedCFR recovers what another label hid, FedCFC
    prunes what is not mutual) and that sites' tests are weighted by their rows; tests (Fisher's z of partial
    correlations), limits and the ranking at a fixed number of features are ours.

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    alpha : p-value above which two variables count as independent; None: 0.05, or 0.01 above 5000 rows.
    max_conditioning : how many variables at most are given in a test.
    max_pool : given variables are among this many of the strongest neighbors.
    combine : "p-values" averages the sites' p-values, weighted by their rows; under "votes" each site judges by its own
        p-value, and the sites that hold more rows win; "pooled" tests all rows as one, from sums that add up, so that
        the result does not depend on who holds which rows.
    wire : "statistics" sends covariances once; "tests" answers the server's tests, level by level, and keeps means and
        spreads to the site, for more bytes and rounds. The result is the same.
    ranges : "federated", "robust" or {name: (low, high)}: which range becomes [0, 1] under "pooled".
    secure : let nobody see a single client's replies, only their sum; needs combine="pooled", and robust or declared
        ranges.
    on_bad_client : "raise" or "drop": end the run at a reply that breaks a rule, or start anew without that client.
    max_message_bytes : refuse a larger message.
    verbose : 1 prints a line for each round, and one for the ranking.

    After `fit` also: `found_`, `recovered_`, `kept_` (masks (n_features, n_labels) after each step) and `n_kept_`, the
    size of the set that the method itself would select.

    Complexity: O(n (d + L)²) at a client. At the server, times the number of sites and 3^max_conditioning: tests
    O(L d pool^max_conditioning) to find, O(Σ_l p_l² pool^max_conditioning) to prune p_l found features of label l.
    """

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        alpha: float | None = None,
        max_conditioning: int = 2,
        max_pool: int = 10,
        combine: str = "p-values",
        wire: str = "statistics",
        ranges: str | Mapping[str, tuple[float, float]] = "federated",
        secure: bool = False,
        on_bad_client: str = "raise",
        max_message_bytes: int = 512_000_000,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.max_conditioning = max_conditioning
        self.max_pool = max_pool
        self.combine = combine
        self.wire = wire
        self.ranges = ranges
        self.secure = secure
        self.on_bad_client = on_bad_client
        self.max_message_bytes = max_message_bytes
        self.verbose = verbose

    @classmethod
    def federated_method(cls) -> type[FedCMFSMethod]:
        """The method that `fit` runs."""
        return FedCMFSMethod

    def _keep(self, selection: CausalSelection) -> None:
        self.found_ = selection.found
        self.recovered_ = selection.recovered
        self.kept_ = selection.kept
        self.n_kept_ = int(selection.kept.any(axis=1).sum())
