"""One run: split the rows, select with the server's labels, train ML-kNN on the selected features, measure."""

import time
from dataclasses import asdict, dataclass
from inspect import signature
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int, dense
from fedsieve.catalog import Entry, registry
from fedsieve.datasets import Dataset, load, load_digits, partition
from fedsieve.errors import ParameterError, listed
from fedsieve.experiments.config import Run
from fedsieve.experiments.memory import peak_megabytes, reset_peak
from fedsieve.learning import MLkNN, metrics
from fedsieve.protocol import Entry as Said
from fedsieve.protocol import bytes_by_client, bytes_by_kind
from fedsieve.versions import versions

TEST_SHARE = 0.3
N_RANDOM_DRAWS = 20

MEASURES = {
    "average_precision": metrics.average_precision,
    "coverage": metrics.coverage,
    "ranking_loss": metrics.ranking_loss,
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Who has which rows of a dataset in one run; `server` and `clients` together are `train`."""

    train: Int
    test: Int
    server: Int
    clients: list[Int]


def evaluate(run: Run) -> dict[str, Any]:
    """The record of a run: its configuration, the metrics per scaling, seconds, peak memory, bytes by message."""
    entry = known_method(run.method)
    data = load_by_name(run.dataset)
    X, rows = dense(data.X), deal_out(run, data)
    reset_peak()
    start = time.perf_counter()
    orders, k, transcript, own_k = _select(run, entry, data, X, rows)
    seconds = {"select": time.perf_counter() - start}
    start = time.perf_counter()
    measured = {scaling: _measure(run, data, X, rows, orders, k, scaling) for scaling in run.scaling}
    seconds["classify"] = time.perf_counter() - start
    n_bytes, client_bytes = bytes_by_kind(transcript), bytes_by_client(transcript)
    return {
        "key": run.key(),
        "run": asdict(run),
        "metrics": measured,
        "k": k,
        **({} if own_k is None else {"own_k": own_k}),
        "selected": [data.feature_names[p] for p in orders[0][:k]] if k < X.shape[1] and len(orders) == 1 else None,
        "rows": {"server": len(rows.server), "clients": [len(part) for part in rows.clients], "test": len(rows.test)},
        "seconds": seconds,
        "peak_mb": peak_megabytes(),
        "bytes": n_bytes,
        "client_bytes": client_bytes,
        "versions": versions(),
    }


def load_by_name(name: str) -> Dataset:
    """A dataset of the paper, or the bundled digits."""
    return load_digits() if name == "digits" else load(name)


def known_method(name: str) -> Entry:
    """The registry's entry of that name."""
    methods = registry()
    if name not in methods:
        raise ParameterError(f"experiment: no method {name!r}; there are {', '.join(map(repr, methods))}.")
    return methods[name]


def check_run(run: Run) -> None:
    """Find out whether a run can be done at all, without doing it."""
    data, entry = load_by_name(run.dataset), known_method(run.method)
    deal_out(run, data)
    n_features = data.X.shape[1]
    if run.k is not None and run.k > n_features:
        raise ParameterError(f"experiment: k of {run.dataset!r} must be at most n_features={n_features}; got {run.k}.")
    unknown = [name for name, _ in run.parameters if name not in signature(entry.factory).parameters]
    if unknown:
        raise ParameterError(f"experiment: {run.method} has no parameter {listed(unknown)}.")


def deal_out(run: Run, data: Dataset) -> Rows:
    """Split the rows by the run's seed: test, the server's labeled share of the rest, and clients for what is left."""
    if run.split == "official":
        if data.train is None or data.test is None:
            raise ParameterError(f"experiment: {run.dataset!r} has no official split; use split = 'random'.")
        train, test = data.train, data.test
    else:
        shuffled = np.random.default_rng([run.seed, 0]).permutation(len(data.Y))
        n_test = round(TEST_SHARE * len(shuffled))
        test, train = np.sort(shuffled[:n_test]), np.sort(shuffled[n_test:])
    labeled, others = partition.labeled_split(data.Y[train], run.labeled, [run.seed, 1])
    deal = getattr(partition, run.partition)
    alpha = {} if run.partition == "iid" else {"alpha": run.alpha}
    parts = deal(data.Y[train[others]], run.n_clients, random_state=[run.seed, 2], **alpha)
    return Rows(train, test, train[labeled], [train[others[part]] for part in parts])


def _select(
    run: Run, entry: Entry, data: Dataset, X: Float, rows: Rows
) -> tuple[list[Int], int, tuple[Said, ...], int | None]:
    """The orders to measure (several for random features), how many features to keep, what was said, and how many
    features a method that chooses their number would have kept.
    """
    parameters = {**dict(run.parameters), "n_features_to_select": run.k}
    if entry.name == "random":
        draws = [entry.factory(**parameters, random_state=1000 * run.seed + draw) for draw in range(N_RANDOM_DRAWS)]
        fitted = [selector.fit(X[rows.train]) for selector in draws]
    elif entry.supervision == "none":
        fitted = [entry.factory(**parameters).fit(X[rows.train])]
    elif entry.federated:
        labeled_clients = entry.supervision == "supervised"
        clients = {
            f"client-{i:02d}": (X[part], data.Y[part]) if labeled_clients else X[part]
            for i, part in enumerate(rows.clients)
        }
        fitted = [entry.factory(**parameters).fit(X[rows.server], data.Y[rows.server], clients=clients)]
    elif entry.supervision == "semi-supervised":
        known = np.where(np.isin(rows.train, rows.server)[:, None], data.Y[rows.train], -1)
        fitted = [entry.factory(**parameters).fit(X[rows.train], known)]
    else:
        if "random_state" in signature(entry.factory).parameters:
            parameters.setdefault("random_state", run.seed)
        fitted = [entry.factory(**parameters).fit(X[rows.train], data.Y[rows.train])]
    k = int(fitted[0].support_.sum())
    own_k = getattr(fitted[0], "n_kept_", None)
    return [selector.order_ for selector in fitted], k, getattr(fitted[0], "transcript_", ()), own_k


def _measure(
    run: Run, data: Dataset, X: Float, rows: Rows, orders: list[Int], k: int, scaling: str
) -> dict[str, float]:
    """The metrics of ML-kNN on the selected features, averaged over the orders."""
    taught = rows.train if run.classifier_labels == "all" else rows.server
    low, width = (X[rows.train].min(axis=0), np.ptp(X[rows.train], axis=0)) if scaling == "scaled" else (0.0, 1.0)
    table = (X - low) / np.where(width, width, 1.0)
    results = []
    for order in orders:
        chosen = np.sort(order[:k])
        model = MLkNN(n_neighbors=10, smoothing=1.0).fit(table[np.ix_(taught, chosen)], data.Y[taught])
        scores = model.predict_proba(table[np.ix_(rows.test, chosen)])
        results.append([measure(data.Y[rows.test], scores) for measure in MEASURES.values()])
    return dict(zip(MEASURES, np.mean(results, axis=0).tolist(), strict=True))
