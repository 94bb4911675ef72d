"""What one `fit` of a federated selector is given: the labeled rows and the clients' tables, read and checked."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from fedsieve.arrays import Float, Rows
from fedsieve.checks import check_known, is_share, plain
from fedsieve.datasets.coding import Coding, Declared
from fedsieve.errors import DataError
from fedsieve.ordering import n_kept
from fedsieve.protocol import Labeled, Method
from fedsieve.selectors.frames import CodedFrame, coded_frames
from fedsieve.selectors.inputs import (
    clients_with_labels,
    common_labels,
    is_one_label,
    label_names,
    named_clients,
    read_clients,
)
from fedsieve.selectors.labels import read_labels, read_weights
from fedsieve.selectors.odd_arrays import refuse_elsewhere
from fedsieve.selectors.tables import column_names
from fedsieve.tables import ArrayTable, Table
from fedsieve.text import counted
from fedsieve.values import check_values, dense

if TYPE_CHECKING:
    from fedsieve.selectors.base import FederatedSelector

POOL = "pool"


@dataclass(frozen=True, eq=False)
class Federation:
    """The tables of one `fit`: names, the server's labeled rows, and one table per client."""

    features: tuple[str, ...]
    labels: tuple[str, ...]  # where clients hold them
    labeled: Labeled
    tables: dict[str, Table]
    coding: Coding = field(default_factory=Coding)  # of text, dates and ids in data frames


def read_federation(selector: "FederatedSelector", X: Any, Y: Any, clients: Any, sample_weight: Any) -> Federation:
    """The tables of a `fit`, checked and in numbers; the selector learns its features and labels by name."""
    owner, method = type(selector).__name__, selector.federated_method()
    with_labels = method.sites_hold_labels
    if Y is None:
        way_out = "It is a supervised method." if with_labels else "Unlabeled rows are -1."
        raise DataError(f"{owner}: requires y to be passed, but the target y is None. {way_out}")
    refuse_elsewhere(f"{owner}: X", X)
    given = {} if clients is None else clients
    brought = clients_with_labels(owner, given) if with_labels else named_clients(given)
    rows = {name: table[0] for name, table in brought.items()} if with_labels else brought
    X, rows, coding = coded_frames(owner, X, rows, _declared(selector, X), takes_text=method.takes_nominal)
    if isinstance(X, CodedFrame):
        validate_data(selector, X.frame, skip_check_array=True)
        X = check_array(X, dtype=np.float64, ensure_all_finite=with_labels, ensure_min_samples=0)
    else:
        X = validate_data(
            selector, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=with_labels, ensure_min_samples=0
        )
    if X.shape[0] < 2:
        raise DataError(
            f"{owner}: X must have at least 2 rows; got n_samples={X.shape[0]}. Add labeled rows to X and Y."
        )
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    named = hasattr(selector, "feature_names_in_")
    features = tuple(selector._feature_names())
    if with_labels:
        pairs = None if clients is None else {name: (table, brought[name][1]) for name, table in rows.items()}
        read = _with_labels(selector, X, Y, pairs, features, named)
    else:
        tables = None if clients is None else rows
        read = _without_labels(selector, X, Y, tables, features, named, sample_weight)
    return replace(read, coding=coding)


def share_of_features(method: type[Method], parameters: dict[str, Any], federation: Federation) -> dict[str, Any]:
    """The parameters with a number for a share: of the columns that take part, without ids."""
    wanted, n_ids = plain(parameters.get("n_features_to_select")), len(federation.coding.left_out)
    if not n_ids or not (wanted is None or (is_share(wanted) and 0 < wanted < 1)):
        return parameters
    n_in_groups = sum(len(group) - 1 for group in parameters.get("groups", ()))  # a group counts once
    k = n_kept(wanted, len(federation.features) - n_ids - n_in_groups)
    most = k if wanted is not None else method.most_by_default
    return {**parameters, "n_features_to_select": min(k, most)}


def _declared(selector: "FederatedSelector", X: Any) -> Declared:
    """What the parameters say of the columns of a data frame."""
    features = column_names(X) or ()
    if not features:
        return Declared()
    nominal, dates = (selector._names(key, getattr(selector, key, ()), features) for key in ("nominal", "dates"))
    check_known(type(selector).__name__, "dates names", dates, set(features))
    return Declared(dates=dates, nominal=nominal)


def _with_labels(
    selector: "FederatedSelector", X: Rows, Y: Any, clients: Any, features: tuple[str, ...], named: bool
) -> Federation:
    owner = type(selector).__name__
    pairs = {} if clients is None else clients_with_labels(owner, clients)
    rows = read_clients({name: rows for name, (rows, _) in pairs.items()}, features, named)
    sizes = {"the server": (X.shape[0], Y), **{f"client {n!r}": (rows[n].n_rows, pairs[n][1]) for n in pairs}}
    labels, (own, *others) = common_labels(owner, sizes, features)
    selector.label_names_ = labels
    tables: dict[str, Table] = {
        name: ArrayTable(features, table.whole(features), labels, labels_there)
        for (name, table), labels_there in zip(rows.items(), others, strict=True)
    }
    return Federation(features, labels, Labeled(dense(X), own), tables)


def _without_labels(
    selector: "FederatedSelector",
    X: Rows,
    Y: Any,
    clients: Any,
    features: tuple[str, ...],
    named: bool,
    sample_weight: Any,
) -> Federation:
    owner = type(selector).__name__
    labels, labeled = read_labels(Y, owner, partly=selector.federated_method().takes_unknown_labels)
    if len(labels) != X.shape[0]:
        raise DataError(f"{owner}: X has {X.shape[0]} rows and Y {len(labels)}; they must be the same rows.")
    if not labeled.any():
        raise DataError(f"{owner}: all rows of Y are -1; at least some rows must be labeled.")
    weights: Float | None = None
    if sample_weight is not None:
        given = read_weights(sample_weight, labeled, owner)
        there = given > 0  # a row of weight 0 is as if it were not
        X, labels, labeled, weights = X[there], labels[there], labeled[there], given[there & labeled]
    if clients is None:
        try:
            check_values(X, features, selector.missing)
        except DataError as error:
            raise DataError(f"{owner}: X has {error}") from None
        pool = selector._pool(X, labeled)
        tables: dict[str, Table] = {} if pool is None else {POOL: ArrayTable(features, pool)}
    elif not labeled.all():
        raise DataError(
            f"{owner}: {counted(int((~labeled).sum()), 'unlabeled row')} (-1) in Y. With clients, X and Y are the "
            "server's labeled rows; move unlabeled ones to a client."
        )
    else:
        tables = read_clients(clients, features, named)
    selector.label_names_ = label_names(Y, labels.shape[1])
    selector._one_label = is_one_label(Y, labels.shape[1])
    return Federation(features, (), Labeled(dense(X[labeled]), labels[labeled], weights=weights), tables)
