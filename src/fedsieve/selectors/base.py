"""What all selectors share, a ranking of which the best are kept; and what federated ones share, one `fit`."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from fedsieve.arrays import Bool, Float, Rows
from fedsieve.checks import check_known, check_list, is_share, plain
from fedsieve.datasets.coding import Coding, Declared
from fedsieve.errors import DataError, FedSieveWarning, ParameterError, SiteShiftWarning
from fedsieve.ordering import n_kept
from fedsieve.privacy import LIBRARY, preset
from fedsieve.protocol import Labeled, Method
from fedsieve.protocol.influence import KeptReplies, influence, odd_sites, stretch
from fedsieve.protocol.shift import shift_of_tables, shift_record, shift_words, site_shift
from fedsieve.protocol.totals import KeptTotals
from fedsieve.selectors.frames import CodedFrame, coded_frames
from fedsieve.selectors.inputs import (
    clients_with_labels,
    column_names,
    common_labels,
    label_names,
    named_clients,
    read_clients,
)
from fedsieve.selectors.labels import read_labels, read_weights
from fedsieve.selectors.progress import RoundLines
from fedsieve.selectors.ranking import RankingSelector, refuse_weights
from fedsieve.tables import ArrayTable, Table, check_values, dense
from fedsieve.text import counted
from fedsieve.transport import in_process
from fedsieve.transport.rerank import rerank
from fedsieve.transport.totals_file import Totals

POOL = "pool"


@dataclass(frozen=True, eq=False)
class Federation:
    """The tables of one `fit`: names, the server's labeled rows, and one table per client."""

    features: tuple[str, ...]
    labels: tuple[str, ...]  # where clients hold them
    labeled: Labeled
    tables: dict[str, Table]
    coding: Coding = field(default_factory=Coding)  # of text, dates and ids in data frames


@dataclass(frozen=True, eq=False)
class _Run:
    """What is kept of a `fit` for later questions: all but the clients' tables."""

    method: Method
    federation: Federation
    kept: KeptReplies
    totals: KeptTotals


class FederatedSelector(RankingSelector):
    """A selector that runs a federated method; a subclass names the method and keeps its findings.

    After `fit`: `scores_`, `order_`, `ranking_`, `support_`, `relevance_`, `per_label_` (n_labels, n_features) of the
    labels `label_names_` (`None` where the method tells nothing of single labels), `transcript_` (empty without
    clients), `dropped_` (client -> why), `influence_` (client -> how far the order moves without it), `left_out_`
    (columns that only name the rows, and those that secure sums leave out, since few rows of all clients differ in
    them), `categories_` (column of text -> its words, by code), `site_shift_` (how far each client's columns lie from
    the others'; `None` without clients, with noise, and where nobody sees a single client's replies).
    """

    federated_method: ClassVar[type[Method]]
    missing = "error"
    verbose: Any

    def fit(self, X: Any, Y: Any = None, clients: Any = None, policy: str = "library", **others: Any) -> Self:
        """Rank the features.

        With `clients`, X and Y are the server's labeled rows. Clients are a list or a dict by name, two at least: of
        tables, or of pairs (rows, labels) for a method whose clients hold labels. Without clients no federation is
        claimed: the rows of X are one pool, and those with Y = -1 its unlabeled ones.

        `policy` is "library" (one machine holds all rows anyway) or "site" (each client refuses what a site that joined
        a federation would refuse).

        Warns (`SiteShiftWarning`) of each column of a client that looks as if it were in another unit than the others',
        or lies apart from them.
        """
        return self._fit(X, Y, clients, policy, others)

    def _fit(
        self, X: Any, Y: Any, clients: Any, policy: str, others: dict[str, Any], sample_weight: Any = None
    ) -> Self:
        Y = others.pop("y", None) if Y is None else Y  # the name that scikit-learn gives it
        refuse_weights(self, others)
        rules = preset(policy, type(self).__name__)
        federation = self._read(X, Y, clients, sample_weight)
        min_clients = len(federation.tables) if clients is None else 2
        parameters = _share_of_features(self._parameters(federation), federation)
        if clients is None:  # one place: there are no sums to hide
            parameters["secure"] = False
        elif parameters.get("secure"):
            parameters |= {"min_cell": rules.min_cell, "rows_per_column": rules.rows_per_column}
        method = self.federated_method(federation.features, min_clients=min_clients, **parameters)
        kept, totals = KeptReplies(), KeptTotals()
        lines = RoundLines(type(self).__name__, plain(self.verbose), federated=clients is not None)
        outcome = in_process.select(
            method,
            federation.labeled,
            federation.tables,
            lines.asked,
            answered=lines.answered,
            policy=rules,
            kept=kept,
            totals=totals,
        )
        self.transcript_ = outcome.transcript if clients is not None else ()
        self.dropped_ = outcome.selection.dropped
        self._conclude(method, outcome.selection, _Run(method, replace(federation, tables={}), kept, totals))
        lines.ranked(int(self.support_.sum()), len(self.order_))
        self._keep_of_run(outcome.selection)
        self.site_shift_ = None
        if clients is not None:
            there = {name: table for name, table in federation.tables.items() if name not in self.dropped_}
            if rules is LIBRARY:
                self.site_shift_ = shift_of_tables(method, federation.labeled, there)
            else:
                self.site_shift_ = site_shift(method, federation.labeled, kept)
        for words in shift_words(shift_record(self.site_shift_)):
            warnings.warn(words, SiteShiftWarning, stacklevel=3)
        return self

    def rerank(self, n_features_to_select: Any, **parameters: Any) -> Self:
        """Select another number of features without asking the clients: a new fitted selector; this one stays.

        `parameters` are others that no client is asked for, as `random_state`; one that is part of what the clients
        were asked is refused by name. Needs what `fit` kept in memory: not possible after pickling.
        """
        check_is_fitted(self)
        owner, run = type(self).__name__, self._run
        if run is None:
            raise DataError(f"{owner}: a pickled selector keeps no totals to rerank from. Fit again.")
        if run.totals.why_none:
            raise DataError(
                f"{owner}: there are no totals to rerank from: {run.totals.why_none}. Its order_ does not depend on "
                "the number of features: take the best of it."
            )
        wanted = {"n_features_to_select": n_features_to_select, **parameters}
        again: Self = copy(self)
        again.set_params(**wanted)
        known = _share_of_features(again._parameters(run.federation), run.federation)
        names = ("seed" if name == "random_state" else name for name in wanted)
        labeled = run.federation.labeled
        changes = {name: known.get(name) for name in names}
        method, selection = rerank(Totals.of(run.method, labeled, run.totals), labeled, changes)
        again._conclude(method, selection, run)
        return again

    def _conclude(self, method: Method, selection: Any, run: "_Run") -> None:
        """Keep what was found, and what later questions about it need."""
        self._run: _Run | None = run
        self._influence: Callable[[], tuple[dict[str, float] | None, dict[str, float]]] | None = lambda: (
            influence(method, run.federation.labeled, selection, run.kept),
            stretch(run.kept),
        )
        n_selected = method.k if selection.n_selected is None else selection.n_selected
        coding, features = run.federation.coding, run.federation.features
        ids = np.array([name in coding.left_out for name in features])
        order = np.concatenate([selection.order[~ids[selection.order]], selection.order[ids[selection.order]]])
        self._keep_ranking(selection.scores, order, min(n_selected, int((~ids).sum())))
        self.relevance_ = selection.relevance
        self.per_label_ = selection.per_label
        self.left_out_ = (*coding.left_out, *selection.left_out)
        self.categories_ = coding.categories
        self._keep(selection)

    @property
    def influence_(self) -> dict[str, float] | None:
        """Per client the share of the selected features that others would replace without it, ranges being the same.

        Computed when it is first read; a client that moves far more than the others, or a column's spread more than
        twofold, is warned of. `None` where it cannot be told: fewer than three clients, `wire="vectors"`, noise, or
        `secure=True`, which shows nobody a single client's replies. Not kept in a pickled selector.
        """
        check_is_fitted(self)
        if self._influence is None:
            raise AttributeError(f"{type(self).__name__}: influence_ is not kept in a pickled selector; fit again.")
        moved, factors = self._influence()
        self._influence = lambda: (moved, factors)
        for words in odd_sites(moved, factors).values():
            warnings.warn(words, FedSieveWarning, stacklevel=2)
        return moved

    def __getstate__(self) -> Any:
        """Without rows, replies and totals, which `influence_` and `rerank` need."""
        state = super().__getstate__()
        return {**state, "_influence": None, "_run": None} if "_influence" in state else state

    @abstractmethod
    def _keep(self, selection: Any) -> None:
        """Keep what the method found besides a ranking."""

    def _keep_of_run(self, selection: Any) -> None:
        """Keep what the clients told besides, which no `rerank` changes."""

    def _pool(self, X: Rows, labeled: Bool) -> Rows | None:  # noqa: ARG002 (labeled rows are rows of the pool as well)
        """Which rows stand for the clients where there are none."""
        return X

    def _parameters(self, federation: Federation) -> dict[str, Any]:
        """The parameters of this selector that are the method's, features by name."""
        known = {field.name for field in fields(self.federated_method)}
        given = {name: value for name, value in self.get_params(deep=False).items() if name in known}
        if "nominal" in given:
            coding = federation.coding
            given["nominal"] = coding.nominal(self._names("nominal", given["nominal"], federation.features))
            own = ArrayTable(federation.features, federation.labeled.X)
            tables, encodes_codes = (own, *federation.tables.values()), self.federated_method.encodes_codes
            given |= coding.ranges(given["ranges"], given["nominal"], tables, encodes_codes=encodes_codes)
        if self.federated_method.sites_hold_labels:
            given["labels"] = federation.labels
        return given

    def _read(self, X: Any, Y: Any, clients: Any, sample_weight: Any) -> Federation:
        owner, with_labels = type(self).__name__, self.federated_method.sites_hold_labels
        if Y is None:
            way_out = "It is a supervised method." if with_labels else "Unlabeled rows are -1."
            raise DataError(f"{owner}: requires y to be passed, but the target y is None. {way_out}")
        given = {} if clients is None else clients
        brought = clients_with_labels(owner, given) if with_labels else named_clients(given)
        rows = {name: table[0] for name, table in brought.items()} if with_labels else brought
        takes_text = self.federated_method.takes_nominal
        X, rows, coding = coded_frames(owner, X, rows, self._declared(X), takes_text=takes_text)
        if isinstance(X, CodedFrame):
            validate_data(self, X.frame, skip_check_array=True)
            X = check_array(X, dtype=np.float64, ensure_all_finite=with_labels, ensure_min_samples=2)
        else:
            X = validate_data(
                self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=with_labels, ensure_min_samples=2
            )
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        named = hasattr(self, "feature_names_in_")
        features = tuple(self.feature_names_in_) if named else tuple(f"x{i}" for i in range(self.n_features_in_))
        if with_labels:
            pairs = None if clients is None else {name: (table, brought[name][1]) for name, table in rows.items()}
            read = self._read_clients_with_labels(X, Y, pairs, features, named)
        else:
            tables = None if clients is None else rows
            read = self._read_clients_without_labels(X, Y, tables, features, named, sample_weight)
        return replace(read, coding=coding)

    def _declared(self, X: Any) -> Declared:
        """What the parameters say of the columns of a data frame."""
        features = column_names(X) or ()
        if not features:
            return Declared()
        nominal, dates = (self._names(key, getattr(self, key, ()), features) for key in ("nominal", "dates"))
        check_known(type(self).__name__, "dates names", dates, set(features))
        return Declared(dates=dates, nominal=nominal)

    def _read_clients_with_labels(
        self, X: Rows, Y: Any, clients: Any, features: tuple[str, ...], named: bool
    ) -> Federation:
        owner = type(self).__name__
        pairs = {} if clients is None else clients_with_labels(owner, clients)
        rows = read_clients({name: rows for name, (rows, _) in pairs.items()}, features, named)
        sizes = {"the server": (X.shape[0], Y), **{f"client {n!r}": (rows[n].n_rows, pairs[n][1]) for n in pairs}}
        labels, (own, *others) = common_labels(owner, sizes, features)
        self.label_names_ = labels
        tables: dict[str, Table] = {
            name: ArrayTable(features, table.whole(features), labels, labels_there)
            for (name, table), labels_there in zip(rows.items(), others, strict=True)
        }
        return Federation(features, labels, Labeled(dense(X), own), tables)

    def _read_clients_without_labels(
        self, X: Rows, Y: Any, clients: Any, features: tuple[str, ...], named: bool, sample_weight: Any
    ) -> Federation:
        owner = type(self).__name__
        labels, labeled = read_labels(Y, owner, partly=self.federated_method.takes_unknown_labels)
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
                check_values(X, features, self.missing)
            except DataError as error:
                raise DataError(f"{owner}: X has {error}") from None
            pool = self._pool(X, labeled)
            tables: dict[str, Table] = {} if pool is None else {POOL: ArrayTable(features, pool)}
        elif not labeled.all():
            raise DataError(
                f"{owner}: {counted(int((~labeled).sum()), 'unlabeled row')} (-1) in Y. With clients, X and Y are the "
                "server's labeled rows; move unlabeled ones to a client."
            )
        else:
            tables = read_clients(clients, features, named)
        self.label_names_ = label_names(Y, labels.shape[1])
        return Federation(features, (), Labeled(dense(X[labeled]), labels[labeled], weights=weights), tables)

    def _names(self, parameter: str, entries: Iterable[Any], features: tuple[str, ...]) -> tuple[str, ...]:
        """Names of features that are given as names or indices."""
        check_list(type(self).__name__, parameter, entries)
        try:
            return tuple(features[int(e)] if isinstance(e, Integral) else str(e) for e in entries)
        except IndexError:
            raise ParameterError(
                f"{type(self).__name__}: {parameter}={entries!r} has an index beyond the {len(features)} features."
            ) from None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


def _share_of_features(parameters: dict[str, Any], federation: Federation) -> dict[str, Any]:
    """The parameters with a number for a share: of the columns that take part, without ids."""
    wanted, n_ids = plain(parameters.get("n_features_to_select")), len(federation.coding.left_out)
    if not n_ids or not (wanted is None or (is_share(wanted) and 0 < wanted < 1)):
        return parameters
    n_in_groups = sum(len(group) - 1 for group in parameters.get("groups", ()))  # a group counts once
    return {**parameters, "n_features_to_select": n_kept(wanted, len(federation.features) - n_ids - n_in_groups)}
