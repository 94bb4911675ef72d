"""SSFMLFS, the paper's method, as a federated method: ranges and moments, the feature graph, PageRank."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Int
from fedsieve.errors import ParameterError
from fedsieve.fuzzy.graph import correlation_distance
from fedsieve.fuzzy.neighbors import IRRELEVANT_RULES
from fedsieve.fuzzy.relation import RELATION_KINDS
from fedsieve.messages import Request, Scaling, Terms
from fedsieve.messages.columns import ERROR, FEDERATED, LOCAL, scaled
from fedsieve.messages.deviations import AskDeviations, Deviations, DeviationsTerms
from fedsieve.messages.moments import AskMoments, Moments, MomentsTerms
from fedsieve.messages.pair_sums import PairSumsTerms
from fedsieve.messages.products import ProductsTerms
from fedsieve.messages.ranges import ranges_of
from fedsieve.messages.ranges_and_moments import AskRangesAndMoments, RangesAndMoments, RangesAndMomentsTerms
from fedsieve.messages.relation import Relation, RelationTerms
from fedsieve.messages.relation_matrices import RelationsTerms
from fedsieve.methods.feature_graph import AGGREGATIONS, BLOCKS, connect, pooled_sums, rank
from fedsieve.methods.graph_selection import GraphSelection
from fedsieve.methods.ranges import agreed_scaling, ranges_terms, scaling_agreed_on
from fedsieve.methods.run_costs import USUAL_ROWS, USUAL_SITES, FederationSize, FormCost, first_done, graph_forms
from fedsieve.methods.sampling_error import Sampled, certain_places, sampled
from fedsieve.ordering import order_by_score
from fedsieve.protocol.cohort import SERVER, Cohort, Steps
from fedsieve.protocol.method import Labeled, Method
from fedsieve.tables import n_surely_compared

LEAST_PAIRS = 1000  # of rows: a mean over fewer is too rough to rank by


@dataclass(frozen=True, eq=False)
class SSFMLFSMethod(Method):
    """The parameters of one selection, and its run. `docs/parameters.md` explains each parameter.

    >>> SSFMLFSMethod(features=("age", "weight"), lam=7)
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: SSFMLFS: lam must be in [0.4, 2]; got 7.
    """

    name: ClassVar[str] = "SSFMLFS"
    range_choices: ClassVar[tuple[str, ...]] = (*Method.range_choices, LOCAL)
    together: ClassVar[tuple[Mapping[str, Any], ...]] = ({"ranges": LOCAL, "spread": "mean", "wire": "matrices"},)
    never_agreed: ClassVar[tuple[str, ...]] = ("selected_distance",)
    takes_unknown_labels: ClassVar[bool] = True
    decided_here: ClassVar[tuple[str, ...]] = (
        *Method.decided_here,
        *("n_neighbors", "damping", "irrelevant", "decisions", "tol", "max_iter"),
    )
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **Method.choices,
        "missing": ("error", "unrelated"),
        "relation": RELATION_KINDS,
        "irrelevant": IRRELEVANT_RULES,
        "decisions": ("crisp", "soft"),
        "spread": ("pooled", "mean"),
        "aggregation": AGGREGATIONS,
        "wire": ("auto", "matrices", "statistics", "vectors"),
        "constant": ("last", "keep"),
    }

    lam: float = 1.2
    n_neighbors: int = 3
    damping: float = 0.85
    relation: str = "distance"
    irrelevant: str = "least"
    decisions: str = "crisp"
    spread: str = "pooled"
    aggregation: str = BLOCKS
    wire: str = "auto"
    constant: str = "last"
    tol: float = 1e-9
    max_iter: int = 500
    selected_distance: bool = False
    max_pairs: int = kernels.USUAL_PAIRS

    def __post_init__(self) -> None:
        """Check what is SSFMLFS's own after what all methods share."""
        super().__post_init__()
        self.check_number("lam", "in [0.4, 2]", lambda lam: 0.4 <= lam <= 2)
        self.check_number("damping", "in [0, 1)", lambda damping: 0 <= damping < 1)
        self.check_number("tol", "above 0 and at most 1", lambda tol: 0 < tol <= 1)
        self.check_count("n_neighbors", 1)
        self.check_count("max_iter", 1)
        self.check_count("max_pairs", LEAST_PAIRS, kernels.MAX_PAIRS)
        if self.aggregation != BLOCKS and self.wire == "vectors":
            raise ParameterError(
                f"{self.name}: aggregation={self.aggregation!r} needs each client's own distances, which "
                "wire='vectors' does not tell. Use wire='statistics' or 'matrices', or aggregation='blocks'."
            )
        self.check_secure()

    @property
    def wire_form(self) -> str:
        """The wire form after `auto` is decided."""
        if self.wire != "auto":
            return self.wire
        n_features = len(self.features)
        return first_done(self.forms(FederationSize(USUAL_SITES, USUAL_ROWS, n_features, n_features))).form

    def forms(self, federation: FederationSize) -> list[FormCost]:
        """What each wire form would cost in such a federation, and which ones `auto` does not take."""
        reasons = {}
        if self.secure:
            reasons["vectors"] = "every round of a secure sum is four"
        elif self.aggregation != BLOCKS:
            reasons["vectors"] = f"aggregation={self.aggregation!r} needs each client's own distances"
        return graph_forms(federation, self.max_pairs, reasons)

    @property
    def is_literal(self) -> bool:
        """Whether clients send what Algorithm 1 of the paper says and nothing else: deviations, relation matrices."""
        as_there = (self.ranges, self.spread, self.wire, self.missing) == (LOCAL, "mean", "matrices", ERROR)
        return as_there and not self.nominal

    @property
    def smaller_messages(self) -> str:
        """The wire forms with smaller messages."""
        return "Use a wire form with smaller messages ('statistics' or 'vectors')"

    @property
    def why_single_sites(self) -> str:
        """The mean of deviations is over single sites, and so is that of distances."""
        if self.spread == "mean":
            return "spread='mean' averages over single sites, which it does not name. Use 'pooled'."
        if self.aggregation != BLOCKS:
            return f"aggregation={self.aggregation!r} averages over single sites, which it does not name. Use 'blocks'."
        return ""

    def parameters(self) -> dict[str, Any]:
        """With the wire form that "auto" stands for."""
        return {**super().parameters(), "wire": self.wire_form}

    def check_labeled(self, labeled: Labeled) -> None:
        """Also refuse labeled rows that are too few for the neighbors."""
        super().check_labeled(labeled)
        n_samples = len(labeled.X)
        if self.n_neighbors >= n_samples:
            raise ParameterError(
                f"{self.name}: n_neighbors must be below the number of labeled rows, {n_samples}; "
                f"got {self.n_neighbors}. Label more rows or lower n_neighbors."
            )

    def terms(self) -> tuple[Terms, ...]:
        """Ranges and moments, together where both are exact, and the graph in the wire form."""
        scaling = (self.columns, *scaling_agreed_on(self))
        how = (*scaling, self.relation, self.lam, self.spread, self.max_pairs)
        graph: dict[str, RelationTerms] = {
            "matrices": RelationsTerms(*how),
            "statistics": PairSumsTerms(*how),
            "vectors": ProductsTerms(*how, max_rounds=self.max_iter + 1, damping=self.damping),
        }
        last = self.wire_form == "vectors" and self.selected_distance
        extra = (PairSumsTerms(*how, extra=True),) if last else ()
        graph_terms = (graph[self.wire_form], *extra)
        if self.ranges == FEDERATED:
            return (RangesAndMomentsTerms(self.columns), *graph_terms)
        spread = DeviationsTerms(*scaling) if self.is_literal else MomentsTerms(*scaling)
        return (*ranges_terms(self), spread, *graph_terms)

    def run(self, labeled: Labeled, cohort: Cohort) -> Steps[GraphSelection]:
        """The clients' rows make the graph, the server's the weights of its vertices."""
        clipped = ClippedValues()
        cohort.observe(clipped)
        scaling, deviation, varies, moments = yield from self._deviations(labeled, cohort)
        vertex = varies | (self.constant == "keep")
        radius = np.where(self.nominal_mask | ~vertex, 0.0, deviation / self.lam)
        weights, clipped.n_clipped[SERVER] = self._relevance(labeled, scaling, radius)
        weights[~vertex] = 0.0

        n_features = len(self.features)
        scores, n_iter, residual = np.zeros(n_features), 0, 0.0
        errors, places = np.zeros(n_features), np.zeros(n_features, dtype=np.int64)
        distance = None if self.wire_form == "vectors" else np.zeros((n_features, n_features))
        if vertex.any():
            relation = self._relation(scaling, radius, np.flatnonzero(vertex), moments)
            edges = yield from connect(self, cohort, relation)
            found = yield from rank(edges, weights[vertex], self.damping, self.tol, self.max_iter)
            scores[vertex], n_iter, residual = found.scores, found.n_iter, found.residual
            distance = None if edges.distance is None else _spread_out(edges.distance, vertex)
            drawn = self._sampled(cohort, moments)
            if drawn is not None:
                errors[vertex] = drawn.errors(found, weights[vertex], self.damping)
                places[vertex] = certain_places(found.scores, errors[vertex])
        order = order_by_score(scores, last=~vertex)
        block = yield from self._selected_distance(cohort, scaling, radius, vertex, order[: self.k], distance)
        return GraphSelection(
            scores=scores,
            order=order,
            relevance=weights,
            radius=radius,
            distance=distance,
            selected_distance=block,
            n_iter=n_iter,
            residual=residual,
            n_clipped=None if cohort.unseen else clipped.n_clipped,
            score_error=errors,
            rank_error=places,
            unseen=cohort.unseen,
        )

    def _deviations(self, labeled: Labeled, cohort: Cohort) -> Steps[tuple[Scaling, Float, Bool, Moments | None]]:
        """Step 1: ranges, the n-1 deviation of all clients' rows together, or the mean of theirs; and what varies.

        With pooled moments, these as well: they show a site where its radius comes from.
        """
        if self.is_literal:
            own = yield from agreed_scaling(self, labeled, cohort)
            told: dict[str, Deviations] = yield from cohort.each(AskDeviations(self.columns, own))
            values = np.array([reply.values for reply in told.values()])
            average: Float = values.sum(axis=0) / len(values)
            return own, average, average > 0, None
        scaling, parts = yield from self._moments(labeled, cohort)
        pooled = reduce(add, parts)
        if self.spread == "pooled":
            return scaling, pooled.deviation, pooled.m2 > 0, pooled
        deviations = np.array([part.deviation for part in parts])
        known = np.array([part.count >= 2 for part in parts])  # one present value has no deviation
        mean: Float = np.where(known, deviations, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return scaling, mean, pooled.m2 > 0, None

    def _moments(self, labeled: Labeled, cohort: Cohort) -> Steps[tuple[Scaling, list[Moments]]]:
        """The run's ranges, for which the server's rows count like a client's, and moments of the clients in them.

        Exact ranges travel with the moments; others are agreed on before, since values beyond them are clipped.
        """
        if self.ranges != FEDERATED:
            shown = yield from agreed_scaling(self, labeled, cohort)
            parts = yield from self._asked(cohort, AskMoments(self.columns, shown))
            return shown.told(), parts
        told: list[RangesAndMoments] = yield from self._asked(cohort, AskRangesAndMoments(self.columns))
        own = ranges_of(self.server_table(labeled), self.columns)
        scaling = reduce(add, (part.ranges for part in told), own).scaling
        return scaling, [part.moments(scaling, self.nominal_mask) for part in told]

    def _asked(self, cohort: Cohort, request: Request) -> Steps[list[Any]]:
        """The total of all clients, or each one's reply where their deviations are averaged."""
        if self.spread == "pooled":
            return [(yield from cohort.total(request))]
        return list((yield from cohort.each(request)).values())

    def _relevance(self, labeled: Labeled, scaling: Scaling, radius: Float) -> tuple[Float, int]:
        """Step 5, on the server's own rows, and how many of their values were clipped."""
        low, high = scaling.low, scaling.high
        if low is None or high is None:
            own = ranges_of(self.server_table(labeled), self.columns)
            low, high = own.low, own.high
        X, n_clipped = scaled(labeled.X, low, high, self.nominal_mask)
        how = (radius, self.relation, self.nominal_mask)
        decisions = labeled.Y if self.decisions == "crisp" else _soft_decisions(X, labeled.Y, *how)
        different = kernels.different_rows(decisions, self.n_neighbors, self.irrelevant)
        return kernels.relevance(X, different, *how), n_clipped

    def _relation(self, scaling: Scaling, radius: Float, chosen: Int, moments: Moments | None = None) -> Relation:
        """The relation of some of the features; at first with the moments that the radius follows from."""
        columns = self.columns.only(self.features[feature] for feature in chosen)
        shown = None if moments is None else moments.only(chosen)
        return Relation(columns, scaling.only(chosen), radius[chosen], self.relation, shown, self.max_pairs)

    def _sampled(self, cohort: Cohort, moments: Moments | None) -> Sampled | None:
        """What is known of the sites' samples of rows and of row pairs; a matrix has all pairs."""
        if self.wire_form == "matrices":
            return None
        if cohort.n_rows is None:
            n_in_all = 0 if moments is None else moments.n_rows
            n_compared = n_in_all if cohort.compares_all else n_surely_compared(n_in_all)
            return sampled(None, {"all": n_in_all}, {"all": n_compared}, self.max_pairs, 1)
        n_rows = cohort.n_rows
        compared = {name: n if cohort.compares_all else n_surely_compared(n) for name, n in n_rows.items()}
        shares = {
            name: 1 / len(n_rows) if self.aggregation == "mean" else n / sum(n_rows.values())
            for name, n in n_rows.items()
        }
        if self.aggregation == BLOCKS:
            shares = {name: share**2 for name, share in shares.items()}
        return sampled(shares, n_rows, compared, self.max_pairs, self.max_sites_per_client)

    def _selected_distance(
        self, cohort: Cohort, scaling: Scaling, radius: Float, vertex: Bool, chosen: Int, distance: Float | None
    ) -> Steps[Float | None]:
        """The distances among the chosen features; under `vectors`, if asked for, by a round of small sums."""
        if distance is not None:
            block: Float = distance[np.ix_(chosen, chosen)]
            return block
        if not self.selected_distance or not vertex[chosen].any():
            return None
        relation = self._relation(scaling, radius, chosen[vertex[chosen]])
        sums, n_rows = yield from pooled_sums("statistics", cohort, relation)
        return _spread_out(correlation_distance(sums, n_rows), vertex[chosen])


class ClippedValues:
    """An observer: how many values of each site lay outside the declared ranges."""

    def __init__(self) -> None:
        self.n_clipped: dict[str, int] = {SERVER: 0}

    def __call__(self, client: str, _request: Request, reply: Any) -> None:
        """Remember the count that comes with moments; exact ranges, and a site's own, clip nothing."""
        if isinstance(reply, Moments | Deviations | RangesAndMoments):
            self.n_clipped[client] = reply.n_clipped if isinstance(reply, Moments) else 0


def _soft_decisions(X: Float, Y: Float, *how: Any) -> Float:
    """Labels averaged over the related rows in which they are known; NaN where there is none."""
    known = ~np.isnan(Y)
    if known.all():
        return kernels.soft_decisions(X, Y, *how)
    shares = kernels.soft_decisions(X, np.where(known, Y, 0.0), *how)
    of_known = kernels.soft_decisions(X, known.astype(np.float64), *how)
    return np.divide(shares, of_known, out=np.full_like(shares, np.nan), where=of_known > 0)


def _spread_out(distance: Float, vertex: Bool) -> Float:
    """Distances among the vertices as a matrix of all features; the others have no edges."""
    full = np.zeros((len(vertex), len(vertex)))
    full[np.ix_(vertex, vertex)] = distance
    return full
