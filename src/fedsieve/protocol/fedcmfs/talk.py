"""The server's side of FedCMFS (our reading), in its three steps: find, recover, prune."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.protocol.cohort import Cohort, Talk
from fedsieve.protocol.fedcmfs.evidence import Sites, Tests, gather, judge
from fedsieve.protocol.fedcmfs.plan import FedCMFSPlan
from fedsieve.protocol.fedcmfs.search import DECIMALS, Neighbors, search
from fedsieve.protocol.plan import Labeled
from fedsieve.protocol.selection import Selection


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


def select_by_causes(plan: FedCMFSPlan, labeled: Labeled, cohort: Cohort) -> Talk[CausalSelection]:
    """One run with one cohort; the server's rows are one more site's."""
    sites = yield from gather(plan, labeled, cohort)
    near = yield from find(plan, sites)
    found = _features(plan, near)
    recovered = found | (yield from recover(plan, sites, near, found))
    kept = yield from prune(plan, sites, recovered)

    n_features = len(plan.features)
    strongest: Float = np.max([label.association[:n_features] for label in near], axis=0)
    n_labels = kept.sum(axis=1)
    order: Int = np.lexsort([np.arange(n_features), -np.round(strongest, DECIMALS), -n_labels])
    scores = n_labels + strongest / 2  # an association is at most 1, so that one more label always counts for more
    return CausalSelection(scores, order, strongest, dict(cohort.n_rows), found, recovered, kept)


def find(plan: FedCMFSPlan, sites: Sites) -> Talk[list[Neighbors]]:
    """FedCFL: each label's parents and children among the features and the other labels."""
    variables = np.arange(len(plan.features) + len(plan.labels))
    labels = range(len(plan.features), len(variables))
    return (yield from search(plan, sites, [(label, np.delete(variables, label)) for label in labels]))


def recover(plan: FedCMFSPlan, sites: Sites, near: list[Neighbors], found: Bool) -> Talk[Bool]:
    """FedCFR: features that only a label separated from a label, and that are near the separating label.

    Without the labels in the separating set they must depend on the label.
    """
    n_features = len(plan.features)
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
        verdicts = yield from judge(plan, sites, Tests(features, labels + n_features, given))
        restored[features, labels] = verdicts.dependent
    return restored


def prune(plan: FedCMFSPlan, sites: Sites, near: Bool) -> Talk[Bool]:
    """FedCFC: parents and children are so on both sides; a feature stays where the label is among its own, too.

    The search is among the label and its features. Other labels are left out, or they would undo what was recovered.
    """
    n_features = len(plan.features)
    pairs = np.argwhere(near)
    targets = []
    for feature, label in pairs:
        others = np.flatnonzero(near[:, label])
        targets.append((int(feature), np.append(others[others != feature], label + n_features)))
    kept = np.zeros_like(near)
    if targets:
        for (feature, label), own in zip(pairs, (yield from search(plan, sites, targets)), strict=True):
            kept[feature, label] = label + n_features in own.near
    return kept


def _features(plan: FedCMFSPlan, near: list[Neighbors]) -> Bool:
    """Which features are near which label."""
    mask = np.zeros((len(plan.features), len(near)), dtype=bool)
    for label, neighbors in enumerate(near):
        mask[neighbors.near[neighbors.near < len(plan.features)], label] = True
    return mask
