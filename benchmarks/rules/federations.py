"""The federations that are measured: a dataset dealt out over a server and sites, and one selection among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.loaded import loaded
from fedsieve.arrays import Float, Int
from fedsieve.datasets import partition
from fedsieve.experiments.classifiers import CLASSIFIERS
from fedsieve.experiments.evaluation import measure, scale
from fedsieve.experiments.selection import TEST_SHARE
from fedsieve.methods import SieveMethod, SSFMLFSMethod
from fedsieve.privacy import LIBRARY, Policy
from fedsieve.protocol import Labeled, Method
from fedsieve.protocol.cohort import BadReplyError
from fedsieve.protocol.influence import KeptReplies
from fedsieve.protocol.outcome import Outcome
from fedsieve.tables import ArrayTable, Table
from fedsieve.transport import in_process
from fedsieve.values import dense

SEEDS = (400, 401, 402)  # no method was designed on them, and no threshold chosen in view of them
N_SITES = 10
LABELED_SHARE = 0.2
ALPHA = 0.5


@dataclass(frozen=True, eq=False)
class Federation:
    """Whose rows are whose; the test rows are nobody's."""

    features: tuple[str, ...]
    X: Float
    Y: Int
    train: Int
    test: Int
    server: Int
    sites: dict[str, Float]

    @property
    def labeled(self) -> Labeled:
        """The server's rows."""
        return Labeled(self.X[self.server], self.Y[self.server].astype(np.float64))

    def average_precision(self, draws: list[Int]) -> float:
        """Of ML-kNN, taught with all training labels, on the test rows; the mean over several sets of columns."""
        table = scale(self.X, self.train)
        return measure(table, self.Y, self.train, self.test, draws, CLASSIFIERS["ML-kNN"])["average_precision"]


def dealt(name: str, seed: int, n_sites: int = N_SITES, labeled_share: float = LABELED_SHARE) -> Federation:
    """70 % training rows, a fifth of them labeled or another share, the others at sites with unlike labels."""
    data = loaded(name)
    shuffled = np.random.default_rng([seed, 0]).permutation(len(data.Y))
    n_test = round(TEST_SHARE * len(shuffled))
    test, train = np.sort(shuffled[:n_test]), np.sort(shuffled[n_test:])
    labeled, others = partition.labeled_split(data.Y[train], labeled_share, [seed, 1])
    parts = partition.dirichlet(data.Y[train[others]], n_sites, ALPHA, [seed, 2])
    X = dense(data.X).astype(np.float64)
    sites = {f"site-{number:02d}": X[train[others[part]]] for number, part in enumerate(parts)}
    return Federation(data.feature_names, X, data.Y, train, test, train[labeled], sites)


def method_for(name: str, features: tuple[str, ...], k: int, ranges: str, **others: Any) -> Method:
    """Sieve, without the bootstraps that no order depends on, or SSFMLFS with one message of pair sums."""
    if name == "Sieve":
        return SieveMethod(features, n_features_to_select=k, ranges=ranges, n_bootstraps=0, **others)
    return SSFMLFSMethod(features, n_features_to_select=k, ranges=ranges, **{"wire": "statistics", **others})


def selection(
    method: Method,
    labeled: Labeled,
    sites: Mapping[str, Float],
    policy: Policy = LIBRARY,
    kept: KeptReplies | None = None,
) -> Outcome:
    """What the method finds with these sites; raises where one of them refuses."""
    tables: dict[str, Table] = {name: ArrayTable(method.features, rows) for name, rows in sites.items()}
    return in_process.select(method, labeled, tables, policy=policy, kept=kept)


def with_the_willing(
    method: Method, federation: Federation, policy: Policy
) -> tuple[Outcome | None, dict[str, str], int]:
    """The outcome with the sites that do not refuse, if they are enough; why others refused; how many are left."""
    sites, refused = dict(federation.sites), {}
    while len(sites) >= max(policy.min_cohort, method.min_clients):
        try:
            return selection(method, federation.labeled, sites, policy), refused, len(sites)
        except BadReplyError as bad:
            refused |= bad.reasons
            sites = {name: rows for name, rows in sites.items() if name not in bad.reasons}
    return None, refused, len(sites)
