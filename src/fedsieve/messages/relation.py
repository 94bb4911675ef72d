"""How a site relates its rows in each feature: what relation matrices, pair sums and products have in common."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Rows
from fedsieve.errors import FalseTotalError, ProtocolError
from fedsieve.fuzzy.relation import SIMILARITY_CAP
from fedsieve.messages.base import Known, Request, View
from fedsieve.messages.columns import Columns, Part, Scaling, scaled_rows
from fedsieve.messages.moments import AskMoments, Moments, own_moments
from fedsieve.messages.reply_rules import SLACK
from fedsieve.messages.scaled import (
    ScaledTerms,
    check_scaling_at_site,
    clipped_ranges,
    range_pins,
    site_ranges,
    told_columns,
    unshown_ranges,
)
from fedsieve.messages.site_view import SiteView
from fedsieve.sparse_rows import SparseRows
from fedsieve.tables import MOST_COMPARED, Table, rows_to_compare
from fedsieve.values import LARGEST, check_values


@dataclass(frozen=True, eq=False)
class Relation(Part):
    """All a client needs to relate its rows: columns, scaling, the radius per feature, and the kind of relation.

    The radius follows from `moments`, those of all clients, which travel with the first request that uses it. Of rows
    that make more than `max_pairs` pairs, a sample is related.
    """

    columns: Columns
    scaling: Scaling
    radius: Float
    kind: str
    moments: Moments | None = None
    max_pairs: int = kernels.USUAL_PAIRS

    def reach(self) -> Float:
        """Per feature how far apart related rows can be, and unrelated ones must be."""
        if self.kind == "similarity":
            return 1.0 - np.minimum(self.radius, SIMILARITY_CAP)
        return self.radius

    def views(self) -> Mapping[str, View]:
        """How it sees each column of numbers; in a site's own ranges all of it."""
        low, high = self.scaling.low, self.scaling.high
        if low is None or high is None:
            low, high = np.full((2, len(self.radius)), [[-LARGEST], [LARGEST]])
        parts = zip(self.columns.features, low, high, self.reach(), self.columns.nominal_mask, strict=True)
        return {
            name: View(float(start), float(end), 0, float(reach), self.max_pairs)
            for name, start, end, reach, nominal in parts
            if not nominal
        }

    def told_columns(self) -> Mapping[str, int]:
        """What a site that tells of this relation remembers to have told of."""
        return dict.fromkeys(told_columns(self.columns, self.scaling).values(), 1)

    def rows(self, table: Table) -> Float | SparseRows:
        """A site's rows, scaled."""
        return scaled_rows(*self.rows_and_ranges(table), self.columns.nominal_mask)

    def rows_and_ranges(self, table: Table) -> tuple[Rows, Float, Float]:
        """A site's rows as they are, and the ranges that become [0, 1]."""
        raw = rows_to_compare(table, self.columns.features)
        check_values(raw, self.columns.features, self.columns.missing)
        return raw, *site_ranges(table, self.columns, self.scaling)

    def pair_sums(self, table: Table, seed: bytes = b"") -> Float:
        """The sums of min(r_p, r_b) over a site's pairs of rows, (n_features, n_features)."""
        rows, nominal = self.rows(table), self.columns.nominal_mask
        sample = self.sample(rows.shape[0], seed)
        sums = kernels.pair_sums(rows, self.radius, self.kind, nominal=nominal, sample=sample)
        return sums_for_all(sums, rows.shape[0], table.n_rows)

    def sample(self, n_rows: int, seed: bytes) -> "kernels.PairSample | None":
        """The pairs of so many rows that stand for all; `None` where all are looked at."""
        return kernels.pair_sample(n_rows, self.max_pairs, seed)

    def sampling_room(self, n_rows: int) -> float:
        """By how much a sum over so many rows, of one site or several, may be off by chance: six standard errors.

        A degree lies in [0, 1], so its mean over m pairs has a standard error of at most 1 / (2 √m), and over all pairs
        of m rows, which a site compares whose table is larger than memory, of about 1 / √m.
        """
        error = 0.0
        if kernels.all_pairs(n_rows) > self.max_pairs:
            error += 1 / (2 * math.sqrt(self.max_pairs / 2))
        if n_rows > MOST_COMPARED:
            error += 1 / math.sqrt(MOST_COMPARED)
        return 6 * float(n_rows) ** 2 * error


def sums_for_all(sums: Float, n_compared: int, n_rows: int) -> Float:
    """The pair sums of a sample of a table's rows, as an unbiased guess of those of all: each row is related to itself.

    >>> sums_for_all(np.array([[4.0]]), 2, 4)  # the two rows of the sample are alike, so that all four may be
    array([[16.]])
    """
    return sums if n_compared == n_rows else (sums - n_compared) * more_pairs(n_compared, n_rows) + n_rows


def more_pairs(n_compared: int, n_rows: int) -> float:
    """How many times as many pairs of two rows all rows have as the sample."""
    return n_rows * (n_rows - 1) / (n_compared * (n_compared - 1))


class RelationRequest(Request):
    """A request about a relation; without one it is about that of the request before."""

    relation: Relation | None

    def column_names(self) -> tuple[str, ...]:
        """Those of the relation, where it is told."""
        return () if self.relation is None else self.relation.columns.features

    def pins(self) -> Mapping[str, Any]:
        """Ranges and radius of each feature."""
        relation = self.relation
        if relation is None:
            return {}
        radius = zip(relation.columns.features, relation.radius, strict=True)
        return {
            **range_pins(relation.columns, relation.scaling),
            **{_radius_of(name): float(value) for name, value in radius},
        }

    def rests_on(self) -> Iterable[str]:
        """What comes without the totals that it follows from."""
        relation = self.relation
        if relation is None:
            return ()
        radius = map(_radius_of, relation.columns.features) if relation.moments is None else ()
        return (*unshown_ranges(relation.columns, relation.scaling), *radius)

    def clips(self) -> Mapping[str, tuple[float, float]]:
        """Those of the relation."""
        return {} if self.relation is None else clipped_ranges(self.relation.columns, self.relation.scaling)

    def views(self) -> Mapping[str, View]:
        """By ranges and radius: a few pairs of rows that alone are related are told from all others."""
        return {} if self.relation is None else self.relation.views()


@dataclass(frozen=True, eq=False)
class RelationTerms(ScaledTerms):
    """The scaling, the kind of relation and the radius are as agreed: the deviation of all sites' rows by `lam`."""

    kind: str = "distance"
    lam: float = 1.0
    spread: str = "pooled"
    max_pairs: int = kernels.USUAL_PAIRS

    def check(self, request: Any) -> None:
        """Columns, scaling and kind of the request's relation."""
        if request.relation is None:
            return
        self.check_columns(request.relation.columns)
        self.check_scaling(request.relation.columns, request.relation.scaling)
        if request.relation.kind != self.kind:
            raise ProtocolError(f"was asked for the relation {request.relation.kind!r}; agreed: {self.kind!r}.")
        if request.relation.max_pairs != self.max_pairs:
            raise ProtocolError(
                f"was asked to compare at most {request.relation.max_pairs} pairs of rows; agreed: {self.max_pairs}."
            )
        if request.relation.radius.shape != (len(request.relation.columns.features),):
            raise ProtocolError("was sent a radius that does not fit its columns.")

    @property
    def why_unchecked(self) -> str:
        """A mean over single sites' deviations shows in no total."""
        if self.spread != "pooled":
            return f"spread={self.spread!r} gives a radius that no site can check. Agree on spread='pooled'."
        return ""

    def check_site(self, request: Any, site: SiteView) -> None:
        """Also that rows are enough, and that ranges and radius follow from the totals shown."""
        relation: Relation | None = request.relation
        if relation is None:
            return
        check_scaling_at_site(relation.columns, relation.scaling, site)
        if relation.moments is not None:
            self._check_radius(relation, relation.moments, site)
        self.check_rows(relation, site)

    def check_rows(self, relation: Relation, site: SiteView) -> None:
        """Raise `ProtocolError` where rows are too few for what is told of these columns."""

    def _check_radius(self, relation: Relation, total: Moments, site: SiteView) -> None:
        n = len(relation.columns.features)
        arrays = (total.count, total.mean, total.m2, relation.radius)
        if total.features != relation.columns.features or any(part.shape != (n,) for part in arrays):
            raise ProtocolError("was sent moments of other columns than those that it is asked about.")
        ask = AskMoments(relation.columns, relation.scaling)
        here = replace(total, n_clipped=0)  # which counts the columns that are left out, too
        wrong = next(ask.complaints(here, Known(max_sites=site.n_sites, max_rows=site.max_rows)), "")
        if wrong:
            raise ProtocolError(f"was sent a total of moments that no {site.n_sites} sites have, as if one {wrong}")
        follows = np.where(relation.columns.nominal_mask, 0.0, total.deviation / self.lam)
        if not np.allclose(relation.radius, follows, rtol=SLACK, atol=0):
            raise ProtocolError("was sent a radius that does not follow from the total of the moments.")
        if site.table is None:
            return
        if not total.holds(own_moments(self.columns, relation.columns, relation.scaling, site.memory)):
            raise FalseTotalError("was sent a total of moments that does not hold its own values.")


def _radius_of(name: str) -> str:
    return f"the radius of {name!r}"
