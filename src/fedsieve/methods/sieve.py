"""Sieve as a federated method: ranges, then covariances added up over all rows; of wide tables, projections before.

Where values are missing, the means that stand in for them come first. In declared ranges nobody knows whether any are:
sites that miss none send their covariances at once, and if all do, that is the only round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fedsieve import checks
from fedsieve.arrays import Bool, Float, Int
from fedsieve.errors import DataError, ParameterError
from fedsieve.messages import Scaling, Terms
from fedsieve.messages.base import Budget
from fedsieve.messages.clipped_moments import PAIRS, SQUARES, ClippedMomentsTerms
from fedsieve.messages.columns import ERROR, INDICATOR, MEAN, ROBUST, Fill
from fedsieve.messages.covariances import AskCovariances, CovariancesTerms
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.means import FEDERATION, SITES, MeansTerms
from fedsieve.messages.projections import COLUMNS_PER_SUM, ProjectionsTerms
from fedsieve.messages.whole_covariances import WholeCovariancesTerms
from fedsieve.methods.compared_columns import check_compared, fewer_columns, many_compared
from fedsieve.methods.exact_sieve import exact_run
from fedsieve.methods.private_sieve import private_run
from fedsieve.methods.ranges import ranges_terms, scaling_agreed_on
from fedsieve.methods.run_costs import FederationSize, FormCost, covariance_forms
from fedsieve.methods.sieve_selection import SieveSelection, of_units
from fedsieve.methods.sieve_units import check_groups, units_of
from fedsieve.methods.weighted_rows import counted_rows
from fedsieve.ordering import n_kept
from fedsieve.privacy.noise import check_promise
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.method import Labeled, Method
from fedsieve.sieve import (
    FeatureViews,
    FirstViews,
    RegressionViews,
    Screening,
    Tuning,
    UnitRanking,
    label_varies,
    rank_units,
    screen,
    screening_weights,
)
from fedsieve.text import counted

AUTO = "auto"
REGRESSION, VIEWS = "regression", "views"
BLENDS: dict[str, type[FeatureViews]] = {REGRESSION: RegressionViews, VIEWS: FirstViews}
"""What the order is made of: Sieve's forward regression and trees, or the three views of the first Sieve."""


@dataclass(frozen=True, eq=False)
class SieveMethod(Method):
    """The parameters of one selection by Sieve, and its run.

    `groups` lists features that are selected together, such as the 0/1 columns of one nominal variable. A group counts
    as one feature: it and a feature of its own are both called a unit.
    """

    name: ClassVar[str] = "Sieve"
    page: ClassVar[str] = "sieve.md"
    encodes_codes: ClassVar[bool] = True
    most_by_default: ClassVar[int] = 1000  # twice as many are compared, and no more than `screen` need be
    takes_unknown_labels: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = True
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **Method.choices,
        "missing": (ERROR, MEAN, INDICATOR),
        "center": (FEDERATION, SITES),
        "blend": tuple(BLENDS),
    }
    in_place_of: ClassVar[Mapping[str, str]] = {"n_features_to_select": "fdr", "fdr": "n_features_to_select"}
    decided_here: ClassVar[tuple[str, ...]] = (
        *Method.decided_here,
        "blend",
        "ridge",
        "n_trees",
        "n_bootstraps",
        "seed",
        "fdr",
    )

    n_features_to_select: float | str | None = None  # type: ignore[assignment] # also "auto"
    missing: str = MEAN
    ranges: str | Mapping[str, tuple[float, float]] = ROBUST
    center: str = FEDERATION
    groups: Sequence[Sequence[str]] = ()
    blend: str = REGRESSION
    ridge: float | str = AUTO
    n_trees: int = 200
    n_bootstraps: int = 20
    screen: int = 2000
    seed: int = 0
    fdr: float | None = None
    epsilon: float | None = None
    delta: float = 1e-6

    def __post_init__(self) -> None:
        """Check what is Sieve's own besides what all methods share."""
        super().__post_init__()
        if self.ridge != AUTO:
            self.check_number("ridge", "above 0 and at most 1e6, or 'auto'", lambda ridge: 0 < ridge <= 1e6)
        self.check_count("n_trees", 1)
        self.check_count("n_bootstraps", 0)
        self.check_count("screen", 2)
        self.check_count("seed", 0)
        if self.fdr is not None:
            self._check_fdr()
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
        if wanted is None or isinstance(wanted, str):
            return min(n_kept(None, self.n_units), self.most_by_default)
        return n_kept(wanted, self.n_units)

    @property
    def may_select_none(self) -> bool:
        """With an error rate, where nothing can be told from chance."""
        return self.fdr is not None

    @property
    def most_selected(self) -> int:
        """All under "auto" or with an error rate; else as many as the largest units have."""
        if isinstance(self.n_features_to_select, str) or self.fdr is not None:
            return len(self.features)
        return int(np.sort(np.bincount(self.unit_of))[::-1][: self.k].sum())

    @property
    def n_compared(self) -> int:
        """Of more encoded columns than this, the most relevant are compared with each other, not all.

        Whoever wants many features has twice as many compared. By default, a share of a wide table, it stays at
        `screen`, and those that were not compared follow by their relevance.
        """
        return self.screen if self.n_features_to_select is None else max(self.screen, 2 * self.k)

    def forms(self, federation: FederationSize) -> list[FormCost]:
        """What a run would cost in such a federation."""
        asks_ranges, fills = isinstance(self.ranges, str) and not self.private, self.columns.fills and not self.private
        how = {"asks_ranges": asks_ranges, "fills": fills, "at_once": self.asks_at_once, "noisy": self.private}
        return covariance_forms(federation, self.n_compared, **how)

    def comparing(self, most: int, n_labels: int) -> "SieveMethod":
        """Fewer columns are compared, the most relevant; but twice as many as are selected it takes.

        Where not all are compared, the weighted sums that tell which are the most relevant count as well.
        """
        wide, for_sums = len(self.features) > min(self.n_compared, most), ""
        if wide or self.nominal or self.missing == INDICATOR:
            n_sums = max(2, n_labels)  # one label is told as two classes
            most -= COLUMNS_PER_SUM * n_sums
            for_sums = f" besides {n_sums} weighted sums"
        if min(2 * self.k, self.n_compared) > most:
            raise ParameterError(
                f"{self.name}: n_features_to_select={self.k} needs {2 * self.k} columns to be compared; the rows of "
                f"all sites together allow {max(most, 0)}{for_sums} (rows_per_column={self.rows_per_column}). Select "
                f"at most {max(most // 2, 0)}, or let more rows take part."
            )
        return replace(self, screen=min(self.screen, max(most, 2)))

    def ranking_again(self, selected: Int) -> "SieveMethod":
        """Without bootstraps, and without looking for the number of units again: so many, the best by score."""
        usual = self.n_features_to_select is None and self.fdr is None
        n_units = None if usual else len(np.unique(self.unit_of[selected]))
        kept = max(self.screen, self.n_compared)
        return replace(self, n_bootstraps=0, n_features_to_select=n_units, screen=kept, fdr=None)

    @property
    def smaller_messages(self) -> str:
        """What a user can do about messages that are too large."""
        return fewer_columns(self)

    @property
    def costly(self) -> str:
        """Many columns to be compared."""
        return many_compared(self)

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
        at_once = (WholeCovariancesTerms(*scaling, center, max_columns=most, widest_group=widest),)
        may_be_wide = wide or self.nominal or self.missing == INDICATOR or (self.secure and self.rows_per_column)
        before = (*ranges_terms(self), *(at_once if self.asks_at_once else ()), *means)
        return (*before, *((projections,) if may_be_wide else ()), covariances)

    @property
    def asks_at_once(self) -> bool:
        """Whether covariances are asked for before anybody knows if values are missing.

        Never in secure sums: where some sites miss values, a total would be of the others alone.
        """
        declared = not isinstance(self.ranges, str)
        return declared and self.columns.fills and not self.secure and len(self.features) <= self.n_compared

    def run(self, labeled: Labeled, cohort: Cohort) -> Steps[SieveSelection]:
        """By exact sums, in which the server's rows count like a client's, or by noisy ones."""
        if not label_varies(labeled.Y).any():
            raise DataError(
                f"{self.name}: no label varies over the {counted(len(labeled.Y), 'labeled row')}; nothing to learn. "
                "Label more rows, until a label is there in some rows and not in others."
            )
        if not self.private:  # which counts columns of codes before it asks anybody
            check_compared(self, len(self.features))
        if self.private:
            return (yield from private_run(self, labeled, cohort))
        if self.fdr is not None and labeled.weights is not None:
            raise ParameterError(
                f"{self.name}: takes no sample_weight beside fdr: its error rate is of rows that count once. "
                "Leave one of them out."
            )
        return (yield from exact_run(self, labeled, cohort))

    def ranked(
        self,
        covariance: Float,
        unit: Int,
        table: Float,
        Y: Float,
        shift: Float | None = None,
        weights: Float | None = None,
        first: Bool | None = None,
        screening: Screening | None = None,
    ) -> UnitRanking:
        """The units of some encoded columns, ranked from their covariance and the labeled rows."""
        return rank_units(
            BLENDS[self.blend],
            covariance,
            unit,
            table,
            Y,
            None if self.n_features_to_select == AUTO else self.k,
            ridge=self._ridge,
            n_trees=self.n_trees,
            n_bootstraps=self.n_bootstraps,
            seed=self.seed,
            shift=shift,
            weights=weights,
            first=first,
            say=None if screening is None else screening.say,
        )

    def label_weights(self, table: Float, Y: Float, weights: Float | None = None) -> tuple[Tuning, Float]:
        """The linear model of the labels that is sent to the sites, where any is; and what it is based on."""
        return screening_weights(BLENDS[self.blend], table, Y, self._ridge, weights)

    @property
    def _ridge(self) -> float | None:
        return None if isinstance(self.ridge, str) else self.ridge

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
        self,
        tuning: Tuning,
        table: Float,
        Y: Float,
        unit: Int,
        variance: Float,
        products: Float,
        weights: Float | None = None,
    ) -> Screening:
        """Which units of a wide table go on to be compared."""
        return screen(
            BLENDS[self.blend],
            *(table, Y, unit, variance, products, self.n_compared),
            tuning=tuning,
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

    def _check_fdr(self) -> None:
        """It says how many features are selected, from exact sums of all columns."""
        self.check_number("fdr", "above 0 and below 1, or None", lambda fdr: 0 < fdr < 1)
        if self.n_features_to_select is not None:
            raise ParameterError(
                f"{self.name}: fdr={self.fdr} says how many features are selected, and so does "
                f"n_features_to_select={self.n_features_to_select!r}; leave one of them out (None)."
            )
        if self.epsilon is not None:
            raise ParameterError(f"{self.name}: fdr needs exact sums; leave it out, or epsilon.")
        if len(self.features) > self.n_compared:
            self.check_not_screened(len(self.features))

    def check_not_screened(self, n_columns: int) -> None:
        """Refuse an error rate where so many columns would have to be screened."""
        if self.fdr is not None:
            raise ParameterError(
                f"{self.name}: fdr compares all columns, and there are {n_columns}, with one for each code; screen "
                f"allows {self.n_compared}. Raise screen, or leave columns out; screened ones would spoil the rate."
            )

    def _check_noise_has_no_use(self, parameter: str, choice: str, instead: str) -> None:
        if getattr(self, parameter) == choice:
            raise ParameterError(
                f"{self.name}: {parameter}={choice!r} needs exact sums; with epsilon use {parameter}={instead!r}."
            )
