"""Relations: the relation matrix of every feature, as the paper sends it.

Related rows fix their values up to shift and mirror, so that a matrix that no column has is found out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.fuzzy.relation import relation as relation_matrix
from fedsieve.messages.base import Known, Reply
from fedsieve.messages.relation import Relation, RelationRequest, RelationTerms
from fedsieve.messages.reply_rules import finite_rule, names_rule, rows_rule, shape_rule
from fedsieve.sparse_rows import SparseRows
from fedsieve.tables import Table

ROOM = 1e-9  # for rounding along a chain of rows


@dataclass(frozen=True, eq=False)
class Relations(Reply):
    """The fuzzy relation matrix of every feature, (n_features, n_rows, n_rows), as the paper sends it.

    Reveals every value of every row up to shift and mirror.
    """

    why_no_sum: ClassVar[str] = "relation matrices do not add up. Use wire='statistics' or 'vectors'."

    n_rows: int
    features: tuple[str, ...]
    values: Float


@dataclass(frozen=True, eq=False)
class AskRelations(RelationRequest):
    """Server: the relation matrix of every feature. Reveals the federation's spreads to every client."""

    reply: ClassVar = Relations
    title: ClassVar = "relation matrices"

    relation: Relation

    def answer(self, table: Table) -> Relations:
        """One matrix per feature."""
        relation, rows = self.relation, self.relation.rows(table)
        X = rows.at(slice(None)) if isinstance(rows, SparseRows) else rows
        nominal = relation.columns.nominal_mask
        values = np.empty((X.shape[1], len(X), len(X)))
        for p in range(X.shape[1]):
            values[p] = relation_matrix(X[:, p], float(relation.radius[p]), relation.kind, nominal=bool(nominal[p]))
        return Relations(len(X), relation.columns.features, values)

    def complaints(self, reply: Relations, known: Known) -> Iterator[str]:
        """Symmetric and reflexive degrees, each matrix that of one column of values."""
        columns = self.relation.columns
        yield from names_rule(reply.features, columns.features)
        yield from rows_rule(reply.n_rows, known)
        yield from shape_rule("values", reply.values, (len(reply.features), reply.n_rows, reply.n_rows))
        yield from finite_rule("values", reply.values)
        if np.any(reply.values < 0) or np.any(reply.values > 1):
            yield "sent relations with entries outside [0, 1]."
        for matrix in reply.values:  # one at a time: the whole stack may be large
            if not np.array_equal(matrix, matrix.T):
                yield "sent a relation that is not symmetric."
            if np.any(np.diagonal(matrix) != 1):
                yield "sent a relation that is not reflexive (1 on the diagonal)."
        may_miss = columns.missing == "unrelated"
        features = zip(columns.features, self.relation.reach(), columns.nominal_mask, reply.values, strict=True)
        for name, reach, nominal, matrix in features:
            reason = why_of_no_column(matrix, float(reach), bool(nominal), may_miss=may_miss)
            if reason:
                yield f"sent a relation for {name!r} that no column has: {reason}."


@dataclass(frozen=True, eq=False)
class RelationsTerms(RelationTerms):
    """A site shows its relations as they are."""

    request: ClassVar = AskRelations
    permission: ClassVar = "allow_matrices"

    def reveals(self) -> str:
        """As good as the rows themselves."""
        return "one matrix per feature: every value of every row up to shift and mirror, as good as the rows"


def why_of_no_column(matrix: Float, reach: float, nominal: bool, *, may_miss: bool) -> str | None:
    """Why no column of values has this symmetric, reflexive relation; `None` where one has, or it cannot be told.

    `reach` is how far apart related rows can be; at a distance of 1 the degree is 0 anyway.

    >>> R = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, 0.7], [0.9, 0.7, 1.0]])
    >>> why_of_no_column(R, 0.3, False, may_miss=False)
    'its degrees contradict each other'
    """
    related, apart = matrix > 0, 1.0 - matrix
    reach = 0.0 if nominal else min(reach, 1.0)
    if np.any(apart[related] > reach + ROOM):
        return "it has degrees between 0 and the least that the radius allows"
    places = chain_positions(related, apart)
    if places is None:
        return None
    widths, singles = 0.0, 0
    for chain, place in places:
        gaps = np.abs(place[:, None] - place[None, :])
        known = related[np.ix_(chain, chain)]
        too_near = ~known & (nominal | (gaps < reach - ROOM))
        if np.any(too_near) or np.any(known & (np.abs(gaps - apart[np.ix_(chain, chain)]) > ROOM)):
            return "its degrees contradict each other"
        singles += may_miss and len(chain) == 1  # its value may be missing
        widths += float(np.ptp(place))
    n_gaps = max(len(places) - singles - 1, 0)
    if not nominal and widths + n_gaps * reach > 1 + ROOM * len(matrix):
        return "its values would not fit into [0, 1]"
    return None


def chain_positions(related: Bool, apart: Float) -> list[tuple[np.ndarray, Float]] | None:
    """Rows that are linked by related pairs, and where they lie on a line; `None` where rounding hides a side.

    A row that is unrelated to the farthest row known from here lies on the other side: on this side it would be nearer
    than one of the two.
    """
    position = np.full(len(related), np.nan)
    chains = []
    for start in range(len(related)):
        if not np.isnan(position[start]):
            continue
        position[start], chain = 0.0, [start]
        for row in chain:  # grows while it is walked through
            new = np.flatnonzero(related[row] & np.isnan(position))
            if not len(new):
                continue
            old = np.array(chain)[related[row, chain]]
            far = old[np.argmax(np.abs(position[old] - position[row]))]
            if position[far] == position[row]:
                if np.any(position[chain] != position[row]):
                    return None
                far = new[np.argmax(apart[row, new])]
                position[far] = position[row] + apart[row, far]
            side = np.sign(position[far] - position[row])
            same, other = position[row] + side * apart[row, new], position[row] - side * apart[row, new]
            misfit = [np.abs(np.abs(place - position[far]) - apart[far, new]) for place in (same, other)]
            position[new] = np.where(related[far, new] & (misfit[0] <= misfit[1]), same, other)
            chain.extend(int(one) for one in new)
        chains.append((np.array(chain), position[chain]))
    return chains
