"""How a site relates its rows in each feature: what relation matrices, pair sums and products have in common."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Rows
from fedsieve.errors import ProtocolError
from fedsieve.fuzzy.relation import SIMILARITY_CAP
from fedsieve.messages.columns import Columns, Part, Scaling, scaled
from fedsieve.messages.moments import ScalingTerms, own_or_given
from fedsieve.tables import Table, check_values, is_sparse


@dataclass(frozen=True, eq=False)
class Relation(Part):
    """All a client needs to relate its rows: columns, scaling, the radius per feature, and the kind of relation."""

    columns: Columns
    scaling: Scaling
    radius: Float
    kind: str

    def reach(self) -> Float:
        """Per feature how far apart related rows can be, and unrelated ones must be."""
        if self.kind == "similarity":
            return 1.0 - np.minimum(self.radius, SIMILARITY_CAP)
        return self.radius

    def rows(self, table: Table) -> Rows:
        """A site's rows, scaled; a sparse 0/1 table that is its own scaled version stays sparse."""
        raw = table.whole(self.columns.features)
        check_values(raw, self.columns.features, self.columns.missing)
        low, high = own_or_given(table, self.columns, self.scaling)
        if _is_unscaled_binary(raw, low, high):
            return raw
        return scaled(raw, low, high, self.columns.nominal_mask)[0]

    def pair_sums(self, table: Table) -> Float:
        """The sums of min(r_p, r_b) over a site's pairs of rows, (n_features, n_features)."""
        return kernels.pair_sums(self.rows(table), self.radius, self.kind, nominal=self.columns.nominal_mask)


@dataclass(frozen=True, eq=False)
class RelationTerms(ScalingTerms):
    """The scaling and the kind of relation are as agreed."""

    kind: str = "distance"

    def check(self, request: Any) -> None:
        """Columns, scaling and kind of the request's relation."""
        if request.relation is None:
            return
        self.check_columns(request.relation.columns)
        self.check_scaling(request.relation.columns, request.relation.scaling)
        if request.relation.kind != self.kind:
            raise ProtocolError(f"was asked for the relation {request.relation.kind!r}; agreed: {self.kind!r}.")


def _is_unscaled_binary(X: Rows, low: Float, high: Float) -> bool:
    unit = ((low == 0) | (low == high)) & ((high == 1) | (low == high))
    # An entry stored in parts would count twice, so only a canonical table may pass.
    return is_sparse(X) and bool(np.all(X.data == 1)) and bool(np.all(unit)) and bool(X.has_canonical_format)
