"""Pair sums: for each two features the sum of min(r_p, r_b) over all pairs of a client's rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float
from fedsieve.messages.base import (
    AT_WORST,
    Addend,
    Known,
    Reply,
)
from fedsieve.messages.columns import same_names, square
from fedsieve.messages.relation import Relation, RelationRequest, RelationTerms
from fedsieve.messages.reply_rules import SLACK, finite_rule, names_rule, rows_rule, shape_rule, triangle_pivots
from fedsieve.messages.site_view import Memory, SiteView
from fedsieve.tables import Table

ROUNDED = 1e-6  # relative room where degrees count that the kernels round to whole numbers


@dataclass(frozen=True, eq=False)
class PairSums(Reply):
    """Sums of min(r_p, r_b) over a client's row pairs, the upper triangle in row-major order.

    Reveals how alike any two features relate the rows; of two rows, how far apart they are in each feature.
    """

    at_worst: ClassVar[str] = AT_WORST

    n_rows: int
    features: tuple[str, ...]
    upper: Float

    @classmethod
    def of(cls, n_rows: int, features: tuple[str, ...], matrix: Float) -> "PairSums":
        """The message for a symmetric (n_features, n_features) matrix of sums."""
        return cls(n_rows, features, matrix[np.triu_indices(len(matrix))])

    def matrix(self) -> Float:
        """The symmetric matrix again."""
        return square(self.upper, len(self.features))

    def __add__(self, other: "PairSums") -> "PairSums":
        return PairSums(self.n_rows + other.n_rows, same_names(self.features, other.features), self.upper + other.upper)


@dataclass(frozen=True, eq=False)
class AskPairSums(RelationRequest):
    """Server: the pair sums of the features. Reveals the federation's spreads to every client."""

    reply: ClassVar = PairSums
    tells_of: ClassVar = "distances"
    title: ClassVar = "pair sums of the features"

    relation: Relation

    def answer(self, table: Table) -> PairSums:
        """From all rows: each is compared with each."""
        return self._from_pairs(table, b"")

    def answer_in_run(self, table: Table, memory: Memory) -> PairSums:
        """With the run's sample of row pairs, where there are too many."""
        return self._from_pairs(table, memory.seed)

    def _from_pairs(self, table: Table, seed: bytes) -> PairSums:
        return PairSums.of(table.n_rows, self.relation.columns.features, self.relation.pair_sums(table, seed))

    def complaints(self, reply: PairSums, known: Known) -> Iterator[str]:
        """The sums belong to an L1 metric of relations with 1 on the diagonal."""
        yield from names_rule(reply.features, self.relation.columns.features)
        yield from rows_rule(reply.n_rows, known)
        n_features, n_rows = len(reply.features), reply.n_rows
        yield from shape_rule("upper", reply.upper, (n_features * (n_features + 1) // 2,))
        yield from finite_rule("upper", reply.upper)
        sums = reply.matrix()
        own = np.diagonal(sums)
        if np.any(own < n_rows * (1 - SLACK)) or np.any(own > n_rows**2 * (1 + SLACK)):
            yield f"sent sums S_p outside [n, n²] = [{n_rows}, {n_rows**2}]."
        # Rows of different sites are unrelated: the squares of their sites' sizes add up to n² / sites or more.
        least = _least_own_sum(n_rows, self.relation) / known.max_sites * (1 - ROUNDED)
        if np.any(own < least - self.relation.sampling_room(n_rows)):
            yield "sent sums S_p too small for its radius: so many values in [0, 1] lie nearer to each other."
        if np.any(sums < 0):
            yield "sent pair sums below 0."
        if np.any(sums < n_rows * (1 - SLACK)):
            yield f"sent pair sums S_pb below n = {n_rows}; each row is related to itself in every feature."
        if np.any(sums > np.minimum(own[:, None], own[None, :]) * (1 + SLACK)):
            yield "sent pair sums S_pb above min(S_p, S_b)."
        # min(r, s) >= r + s - 1 for each pair of rows, and the distances S_p + S_b - 2 S_pb are an L1 metric.
        if np.any(sums < own[:, None] + own[None, :] - n_rows**2 * (1 + SLACK)):
            yield "sent pair sums S_pb below S_p + S_b - n²."
        for via in triangle_pivots(n_features):
            if np.any(sums < sums[:, [via]] + sums[via] - own[via] - SLACK * n_rows**2):
                yield "sent pair sums whose distances break the triangle inequality, S_pb < S_pc + S_cb - S_c."

    def addends(self, n_rows: int) -> tuple[Addend, ...]:
        """At most 1 for each pair of rows of a site, so at most n² over all sites."""
        n = len(self.relation.columns.features)
        return (Addend((n * (n + 1) // 2,), float(n_rows) ** 2),)

    def numbers(self, reply: PairSums) -> tuple[np.ndarray, ...]:
        """The sums."""
        return (reply.upper,)

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: object) -> PairSums:  # noqa: ARG002
        """The sums."""
        return PairSums(n_rows, self.relation.columns.features, *numbers)


@dataclass(frozen=True, eq=False)
class PairSumsTerms(RelationTerms):
    """One number per pair of features; `extra` where a run asks for it after products, of the chosen features."""

    request: ClassVar = AskPairSums

    extra: bool = False

    @property
    def optional(self) -> bool:
        """Where nothing chosen varies, nothing is asked."""
        return self.extra

    def n_compared(self, n_varying: int, n_codes: int) -> int:  # noqa: ARG002
        """What varies at one site varies in all."""
        return 0 if self.extra else n_varying

    def check_rows(self, relation: Relation, site: SiteView) -> None:
        """Of 0/1 columns they give all second moments."""
        way_out = "Use wire='vectors' with a small max_iter, or fewer features."
        site.check_enough_rows(relation.told_columns(), "pair sums", way_out)

    def tells(self, request: AskPairSums, site: SiteView) -> Mapping[str, int]:  # noqa: ARG002
        """The features, in whatever radius: a change of it that tells rows apart is looked for in the rows."""
        return request.relation.told_columns()

    def reveals(self) -> str:
        """How features resemble each other."""
        n = len(self.columns.features)
        return (
            f"{n * (n + 1) // 2} sums over pairs of rows: how alike features relate the rows, of 0/1 columns all "
            f"correlations; {AT_WORST}"
        )


def _least_own_sum(n_rows: int, relation: Relation) -> Float:
    """[0, 1] falls into K cells no wider than the radius; rows of one cell are related, at worst half at each end.

    m rows of a cell have degrees of at least m² (1 - 1 / 2K) together, and the cells' m² at least n² / K.
    """
    if relation.columns.missing == "unrelated":
        return np.zeros(len(relation.columns.features))
    n_cells = np.floor(1.0 / np.maximum(relation.reach(), 1e-12)) + 1
    least: Float = n_rows**2 / n_cells * (1 - 0.5 / n_cells)
    return np.where(relation.columns.nominal_mask, 0.0, least)
