"""One trial's selection: which rows are whose, and what a method chooses from what it may see of them."""

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.catalog import RANDOM, CatalogEntry, registry
from fedsieve.datasets import Dataset, load, load_arff, load_digits, partition
from fedsieve.datasets.fetch import MIRROR
from fedsieve.errors import DataError, FedSieveWarning, ParameterError, SiteShiftWarning, listed
from fedsieve.experiments.config import BUNDLED, Trial

TEST_SHARE = 0.3
N_RANDOM_DRAWS = 20


@dataclass(frozen=True, eq=False)
class RowShares:
    """Who has which rows of a dataset; `server` and `clients` together are `train`."""

    train: Int
    test: Int
    server: Int
    clients: list[Int]


@dataclass(frozen=True, eq=False)
class Selected:
    """The chosen columns, best first (several draws of random ones), and what the method told besides."""

    draws: list[Int]
    transcript: tuple[Any, ...] = ()
    own_k: int | None = None  # how many features a method that chooses their number would have kept


def load_by_name(name: str) -> Dataset:
    """A dataset of the paper, the bundled digits, or of a name with a slash the file below the folder FEDSIEVE_DATA."""
    if "/" not in name:
        return load_digits() if name == BUNDLED else load(name)
    mirror = os.environ.get(MIRROR, "").strip()
    path = Path(mirror).expanduser() / f"{name}.arff"
    if not mirror or not path.is_file():
        where = path if mirror else "that folder, which is not set"
        raise DataError(f"experiment: dataset {name!r} is {name}.arff and .xml below {MIRROR}; there is no {where}.")
    return _parsed(path)


@lru_cache(maxsize=9)
def _parsed(path: Path) -> Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FedSieveWarning)  # about columns that equal a label: that is how the file is
        return load_arff(path, path.with_suffix(".xml"))


def known_method(name: str) -> CatalogEntry:
    """The registry's entry of that name."""
    methods = registry()
    if name not in methods:
        raise ParameterError(f"experiment: no method {name!r}; there are {', '.join(map(repr, methods))}.")
    return methods[name]


def check_trials(trials: Iterable[Trial]) -> None:
    """Find out whether trials can be done at all, without doing them; rows dealt out alike are dealt out once."""
    dealt = set()
    for trial in trials:
        data, entry = load_by_name(trial.dataset), known_method(trial.method)
        n_features = data.X.shape[1]
        if trial.k is not None and trial.k > n_features:
            raise ParameterError(
                f"experiment: k of {trial.dataset!r} must be at most n_features={n_features}; got {trial.k}."
            )
        unknown = [name for name, _ in trial.parameters if name not in signature(entry.factory).parameters]
        if unknown:
            raise ParameterError(f"experiment: {trial.method} has no parameter {listed(unknown)}.")
        rows = trial.dataset, trial.split, trial.labeled, trial.partition, trial.n_clients, trial.alpha
        if rows not in dealt:
            deal_out(trial, data)
            dealt.add(rows)


def deal_out(trial: Trial, data: Dataset) -> RowShares:
    """Split the rows by the trial's seed: test rows, the server's labeled share of the others, and the clients'."""
    if trial.split == "official":
        if data.train is None or data.test is None:
            raise ParameterError(f"experiment: {trial.dataset!r} has no official split; use split = 'random'.")
        train, test = data.train, data.test
    else:
        shuffled = np.random.default_rng([trial.seed, 0]).permutation(len(data.Y))
        n_test = round(TEST_SHARE * len(shuffled))
        test, train = np.sort(shuffled[:n_test]), np.sort(shuffled[n_test:])
    labeled, others = partition.labeled_split(data.Y[train], trial.labeled, [trial.seed, 1])
    deal = getattr(partition, trial.partition)
    alpha = {} if trial.partition == "iid" else {"alpha": trial.alpha}
    parts = deal(data.Y[train[others]], trial.n_clients, random_state=[trial.seed, 2], **alpha)
    return RowShares(train, test, train[labeled], [train[others[part]] for part in parts])


def shifted(trial: Trial, X: Float, rows: RowShares) -> Float:
    """The rows as the parties have them: each client's columns are moved by `shift` deviations times a normal number.

    As devices differ: only the training rows of clients are moved, and who judges a selection has them as they are.
    """
    if not trial.shift:
        return X
    moved, deviation = X.astype(np.float64), X[rows.train].std(axis=0)
    for number, part in enumerate(rows.clients):
        moved[part] += trial.shift * deviation * np.random.default_rng([trial.seed, 3, number]).normal(size=X.shape[1])
    return moved


def select(trial: Trial, X: Float, Y: Int, rows: RowShares) -> Selected:
    """What the method chooses from the training rows."""
    entry = known_method(trial.method)
    parameters = {**dict(trial.parameters), "n_features_to_select": trial.k}
    if entry.name == RANDOM:
        seeds = [1000 * trial.seed + draw for draw in range(N_RANDOM_DRAWS)]
        fitted = [entry.factory(**parameters, random_state=seed).fit(X[rows.train]) for seed in seeds]
    else:
        if entry.supervision == "supervised" and "random_state" in signature(entry.factory).parameters:
            parameters.setdefault("random_state", trial.seed)
        tables, clients = _seen(trial, entry, X, Y, rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SiteShiftWarning)  # rows of one table have the same units at all clients
            fitted = [entry.factory(**parameters).fit(*tables, **clients)]
    return Selected(
        draws=[selector.order_[: selector.support_.sum()] for selector in fitted],
        transcript=getattr(fitted[0], "transcript_", ()),
        own_k=getattr(fitted[0], "n_kept_", None),
    )


def _seen(
    trial: Trial, entry: CatalogEntry, X: Float, Y: Int, rows: RowShares
) -> tuple[tuple[Any, ...], dict[str, dict[str, Any] | None]]:
    """What a method is given to fit: the tables, and by keyword the clients of a federated one."""
    if trial.labels == "none":
        return (X[rows.train],), {}
    if entry.federated:
        semi_supervised = entry.supervision == "semi-supervised"
        clients = {
            f"client-{i:02d}": X[part] if semi_supervised else (X[part], Y[part]) for i, part in enumerate(rows.clients)
        }
        alone = not semi_supervised and trial.labels == "server"  # clients would show their labels
        return (X[rows.server], Y[rows.server]), {"clients": None if alone else clients}
    if entry.supervision == "semi-supervised":
        known = np.where(np.isin(rows.train, rows.server)[:, None], Y[rows.train], -1)
        return (X[rows.train], known), {}
    taught = rows.train if trial.labels == "all" else rows.server
    return (X[taught], Y[taught]), {}
