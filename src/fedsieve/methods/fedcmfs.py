"""FedCMFS as a federated method (our reading), in its three steps: find, recover, prune."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.errors import ParameterError
from fedsieve.messages import Scaling, Terms
from fedsieve.messages.columns import LOCAL
from fedsieve.messages.covariances import AskCovariances, Covariances, CovariancesTerms
from fedsieve.messages.partial_correlations import PartialCorrelationsTerms
from fedsieve.methods.causal_search import (
    DECIMALS,
    AskedSites,
    CausalSearch,
    Neighbors,
    SentCovariances,
    Sites,
    Tests,
)
from fedsieve.methods.ranges import agreed_scaling, ranges_terms, scaling_agreed_on
from fedsieve.ordering import ranked
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.method import Labeled
from fedsieve.protocol.outcome import Selection
from fedsieve.protocol.supervised import SupervisedMethod

MAX_CONDITIONING = 5  # the work of a test grows by 3 with each given variable


@dataclass(frozen=True, eq=False)
class CausalSelection(Selection):
    """Also which features are parents or children of which label after each step, (n_features, n_labels)."""

    found: Bool
    recovered: Bool
    kept: Bool

    def columns(self) -> dict[str, Float]:
        """With the number of labels whose parents or children a feature is among."""
        return {**super().columns(), "n_labels": self.kept.sum(axis=1).astype(np.float64)}

    def facts(self) -> dict[str, Any]:
        """How many features each step leaves; the last is the method's own choice of k."""
        steps = {"found": self.found, "recovered": self.recovered, "kept": self.kept}
        return {f"n_{step}": int(mask.any(axis=1).sum()) for step, mask in steps.items()}


@dataclass(frozen=True, eq=False)
class FedCMFSMethod(SupervisedMethod):
    """The parameters of one selection by FedCMFS (our reading), and its run."""

    name: ClassVar[str] = "FedCMFS"
    fidelity: ClassVar[str] = "our reading"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **SupervisedMethod.choices,
        "combine": ("p-values", "votes", "pooled"),
        "wire": ("statistics", "tests"),
    }

    alpha: float | None = None
    max_conditioning: int = 2
    max_pool: int = 10
    combine: str = "p-values"
    wire: str = "statistics"

    def __post_init__(self) -> None:
        """Check what is FedCMFS's own after what all methods share."""
        super().__post_init__()
        if self.alpha is not None:
            self.check_number("alpha", "in [0, 1]", lambda alpha: 0 <= alpha <= 1)
        self.check_count("max_conditioning", 0, MAX_CONDITIONING)
        self.check_count("max_pool", 1)
        if self.combine == "pooled" and self.wire == "tests":
            raise ParameterError(
                f"{self.name}: combine='pooled' adds up the sites' statistics, which wire='tests' does not send. "
                "Use wire='statistics'."
            )
        self.check_secure()

    @property
    def smaller_messages(self) -> str:
        """The wire form that sends less at a time, for few features; pooled statistics have no other."""
        has_other = self.wire == "statistics" and self.combine != "pooled"
        return "Use wire='tests' or fewer features" if has_other else super().smaller_messages

    @property
    def why_single_sites(self) -> str:
        """A mean of p-values or votes is over single sites."""
        if self.combine != "pooled":
            return f"combine={self.combine!r} averages over single sites, which it does not name. Use 'pooled'."
        return ""

    def terms(self) -> tuple[Terms, ...]:
        """Ranges and covariances, or tests one by one."""
        if self.wire == "tests":
            return (PartialCorrelationsTerms(self.columns, self.labels, self.max_conditioning),)
        pooled = self.combine == "pooled"
        scaling = scaling_agreed_on(self) if pooled else (LOCAL, None)
        covariances = CovariancesTerms(self.columns, *scaling, max_columns=len(self.features), labels=self.labels)
        return (*ranges_terms(self), covariances) if pooled else (covariances,)

    def run(self, labeled: Labeled, cohort: Cohort) -> Steps[CausalSelection]:
        """The server's rows are one more site's."""
        sites = yield from self._gathered(labeled, cohort)
        search = CausalSearch(
            sites, self.alpha, self.max_conditioning, self.max_pool, self.max_message_bytes, self.combine == "votes"
        )
        near = yield from self.find(search)
        found = self._features(near)
        recovered = found | (yield from self.recover(search, near, found))
        kept = yield from self.prune(search, recovered)

        strongest: Float = np.max([label.association[: len(self.features)] for label in near], axis=0)
        n_labels = kept.sum(axis=1)
        order = ranked(n_labels, strongest, decimals=DECIMALS)
        scores = n_labels + strongest / 2  # an association is at most 1, so that one more label always counts for more
        per_label = kept.T.astype(np.float64)
        return CausalSelection(
            scores, order, strongest, found, recovered, kept, per_label=per_label, unseen=cohort.unseen
        )

    def _gathered(self, labeled: Labeled, cohort: Cohort) -> Steps[Sites]:
        """The sites in the wire form; under "pooled" all of them together are one, scaled by the ranges of all."""
        own = self.server_table(labeled)
        if self.combine == "pooled":
            scaling = yield from agreed_scaling(self, labeled, cohort)
            request = AskCovariances(self.columns, scaling, self.labels)
            total: Covariances = yield from cohort.total(request, request.answer(own))
            return SentCovariances([total])
        request = AskCovariances(self.columns, Scaling(None, None, LOCAL), self.labels)
        if self.wire == "tests":
            return AskedSites(self.columns, self.labels, cohort, request.answer(own))
        replies: dict[str, Covariances] = yield from cohort.each(request)
        return SentCovariances([*replies.values(), request.answer(own)])

    def find(self, search: CausalSearch) -> Steps[list[Neighbors]]:
        """FedCFL: each label's parents and children among the features and the other labels."""
        variables = np.arange(len(self.features) + len(self.labels))
        labels = range(len(self.features), len(variables))
        return (yield from search.neighbors([(label, np.delete(variables, label)) for label in labels]))

    def recover(self, search: CausalSearch, near: list[Neighbors], found: Bool) -> Steps[Bool]:
        """FedCFR: features that only a label separated from a label, and that are near the separating label.

        Without the labels in the separating set they must depend on the label.
        """
        n_features = len(self.features)
        restored = np.zeros_like(found)
        blocked: dict[int, list[tuple[int, int, list[int]]]] = {}  # by how many features separated them
        for label, neighbors in enumerate(near):
            for feature, separator in neighbors.separators.items():
                blockers = [v - n_features for v in separator if v >= n_features]
                if feature < n_features and found[feature, blockers].any():
                    others = [v for v in separator if v < n_features]
                    blocked.setdefault(len(others), []).append((feature, label, others))
        for n_given, tests in sorted(blocked.items()):
            features, labels = (np.array([test[part] for test in tests]) for part in (0, 1))
            given = np.array([test[2] for test in tests], dtype=np.int64).reshape(len(tests), n_given)
            verdicts = yield from search.judge(Tests(features, labels + n_features, given))
            restored[features, labels] = verdicts.dependent
        return restored

    def prune(self, search: CausalSearch, near: Bool) -> Steps[Bool]:
        """FedCFC: parents and children are so on both sides; a feature stays where the label is among its own, too.

        The search is among the label and its features; other labels would undo what was recovered.
        """
        n_features = len(self.features)
        pairs = np.argwhere(near)
        targets = []
        for feature, label in pairs:
            others = np.flatnonzero(near[:, label])
            targets.append((int(feature), np.append(others[others != feature], label + n_features)))
        kept = np.zeros_like(near)
        if targets:
            for (feature, label), own in zip(pairs, (yield from search.neighbors(targets)), strict=True):
                kept[feature, label] = label + n_features in own.near
        return kept

    def _features(self, near: list[Neighbors]) -> Bool:
        """Which features are near which label."""
        mask = np.zeros((len(self.features), len(near)), dtype=bool)
        for label, neighbors in enumerate(near):
            mask[neighbors.near[neighbors.near < len(self.features)], label] = True
        return mask
