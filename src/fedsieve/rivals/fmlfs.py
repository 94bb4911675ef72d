"""FMLFS: sites send what features tell of labels and of each other; the server ranks by Pareto fronts. Our reading."""

from fedsieve.methods.fmlfs import FMLFSMethod, FrontSelection
from fedsieve.selectors.base import FederatedSelector


class FMLFS(FederatedSelector):
    """Ranks features that inform of the labels and are unlike the others: Pareto fronts, then crowding.

    A. Mahanipour, H. Khamfroush: FMLFS: A federated multi-label feature selection based on information theory in IoT
    environment. IEEE SMARTCOMP 2024.

    Fidelity: our reading. Certain is that clients send mutual information and correlation distances, and that the
    server ranks by Pareto dominance and crowding; the bins, the weights of clients and the score are ours.

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    n_bins : into how many bins of one width features are cut, over the range of all sites together.
    weighting : "rows" weights sites by their rows, "plain" not at all.
    relevance : a feature's relevance is the "mean" or the "max" over the labels.
    on_bad_client : "raise" or "drop": end the run at a reply that breaks a rule, or start anew without that client.
    max_message_bytes : refuse a larger message.
    verbose : 1 prints a line for each round, and one for the ranking.

    After `fit` also: `apart_` (sum of distances to the other features), `front_` (1 is best), `crowding_`.

    Complexity: O(n d² bins²) at a client, O(d²) at the server; a client sends d L + d² / 2 numbers.
    """

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        n_bins: int = 3,
        weighting: str = "rows",
        relevance: str = "mean",
        on_bad_client: str = "raise",
        max_message_bytes: int = 512_000_000,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_bins = n_bins
        self.weighting = weighting
        self.relevance = relevance
        self.on_bad_client = on_bad_client
        self.max_message_bytes = max_message_bytes
        self.verbose = verbose

    @classmethod
    def federated_method(cls) -> type[FMLFSMethod]:
        """The method that `fit` runs."""
        return FMLFSMethod

    def _keep(self, selection: FrontSelection) -> None:
        self.apart_ = selection.apart
        self.front_ = selection.front
        self.crowding_ = selection.crowding
