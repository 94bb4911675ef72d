"""Sieve as a federated method: ranges, then covariances added up over all rows; of wide tables, projections before."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from fedsieve import checks
from fedsieve.arrays import Float, Int
from fedsieve.errors import DataError, ParameterError, listed
from fedsieve.messages import Request, Scaling, Terms
from fedsieve.messages.base import Budget
from fedsieve.messages.clipped_moments import PAIRS, SQUARES, ClippedMomentsTerms
from fedsieve.messages.covariances import AskCovariances, Covariances, CovariancesTerms
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.projections import COLUMNS_PER_SUM, AskProjections, Projections, ProjectionsTerms, coarse_weights
from fedsieve.messages.ranges import AskRanges
from fedsieve.methods.private_sieve import private_run
from fedsieve.methods.ranges import agreed_scaling, ranges_terms, scaling_agreed_on
from fedsieve.methods.sieve_reasons import Findings
from fedsieve.ordering import default_n_features, places, ranked
from fedsieve.privacy.noise import check_promise
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.method import Labeled, Method
from fedsieve.protocol.outcome import Selection
from fedsieve.sieve import Choice, Screening, UnitRanking, rank_units, screen, screening_weights

AUTO = "auto"
DECIMALS = 12  # of a score
INTERVAL = 0.9  # of the bootstraps have a feature's rank between the two that are told


@dataclass(frozen=True, eq=False)
class SieveSelection(Selection):
    """Also the reasons, per feature; NaN (or -1) for features that were screened out before they were compared."""

    ranks: dict[str, Float]  # per view, 1 is best
    redundancy: Float  # with the chosen feature most like it
    redundant_with: Int  # which one that is; -1 where there is none
    stability: Float  # share of bootstraps in which it is chosen
    rank_low: Float  # its ranks in nine of ten bootstraps are from here
    rank_high: Float  # to here
    chance: Callable[[], Float]  # the score that chance would hardly give it; found when it is first asked for
    choice: Choice | None  # how the number of features was chosen, where it was
    privacy: Mapping[str, Any] | None = None  # what noise promised and cost, where there was any

    def columns(self) -> dict[str, Float]:
        """With the reasons."""
        ranks = {f"rank_{name}": rank for name, rank in self.ranks.items()}
        interval = {"rank_low": self.rank_low, "rank_high": self.rank_high}
        reasons = {"redundancy": self.redundancy, "stability": self.stability, **interval, "chance": self.chance()}
        return {**super().columns(), **reasons, **ranks}

    def links(self) -> dict[str, Int]:
        """With what a feature is redundant with."""
        return {"redundant_with": self.redundant_with}

    def why(self, names: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
        """For every feature."""
        assert self.n_selected is not None
        assert self.per_label is not None
        found = Findings(
            self.order,
            self.n_selected,
            self.scores,
            self.relevance,
            self.redundancy,
            self.redundant_with,
            self.stability,
            self.rank_low,
            self.rank_high,
            self.chance(),
            self.per_label[-len(labels) :],  # one label is told as two classes, of which the second is the label
        )
        return {row["feature"]: row["why"] for row in found.reasons(names, labels)}

    def facts(self) -> dict[str, Any]:
        """With the losses by which the number of features was chosen, and what noise promised and cost."""
        private = {} if self.privacy is None else {"privacy": dict(self.privacy)}
        if self.choice is None:
            return private
        tried = zip(self.choice.sizes.tolist(), self.choice.loss.tolist(), self.choice.error.tolist(), strict=True)
        return {"sizes_tried": [{"k": k, "ranking_loss": loss, "error": error} for k, loss, error in tried], **private}


@dataclass(frozen=True, eq=False)
class SieveMethod(Method):
    """The parameters of one selection by Sieve, and its run.

    `groups` lists features that are selected together, such as the 0/1 columns of one nominal variable. A group counts
    as one feature: it and a feature of its own are both called a unit.
    """

    name: ClassVar[str] = "Sieve"
    page: ClassVar[str] = "sieve.md"
    encodes_codes: ClassVar[bool] = True
    decided_here: ClassVar[tuple[str, ...]] = (*Method.decided_here, "ridge", "n_trees", "n_bootstraps", "seed")

    n_features_to_select: int | str | None = None  # type: ignore[assignment] # a number, "auto", or the usual share
    groups: Sequence[Sequence[str]] = ()
    ridge: float = 0.3
    n_trees: int = 200
    n_bootstraps: int = 20
    screen: int = 2000
    seed: int = 0
    epsilon: float | None = None
    delta: float = 1e-6

    def __post_init__(self) -> None:
        """Check what is Sieve's own besides what all methods share."""
        super().__post_init__()
        self.check_number("ridge", "above 0 and at most 1e6", lambda ridge: 0 < ridge <= 1e6)
        self.check_count("n_trees", 1)
        self.check_count("n_bootstraps", 0)
        self.check_count("screen", 2)
        self.check_count("seed", 0)
        if self.epsilon is not None:
            self.check_number("epsilon", "a number, or None", lambda _: True)
            self.check_number("delta", "a number", lambda _: True)
            check_promise(self.name, self.epsilon, self.delta)
        self.check_secure()

    def check_n_features_to_select(self) -> None:
        """A number of units, or "auto"."""
        self._check_groups()
        if self.n_features_to_select not in (None, AUTO):
            self.check_count("n_features_to_select", 1, self.n_units, "groups=" if self.groups else "n_features=")

    @property
    def unit_of(self) -> Int:
        """The unit of each feature; units are numbered in the order of their first feature."""
        group_of = {name: number for number, group in enumerate(self.groups) for name in group}
        units: dict[object, int] = {}
        keys = (group_of.get(name, name) for name in self.features)
        return np.array([units.setdefault(key, len(units)) for key in keys], dtype=np.int64)

    @property
    def n_units(self) -> int:
        """How many there are to choose from."""
        return len(self.features) - sum(len(group) - 1 for group in self.groups)

    @property
    def k(self) -> int:
        """How many units to select; under "auto" the usual share, until the labeled rows have said."""
        wanted = self.n_features_to_select
        return wanted if isinstance(wanted, int) else default_n_features(self.n_units)

    @property
    def n_compared(self) -> int:
        """Of more encoded columns than this, the most relevant are compared with each other, not all."""
        return max(self.screen, 2 * self.k)

    def comparing(self, most: int, n_labels: int) -> "SieveMethod":
        """Fewer columns are compared, the most relevant; but twice as many as are selected it takes.

        Where not all are compared, the weighted sums that tell which are the most relevant count as well.
        """
        wide, for_sums = self.nominal or len(self.features) > min(self.n_compared, most), ""
        if wide:
            n_sums = max(2, n_labels)  # one label is told as two classes
            most -= COLUMNS_PER_SUM * n_sums
            for_sums = f" besides {n_sums} weighted sums"
        if 2 * self.k > most:
            raise ParameterError(
                f"{self.name}: n_features_to_select={self.k} needs {2 * self.k} columns to be compared; the rows of "
                f"all sites together allow {max(most, 0)}{for_sums} (rows_per_column={self.rows_per_column}). Select "
                f"at most {max(most // 2, 0)}, or let more rows take part."
            )
        return replace(self, screen=min(self.screen, max(most, 2)))

    def ranking_again(self, n_selected: int) -> "SieveMethod":
        """Without bootstraps, and without looking for the number of features again."""
        n_units = min(n_selected, self.n_units)
        return replace(self, n_bootstraps=0, n_features_to_select=n_units, screen=max(self.screen, self.n_compared))

    @property
    def smaller_messages(self) -> str:
        """What a user can do about messages that are too large."""
        return "Compare fewer columns with each other (screen), use fewer features"

    @property
    def private(self) -> bool:
        """Whether sites answer with noise only."""
        return self.epsilon is not None

    def parameters(self) -> dict[str, Any]:
        """Under noise nobody is asked for ranges."""
        values = super().parameters()
        return {**values, "ranges": "labeled rows"} if self.private and isinstance(self.ranges, str) else values

    def terms(self) -> tuple[Terms, ...]:
        """Ranges, projections where the table may be wide, covariances; or the one message with noise."""
        wide = len(self.features) > self.n_compared
        if self.epsilon is not None:
            kind, budget = SQUARES if wide else PAIRS, Budget(self.epsilon, self.delta)
            return (ClippedMomentsTerms(self.columns, budget, kind, self.declared_scaling, self.n_labels),)
        scaling = (self.columns, *scaling_agreed_on(self))
        projections = ProjectionsTerms(*scaling, sure=wide, max_weights=self.n_labels)
        # A group stays whole, so that its columns may be more than are compared.
        widest = max([1, *map(len, self.groups)])
        covariances = CovariancesTerms(*scaling, max_columns=max(self.n_compared, widest), widest_group=widest)
        may_be_wide = wide or self.nominal or (self.secure and self.rows_per_column)
        return (*ranges_terms(self), *((projections,) if may_be_wide else ()), covariances)

    def run(self, labeled: Labeled, cohort: Cohort) -> Steps[SieveSelection]:
        """The server's rows count like a client's."""
        if np.all(np.ptp(labeled.Y, axis=0) == 0):
            raise DataError(f"{self.name}: no label varies over the {len(labeled.Y)} labeled rows; nothing to learn.")
        if self.private:
            return (yield from private_run(self, labeled, cohort))
        own = self.server_table(labeled)
        cohort.observe(_why_no_codes)
        scaling = yield from agreed_scaling(self, labeled, cohort)
        encoding, table = self.encoded(scaling, labeled)
        unit = self.unit_of[encoding.owner]

        screening, kept = None, np.arange(len(self.features))
        if len(encoding.names) > self.n_compared:
            weights = coarse_weights(screening_weights(table, labeled.Y, self.ridge))
            ask_projections = AskProjections(self.columns, scaling, weights)
            pooled: Projections = yield from cohort.total(ask_projections, ask_projections.answer(own))
            variance, products = pooled.spreads() / pooled.n_rows, pooled.deviations() / pooled.n_rows
            screening = self.screened(table, labeled.Y, unit, variance, products)
            kept, scaling = np.flatnonzero(screening.kept[self.unit_of]), scaling.told()

        some = self.columns.only(self.features[feature] for feature in kept)
        ask_covariances = AskCovariances(some, scaling.only(kept))
        total: Covariances = yield from cohort.total(ask_covariances, ask_covariances.answer(own))
        here = np.isin(encoding.owner, kept)
        compared, unit_here = np.unique(unit[here], return_inverse=True)
        ranking = self.ranked(total.deviations() / total.n_rows, unit_here, table[:, here], labeled.Y)
        return self.selection(ranking, compared, screening, cohort.unseen)

    def ranked(self, covariance: Float, unit: Int, table: Float, Y: Float, shift: Float | None = None) -> UnitRanking:
        """The units of some encoded columns, ranked from their covariance and the labeled rows."""
        return rank_units(
            covariance,
            unit,
            table,
            Y,
            None if self.n_features_to_select == AUTO else self.k,
            ridge=self.ridge,
            n_trees=self.n_trees,
            n_bootstraps=self.n_bootstraps,
            seed=self.seed,
            shift=shift,
        )

    def encoded(self, scaling: Scaling, labeled: Labeled) -> tuple[Encoding, Float]:
        """How columns are encoded, and the server's own rows so, before a client's rows could be blamed for them."""
        try:
            encoding = Encoding.of(self.columns, scaling)
            return encoding, encoding.table(labeled.X)
        except DataError as error:
            raise DataError(f"{self.name}: {error}") from None

    def screened(self, table: Float, Y: Float, unit: Int, variance: Float, products: Float) -> Screening:
        """Which units of a wide table go on to be compared."""
        return screen(
            *(table, Y, unit, variance, products, self.n_compared),
            ridge=self.ridge,
            n_trees=self.n_trees,
            seed=self.seed,
        )

    def selection(
        self,
        ranking: UnitRanking,
        compared: Int,
        screening: Screening | None,
        unseen: str,
        privacy: Mapping[str, Any] | None = None,
    ) -> SieveSelection:
        """What was found of units, for their features; `compared` are the units that were not screened out."""
        unit_of, n_units = self.unit_of, self.n_units

        def per_feature(values: Float, of_others: Float | float = np.nan) -> Float:
            whole = np.full(n_units, of_others)
            whole[compared] = values
            return whole[unit_of]

        score: Float = np.zeros(n_units) if screening is None else screening.score - 1.0  # of others below 0
        rest = np.setdiff1d(np.arange(n_units), compared)
        in_order = np.concatenate([compared[ranking.order], rest[ranked(score[rest], decimals=DECIMALS)]])
        place = places(in_order)[unit_of]
        low, high = self._rank_interval(ranking.orders, compared, rest)
        per_label = ranking.per_label if screening is None else screening.per_label
        first_feature = np.unique(unit_of, return_index=True)[1]
        twin = ranking.redundant_with
        return SieveSelection(
            per_feature(ranking.score, score),
            ranked(-place, decimals=0),
            (ranking.relevance if screening is None else screening.relevance)[unit_of],
            {name: per_feature(view.rank + 1) for name, view in ranking.views.items()},
            per_feature(ranking.redundancy),
            per_feature(np.where(twin >= 0, first_feature[compared[twin]], -1).astype(float), -1).astype(np.int64),
            per_feature(ranking.stability),
            low,
            high,
            cache(lambda: per_feature(ranking.chance())),
            ranking.choice,
            privacy,
            n_selected=int((place < ranking.k).sum()),
            per_label=per_label[:, unit_of],
            unseen=unseen,
        )

    def _rank_interval(self, orders: Int, compared: Int, rest: Int) -> tuple[Float, Float]:
        """From which to which rank each feature is in nine of ten bootstraps; NaN without any, and for the rest."""
        if not len(orders):
            unknown = np.full(len(self.features), np.nan)
            return unknown, unknown
        in_orders = (places(np.concatenate([compared[order], rest]))[self.unit_of] for order in orders)
        ranks = np.array([places(ranked(-place, decimals=0)) + 1 for place in in_orders], dtype=np.float64)
        ranks[:, np.isin(self.unit_of, rest)] = np.nan
        share = (1 - INTERVAL) / 2
        low: Float = np.quantile(ranks, share, axis=0, method="lower")
        high: Float = np.quantile(ranks, 1 - share, axis=0, method="higher")
        return low, high

    def _check_groups(self) -> None:
        groups = () if isinstance(self.groups, str) or not isinstance(self.groups, Iterable) else self.groups
        if groups is not self.groups or any(isinstance(g, str) or not isinstance(g, Iterable) for g in groups):
            raise ParameterError(f"{self.name}: groups must be lists of features; got {self.groups!r}.")
        named = [name for group in self.groups for name in group]
        checks.check_known(self.name, "groups name", named, set(self.features))
        twice = checks.repeated(named)
        if twice:
            raise ParameterError(f"{self.name}: groups must not overlap; {listed(twice)} occur twice.")
        if any(not group for group in self.groups):
            raise ParameterError(f"{self.name}: a group needs at least one feature; got an empty one.")


def _why_no_codes(_client: str, request: Request, reply: Any) -> str | None:
    """A client whose codes cannot be encoded is the one to be named, or dropped."""
    if isinstance(request, AskRanges) and request.columns.nominal:
        try:
            Encoding.of(request.columns, reply.scaling)
        except DataError as error:
            return str(error)
    if isinstance(request, AskHistograms):
        parts = request.bins.split(reply.counts)
        for place in np.flatnonzero(request.columns.nominal_mask):
            if parts[place][0] or parts[place][-1]:
                name = request.columns.features[place]
                return f"has codes in {name!r} beyond those of the labeled rows. Declare the range of its codes."
    return None
