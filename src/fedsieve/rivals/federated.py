"""What the federated rivals share: clients hold rows and labels, the server is one more site, sums leave a site."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from fedsieve.arrays import Float, dense
from fedsieve.errors import DataError
from fedsieve.protocol import Labelled, Plan, Selection, Site
from fedsieve.runtimes import in_process
from fedsieve.selectors.labels import label_array, read_labels
from fedsieve.selectors.ranking_selector import RankingSelector
from fedsieve.selectors.tables import column_names, named_clients, read_clients


class FederatedRival(RankingSelector):
    """A selector that runs through the protocol with clients `(Z, Yz)`; a subclass has a plan and keeps its findings.

    After `fit`: `scores_`, `order_`, `ranking_`, `support_`, `relevance_`, `transcript_` (empty without clients),
    `dropped_` (client -> why).
    """

    n_features_to_select: int | None
    on_bad_client: str
    max_message_bytes: int

    def fit(self, X: Any, y: Any, clients: Any = None) -> Self:
        """Rank the features from the labelled rows (X, y) of the server and (Z, Yz) of the clients.

        `clients` is a list of pairs, or a dict name -> pair, at least two. Without, X and y are all there is, and no
        federation is claimed.
        """
        owner = type(self).__name__
        if y is None:
            raise DataError(f"{owner}: requires y to be passed, but the target y is None. It is a supervised method.")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        named = hasattr(self, "feature_names_in_")
        features = tuple(self.feature_names_in_) if named else tuple(f"x{i}" for i in range(self.n_features_in_))
        pairs = {} if clients is None else _pairs(owner, clients)
        sites = read_clients({name: rows for name, (rows, _) in pairs.items()}, features, named)
        tables = {"the server": (X.shape[0], y), **{n: (sites[n].X.shape[0], pairs[n][1]) for n in pairs}}
        labels, (own, *others) = _labels(owner, tables, features)
        plan = self._plan(features, labels, min_clients=0 if clients is None else 2)
        labelled_sites = {
            name: Site(site.features, site.X, labels, Y) for (name, site), Y in zip(sites.items(), others, strict=True)
        }
        outcome = in_process.select(plan, Labelled(dense(X), own), labelled_sites)
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


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
    names = column_names(tables["the server"][1])
    values = []
    for site, (n_rows, y) in tables.items():
        if names is not None and column_names(y) is not None:
            missing = [name for name in names if name not in column_names(y)]  # type: ignore[operator]
            if missing:
                raise DataError(f"{owner}: {site} lacks the labels {missing}; labels are matched by name.")
            y = y[list(names)]
        value = label_array(y)
        if len(value) != n_rows:
            raise DataError(
                f"{owner}: {site} has {n_rows} rows and {len(value)} rows of labels; they must be the same."
            )
        values.append(value)
    shapes = {value.shape[1:] for value in values}
    if len(shapes) > 1:
        raise DataError(f"{owner}: all sites must have the same number of labels; got {sorted(map(str, shapes))}.")
    encoded, labelled = read_labels(np.concatenate(values), owner)
    if not labelled.all():
        raise DataError(
            f"{owner}: {int((~labelled).sum())} rows of labels are -1 (unlabelled). It needs labels for all rows."
        )
    given = names if names is not None and len(names) == encoded.shape[1] else None
    label_names = given or tuple(f"y{i}" for i in range(encoded.shape[1]))
    while set(label_names) & set(features):
        label_names = tuple(f"label {name}" for name in label_names)
    return label_names, np.split(encoded, np.cumsum([len(value) for value in values])[:-1])
