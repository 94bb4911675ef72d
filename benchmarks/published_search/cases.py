"""Who has which rows in a set-up's split, and SSFMLFS's order of the features there."""

from dataclasses import replace
from functools import cache

import numpy as np

from benchmarks.loaded import loaded
from benchmarks.published_search.setups import Case
from fedsieve.arrays import Float
from fedsieve.datasets import partition
from fedsieve.datasets.registry import known_dataset
from fedsieve.experiments.config import Trial
from fedsieve.experiments.evaluation import scale
from fedsieve.experiments.selection import RowShares, deal_out, select
from fedsieve.values import dense

OWN_SPLITS = {"80/20": 0.2, "all rows": 0.0}  # share of test rows; the others are those of experiments


def scalings(name: str) -> tuple[str, ...]:
    """Tables of 0 and 1 are the same scaled and raw."""
    return ("scaled",) if np.isin(_values(name), (0.0, 1.0)).all() else ("scaled", "raw")


def has_split(name: str, split: str) -> bool:
    """Cal500 comes without an official split."""
    return split != "official" or loaded(name).train is not None


@cache
def case_of(name: str, seed: int, split: str, scaling: str) -> Case:
    """The dataset dealt out as in our tables, with the paper's number of features."""
    if scaling != "scaled":
        return replace(case_of(name, seed, split, "scaled"), table=_values(name))
    data, X = loaded(name), _values(name)
    k = known_dataset(name).k
    trial = Trial(
        dataset=name,
        method="SSFMLFS",
        labels="server",
        parameters=(("wire", "statistics"),),
        k=X.shape[1],
        split="official" if split == "official" else "random",
        seed=seed,
    )
    rows = _dealt(trial, OWN_SPLITS[split]) if split in OWN_SPLITS else deal_out(trial, data)
    (order,) = select(trial, X, data.Y, rows).draws
    return Case(scale(X, rows.train), data.Y, rows, order, k, seed)


@cache
def _values(name: str) -> Float:
    return dense(loaded(name).X).astype(np.float64)


def _dealt(trial: Trial, test_share: float) -> RowShares:
    """As `deal_out` deals, with another share of test rows."""
    Y = loaded(trial.dataset).Y
    shuffled = np.random.default_rng([trial.seed, 0]).permutation(len(Y))
    n_test = round(test_share * len(shuffled))
    test, train = np.sort(shuffled[:n_test]), np.sort(shuffled[n_test:])
    labeled, others = partition.labeled_split(Y[train], trial.labeled, [trial.seed, 1])
    parts = partition.dirichlet(Y[train[others]], trial.n_clients, trial.alpha, [trial.seed, 2])
    return RowShares(train, test, train[labeled], [train[others[part]] for part in parts])
