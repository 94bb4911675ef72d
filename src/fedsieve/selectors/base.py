"""What federated selectors share: one `fit`, and what can be asked after it.

The federation floor (messages, methods, transport) is loaded by the first `fit`, so that `from fedsieve import Sieve`
takes hardly longer than scikit-learn's base classes.
"""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from fedsieve.arrays import Bool, Rows
from fedsieve.checks import check_list, plain
from fedsieve.errors import DataError, FedSieveWarning, ParameterError, SiteShiftWarning
from fedsieve.selectors.ranking import RankingSelector, refuse_weights
from fedsieve.tables import ArrayTable

if TYPE_CHECKING:
    from fedsieve.protocol import Method
    from fedsieve.protocol.influence import KeptReplies
    from fedsieve.protocol.totals import KeptTotals
    from fedsieve.selectors.federation import Federation


@dataclass(frozen=True, eq=False)
class _Run:
    """What is kept of a `fit` for later questions: all but the clients' tables."""

    method: "Method"
    federation: "Federation"
    kept: "KeptReplies"
    totals: "KeptTotals"


class FederatedSelector(RankingSelector):
    """A selector that runs a federated method; a subclass names the method and keeps its findings.

    After `fit`: `scores_`, `order_`, `ranking_`, `support_`, `relevance_`, `per_label_` (n_labels, n_features) of the
    labels `label_names_` (`None` where the method tells nothing of single labels), `transcript_` (empty without
    clients), `dropped_` (client -> why), `influence_` (client -> how far the order moves without it), `left_out_`
    (columns that only name the rows, and those that secure sums leave out, since few rows of all clients differ in
    them), `categories_` (column of text -> its words, by code), `site_shift_` (how far each client's columns lie from
    the others'; `None` without clients, with noise, and where nobody sees a single client's replies).
    """

    missing = "error"
    verbose: Any

    @classmethod
    @abstractmethod
    def federated_method(cls) -> "type[Method]":
        """The method that `fit` runs."""

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
        from fedsieve.privacy import LIBRARY, preset
        from fedsieve.protocol.influence import KeptReplies
        from fedsieve.protocol.shift import shift_of_tables, shift_record, shift_words, site_shift
        from fedsieve.protocol.totals import KeptTotals
        from fedsieve.selectors.federation import read_federation, share_of_features
        from fedsieve.selectors.progress import RoundLines
        from fedsieve.transport import in_process

        Y = others.pop("y", None) if Y is None else Y  # the name that scikit-learn gives it
        refuse_weights(self, others)
        rules = preset(policy, type(self).__name__)
        federation = read_federation(self, X, Y, clients, sample_weight)
        min_clients = len(federation.tables) if clients is None else 2
        parameters = share_of_features(self.federated_method(), self._parameters(federation), federation)
        if clients is None:  # one place: there are no sums to hide
            parameters["secure"] = False
        elif parameters.get("secure"):
            parameters |= {"min_cell": rules.min_cell, "rows_per_column": rules.rows_per_column}
        method = self.federated_method()(federation.features, min_clients=min_clients, **parameters)
        if words := method.costly:
            warnings.warn(words, FedSieveWarning, stacklevel=3)
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
            seed=self._seed(),
        )
        self.transcript_ = outcome.transcript if clients is not None else ()
        self.dropped_ = outcome.selection.dropped
        self._conclude(method, outcome.selection, _Run(method, replace(federation, tables={}), kept, totals))
        lines.ranked(int(self.support_.sum()), len(self.order_))
        self._keep_of_run(outcome.selection)
        self.site_shift_ = None
        if clients is not None:
            there = {name: table for name, table in federation.tables.items() if name not in self.dropped_}
            if rules is LIBRARY and not any(table.elsewhere for table in there.values()):
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
        from fedsieve.selectors.federation import share_of_features
        from fedsieve.transport.rerank import rerank
        from fedsieve.transport.totals_file import Totals

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
        wanted = self.federated_method().with_others_left_out(wanted)
        again: Self = object.__new__(type(self))
        again.__dict__.update(self.__dict__)  # not by `copy`, which computes what pickling keeps
        again.set_params(**wanted)
        known = share_of_features(self.federated_method(), again._parameters(run.federation), run.federation)
        names = ("seed" if name == "random_state" else name for name in wanted)
        labeled = run.federation.labeled
        changes = {name: known.get(name) for name in names}
        method, selection = rerank(Totals.of(run.method, labeled, run.totals), labeled, changes)
        again._conclude(method, selection, run)
        return again

    def _conclude(self, method: "Method", selection: Any, run: _Run) -> None:
        """Keep what was found, and what later questions about it need."""
        from fedsieve.protocol.influence import influence, stretch

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
        pairs = selection.pairs()
        self._alike = None if pairs is None else (*pairs, selection.order[: len(pairs[1])])
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
        from fedsieve.protocol.influence import odd_sites

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

    def _parameters(self, federation: "Federation") -> dict[str, Any]:
        """The parameters of this selector that are the method's, features by name."""
        method = self.federated_method()
        known = {field.name for field in fields(method)}
        given = {name: value for name, value in self.get_params(deep=False).items() if name in known}
        if "nominal" in given:
            coding = federation.coding
            given["nominal"] = coding.nominal(self._names("nominal", given["nominal"], federation.features))
            own = ArrayTable(federation.features, federation.labeled.X)
            tables = (own, *federation.tables.values())
            given |= coding.ranges(given["ranges"], given["nominal"], tables, encodes_codes=method.encodes_codes)
        if method.sites_hold_labels:
            given["labels"] = federation.labels
        return given

    def _feature_names(self) -> list[str]:
        named = hasattr(self, "feature_names_in_")
        return [str(n) for n in self.feature_names_in_] if named else [f"x{i}" for i in range(self.n_features_in_)]

    def _seed(self) -> int:
        """Of what clients draw at random; most draw nothing."""
        return 0

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
