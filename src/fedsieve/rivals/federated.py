"""What the federated rivals share: clients hold rows and labels, the server is one more site, sums leave a site."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from fedsieve.arrays import Float, dense
from fedsieve.errors import DataError, columns_differ
from fedsieve.protocol import Labeled, Plan, Selection, Site
from fedsieve.rivals.rival import Rival
from fedsieve.selectors.labels import read_labels
from fedsieve.selectors.tables import column_names, named_clients, read_clients
from fedsieve.transport import in_process


class FederatedRival(Rival):
    """A selector that runs through the protocol with clients `(Z, Yz)`; a subclass has a plan and keeps its findings.

    After `fit`: `scores_`, `order_`, `ranking_`, `support_`, `relevance_`, `transcript_` (empty without clients),
    `dropped_` (client -> why).
    """

    def fit(self, X: Any, Y: Any = None, clients: Any = None) -> Self:
        """Rank the features from the labeled rows (X, Y) of the server and (Z, Yz) of the clients.

        `clients` is a list of pairs, or a dict name -> pair, at least two. Without, X and Y are all there is, and no
        federation is claimed.
        """
        owner = type(self).__name__
        if Y is None:
            raise DataError(f"{owner}: requires y to be passed, but the target y is None. It is a supervised method.")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        named = hasattr(self, "feature_names_in_")
        features = tuple(self.feature_names_in_) if named else tuple(f"x{i}" for i in range(self.n_features_in_))
        pairs = {} if clients is None else _pairs(owner, clients)
        sites = read_clients({name: rows for name, (rows, _) in pairs.items()}, features, named)
        tables = {"the server": (X.shape[0], Y), **{f"client {n!r}": (sites[n].X.shape[0], pairs[n][1]) for n in pairs}}
        labels, (own, *others) = _labels(owner, tables, features)
        plan = self._plan(features, labels, min_clients=0 if clients is None else 2)
        labeled_sites = {
            name: Site(site.features, site.X, labels, labels_there)
            for (name, site), labels_there in zip(sites.items(), others, strict=True)
        }
        outcome = in_process.select(plan, Labeled(dense(X), own), labeled_sites)
        selection = outcome.selection
        self._keep_ranking(selection.scores, selection.order, plan.k)
        self.relevance_ = selection.relevance
        self.transcript_ = outcome.transcript
        self.dropped_ = selection.dropped
        self._keep(selection)
        return self

    @abstractmethod
    def _plan(self, features: tuple[str, ...], labels: tuple[str, ...], min_clients: int) -> Plan:
        """The plan of these parameters."""

    @abstractmethod
    def _keep(self, selection: Selection) -> None:
        """Keep what the method found besides a ranking."""


def _pairs(owner: str, clients: Any) -> dict[str, tuple[Any, Any]]:
    pairs = named_clients(clients)
    for name, pair in pairs.items():
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise DataError(
                f"{owner}: client {name!r} must be a pair (rows, labels): this method needs labels at the clients; "
                f"got {type(pair).__name__}."
            )
    return pairs


def _labels(
    owner: str, tables: Mapping[str, tuple[int, Any]], features: tuple[str, ...]
) -> tuple[tuple[str, ...], list[Float]]:
    """The labels' names and each site's 0/1 labels; classes (1-D) are encoded for all sites together."""
    names = column_names(next(iter(tables.values()))[1])
    values = [_label_values(owner, site, n_rows, y, names) for site, (n_rows, y) in tables.items()]
    widths = {value.shape[1] for value in values}
    if len(widths) > 1:
        raise DataError(f"{owner}: all sites must have the same number of labels; got {sorted(widths)}.")
    if widths == {1}:
        encoded, labeled = read_labels(np.concatenate(values).ravel(), owner)
        if encoded.shape[1] == 2:
            encoded = encoded[:, 1:]  # two classes are one label; as two, each would tell all of the other
    else:
        parts = [read_labels(value, f"{owner}: {site}") for site, value in zip(tables, values, strict=True)]
        encoded, labeled = (np.concatenate(part) for part in zip(*parts, strict=True))
    if not labeled.all():
        raise DataError(
            f"{owner}: {int((~labeled).sum())} rows of labels are -1 (unlabeled). It needs labels for all rows."
        )
    given = names if names is not None and len(names) == encoded.shape[1] else None
    label_names = given or tuple(f"y{i}" for i in range(encoded.shape[1]))
    while set(label_names) & set(features):
        label_names = tuple(f"label {name}" for name in label_names)
    return label_names, np.split(encoded, np.cumsum([len(value) for value in values])[:-1])


def _label_values(owner: str, site: str, n_rows: int, y: Any, names: tuple[str, ...] | None) -> Any:
    """One site's labels as (n_rows, n_labels), in the order of the server's."""
    own = column_names(y)
    if (own is None) != (names is None):
        have = ("no names", "names") if names is not None else ("names", "none")
        raise DataError(
            f"{owner}: {site} has labels with {have[0]}, the server with {have[1]}; labels are matched by name. "
            "Pass data frames everywhere, or arrays everywhere."
        )
    if own is not None and names is not None:
        missing, extra = [name for name in names if name not in own], [name for name in own if name not in names]
        if missing or extra:
            way_out = "Give every site the same labels, in any order."
            raise columns_differ(f"{owner}: {site}, its labels,", missing, extra, way_out)
        y = y[list(names)]
    value = np.asarray(y.toarray() if sparse.issparse(y) else y)
    if value.dtype.kind == "U" and not hasattr(y, "dtype"):
        value = np.array(y, dtype=object)  # in a list of text, -1 must stay a number
    if value.ndim not in (1, 2) or len(value) != n_rows:
        raise DataError(
            f"{owner}: {site} has {n_rows} rows and labels of shape {value.shape}; they must be the same rows."
        )
    return value.reshape(n_rows, -1)
