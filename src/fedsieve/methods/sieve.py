"""Sieve as a federated method: ranges, then covariances added up over all rows; of wide tables, projections before.

Where values are missing, the means that stand in for them come first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fedsieve import checks
from fedsieve.arrays import Float, Int
from fedsieve.errors import DataError, ParameterError
from fedsieve.messages import Request, Scaling, Terms
from fedsieve.messages.base import Budget
from fedsieve.messages.clipped_moments import PAIRS, SQUARES, ClippedMomentsTerms
from fedsieve.messages.columns import ERROR, INDICATOR, MEAN, ROBUST, Fill
from fedsieve.messages.covariances import AskCovariances, Covariances, CovariancesTerms
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.means import FEDERATION, SITES, MeansTerms
from fedsieve.messages.projections import COLUMNS_PER_SUM, AskProjections, Projections, ProjectionsTerms, coarse_weights
from fedsieve.messages.ranges import AskRanges
from fedsieve.methods.missing import NOTHING, agreed_fill
from fedsieve.methods.private_sieve import private_run
from fedsieve.methods.ranges import ranges_terms, scaling_agreed_on, scaling_and_missing
from fedsieve.methods.sieve_selection import SieveSelection, of_units
from fedsieve.methods.sieve_units import check_groups, units_of
from fedsieve.methods.weighted_rows import counted_rows, own_covariances, own_projections
from fedsieve.ordering import n_kept
from fedsieve.privacy.noise import check_promise
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.method import Labeled, Method
from fedsieve.sieve import Screening, UnitRanking, rank_units, screen, screening_weights
from fedsieve.sieve.views import label_varies

AUTO = "auto"


@dataclass(frozen=True, eq=False)
class SieveMethod(Method):
    """The parameters of one selection by Sieve, and its run.

    `groups` lists features that are selected together, such as the 0/1 columns of one nominal variable. A group counts
    as one feature: it and a feature of its own are both called a unit.
    """

    name: ClassVar[str] = "Sieve"
    page: ClassVar[str] = "sieve.md"
    encodes_codes: ClassVar[bool] = True
    takes_unknown_labels: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = True
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **Method.choices,
        "missing": (ERROR, MEAN, INDICATOR),
        "center": (FEDERATION, SITES),
    }
    decided_here: ClassVar[tuple[str, ...]] = (*Method.decided_here, "ridge", "n_trees", "n_bootstraps", "seed")

    n_features_to_select: float | str | None = None  # type: ignore[assignment] # also "auto"
    missing: str = MEAN
    ranges: str | Mapping[str, tuple[float, float]] = ROBUST
    center: str = FEDERATION
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
            self._check_noise_has_no_use("missing", INDICATOR, MEAN)
            self._check_noise_has_no_use("center", SITES, FEDERATION)
        self.check_secure()

    def check_n_features_to_select(self) -> None:
        """A number or share of units, or "auto"."""
        check_groups(self.name, self.groups, self.features)
        high_is = "groups=" if self.groups else "n_features="
        checks.check_n_features(self.name, self.n_features_to_select, self.n_units, high_is, (AUTO,))

    @property
    def unit_of(self) -> Int:
        """The unit of each feature; units are numbered in the order of their first feature."""
        return units_of(self.features, self.groups)

    @property
    def n_units(self) -> int:
        """How many there are to choose from."""
        return len(self.features) - sum(len(group) - 1 for group in self.groups)

    @property
    def k(self) -> int:
        """How many units to select; under "auto" the usual share, until the labeled rows have said."""
        wanted = self.n_features_to_select
        return n_kept(None if isinstance(wanted, str) else wanted, self.n_units)

    @property
    def n_compared(self) -> int:
        """Of more encoded columns than this, the most relevant are compared with each other, not all."""
        return max(self.screen, 2 * self.k)

    def comparing(self, most: int, n_labels: int) -> "SieveMethod":
        """Fewer columns are compared, the most relevant; but twice as many as are selected it takes.

        Where not all are compared, the weighted sums that tell which are the most relevant count as well.
        """
        wide, for_sums = len(self.features) > min(self.n_compared, most), ""
        if wide or self.nominal or self.missing == INDICATOR:
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
        scaling, center = (self.columns, *scaling_agreed_on(self)), self.center
        means = (MeansTerms(*scaling, center),) if self.columns.fills else ()
        projections = ProjectionsTerms(*scaling, center, sure=wide, max_weights=self.n_labels)
        # A group stays whole, so that its columns may be more than are compared.
        widest = max([1, *map(len, self.groups)])
        most = max(self.n_compared, widest)
        covariances = CovariancesTerms(*scaling, center, max_columns=most, widest_group=widest)
        may_be_wide = wide or self.nominal or self.missing == INDICATOR or (self.secure and self.rows_per_column)
        return (*ranges_terms(self), *means, *((projections,) if may_be_wide else ()), covariances)

    def run(self, labeled: Labeled, cohort: Cohort) -> Steps[SieveSelection]:
        """The server's rows count like a client's."""
        if not label_varies(labeled.Y).any():
            raise DataError(f"{self.name}: no label varies over the {len(labeled.Y)} labeled rows; nothing to learn.")
        if self.private:
            return (yield from private_run(self, labeled, cohort))
        own, weights = self.server_table(labeled), labeled.weights
        cohort.observe(_why_no_codes)
        scaling, n_missing = yield from scaling_and_missing(self, labeled, cohort)
        fill, missing = None, NOTHING
        if self.columns.fills and n_missing != 0:
            fill, missing = yield from agreed_fill(self, scaling, self.center, counted_rows(own, weights), cohort)
            scaling = scaling.told()
        encoding, table = self.encoded(scaling, labeled, fill)
        unit = self.unit_of[encoding.owner]

        screening, kept = None, np.arange(len(self.features))
        if len(encoding.names) > self.n_compared:
            model = coarse_weights(screening_weights(table, labeled.Y, self.ridge, weights))
            ask_projections = AskProjections(self.columns, scaling, model, fill, self.center)
            mine = own_projections(ask_projections, own, weights)
            pooled: Projections = yield from cohort.total(ask_projections, mine)
            variance, products = pooled.spreads() / pooled.n_rows, pooled.deviations() / pooled.n_rows
            screening = self.screened(table, labeled.Y, unit, variance, products, weights)
            kept, scaling = np.flatnonzero(screening.kept[self.unit_of]), scaling.told()
            fill = None if fill is None else fill.only(kept, encoding.owner[~encoding.tells])

        some = self.columns.only(self.features[feature] for feature in kept)
        ask_covariances = AskCovariances(some, scaling.only(kept), fill=fill, center=self.center)
        total: Covariances = yield from cohort.total(ask_covariances, own_covariances(ask_covariances, own, weights))
        here = np.isin(encoding.owner, kept)
        compared, unit_here = np.unique(unit[here], return_inverse=True)
        covariance = total.deviations() / total.n_rows
        ranking = self.ranked(covariance, unit_here, table[:, here], labeled.Y, weights=weights)
        return replace(self.selection(ranking, compared, screening, cohort.unseen), missing=missing)

    def ranked(
        self,
        covariance: Float,
        unit: Int,
        table: Float,
        Y: Float,
        shift: Float | None = None,
        weights: Float | None = None,
    ) -> UnitRanking:
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
            weights=weights,
        )

    def encoded(self, scaling: Scaling, labeled: Labeled, fill: Fill | None = None) -> tuple[Encoding, Float]:
        """How columns are encoded, and the server's own rows so, before a client's rows could be blamed for them."""
        ask = AskCovariances(self.columns, scaling, fill=fill, center=self.center)
        try:
            encoding = ask.encoding()
            if np.isnan(labeled.X).any():
                encoding = ask.filled_at(counted_rows(self.server_table(labeled), labeled.weights), encoding)
            return encoding, encoding.table(labeled.X)
        except DataError as error:
            raise DataError(f"{self.name}: {error}") from None

    def screened(
        self, table: Float, Y: Float, unit: Int, variance: Float, products: Float, weights: Float | None = None
    ) -> Screening:
        """Which units of a wide table go on to be compared."""
        return screen(
            *(table, Y, unit, variance, products, self.n_compared),
            ridge=self.ridge,
            n_trees=self.n_trees,
            seed=self.seed,
            weights=weights,
        )

    def selection(
        self,
        ranking: UnitRanking,
        compared: Int,
        screening: Screening | None,
        unseen: str,
    ) -> SieveSelection:
        """What was found of units, for their features; `compared` are the units that were not screened out."""
        return of_units(self.unit_of, ranking, compared, screening, unseen)

    def _check_noise_has_no_use(self, parameter: str, choice: str, instead: str) -> None:
        if getattr(self, parameter) == choice:
            raise ParameterError(
                f"{self.name}: {parameter}={choice!r} needs exact sums; with epsilon use {parameter}={instead!r}."
            )


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
                return (
                    f"has codes in {name!r} beyond those of the labeled rows. Declare the range of its codes: "
                    "bounds of the method, 'federation init --bounds FILE' of an agreement."
                )
    return None
