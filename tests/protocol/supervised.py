"""Short ways to run a federation whose sites hold labels."""

from dataclasses import dataclass

import numpy as np

from fedsieve.methods import FedCMFSMethod, FMLFSMethod
from fedsieve.protocol import Labeled, Method
from fedsieve.tables import ArrayTable
from sites_with_labels import Sites, dyadic, split

PLANS = {
    "FMLFS": (FMLFSMethod, {}),
    "FedCMFS, statistics": (FedCMFSMethod, {}),
    "FedCMFS, tests": (FedCMFSMethod, {"wire": "tests"}),
    "FedCMFS, pooled": (FedCMFSMethod, {"combine": "pooled"}),
}


@dataclass(frozen=True)
class SupervisedCase:
    """Named sites; the first table is the server's."""

    tables: Sites

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"f{p}" for p in range(self.tables[0][0].shape[1]))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"y{p}" for p in range(self.tables[0][1].shape[1]))

    @property
    def rows(self) -> Labeled:
        return Labeled(*self.tables[0])

    @property
    def sites(self) -> dict[str, ArrayTable]:
        return {f"site-{i}": ArrayTable(self.features, X, self.labels, Y) for i, (X, Y) in enumerate(self.tables[1:])}

    def plan(self, name: str, **parameters: object) -> Method:
        """The plan of that name for these columns."""
        kind, own = PLANS[name]
        made: Method = kind(self.features, labels=self.labels, **{**own, **parameters})
        return made


def supervised_example(seed: int = 0, sizes: tuple[int, ...] = (12, 10, 13, 16)) -> SupervisedCase:
    """Four features, of which two follow labels, and three labels, of which two are related."""
    rng = np.random.default_rng(seed)
    n_rows = sum(sizes)
    Y = rng.integers(0, 2, (n_rows, 3)).astype(float)
    Y[:, 2] = np.abs(Y[:, 1] - (rng.random(n_rows) < 0.2))
    X = rng.normal(size=(n_rows, 4))
    X[:, 0] += 3 * Y[:, 0]
    X[:, 1] += 2 * Y[:, 1]
    return SupervisedCase(split(dyadic(X), Y, list(sizes)))
