"""Clipped moments: sums over rows of which no single one can add more than a known length, to be released with noise.

Every row becomes whole numbers, at most `RADIUS` long; so do the labels that the server's model predicts for it. Sums,
squares and products of whole numbers are exact, in any order: what one row more or less changes is bounded to the
digit, whatever the row holds and whatever the server asks (docs/privacy.md derives it).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import is_whole
from fedsieve.errors import DataError, ProtocolError
from fedsieve.measures.bounded_rows import bounded, whole
from fedsieve.messages.base import (
    Addend,
    Budget,
    Known,
    Reply,
    Request,
    Terms,
)
from fedsieve.messages.columns import Columns, Scaling, same_names
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.reply_rules import names_rule, shape_rule
from fedsieve.tables import BATCH_VALUES, Table
from fedsieve.values import LARGEST as MOST_RANGE
from fedsieve.values import has_bad_values

RADIUS = 1 << 16  # of a row, and of its predicted labels, in whole numbers
FRACTION = 20  # bits of a weight behind the point
MAX_WEIGHTS = float(1 << 36)  # the length of one label's weights: times RADIUS still exact in a float
PAIRS, SQUARES = "pairs", "squares"
SHARES = {"count": 0.02, "sums": 0.06, "second": 0.36, "products": 0.56}
"""How the one budget is divided; the squared sensitivities, each over its noise's variance, add up to these."""
LARGEST = 1 << 60  # of a sum: a few of them still fit into 64 bits
FOR_NOISE = 1 << 58  # of that, in a secure sum
MAX_SITES = 1 << 20
FAR = 1e100  # of a center or unit; beyond, products would overflow


@dataclass(frozen=True, eq=False)
class ClippedMoments(Reply):
    """The number of rows, and sums of their clipped columns, of products of each two, and with the predicted labels.

    One vector of whole numbers: `RADIUS` per row, sums, squares (or the upper triangle of all products), products with
    the labels. `n_sites` is how many tables it is about.

    Reveals averages, spreads and correlations of a site's rows up to the agreed noise, which is on every number;
    whether one given row is there, only as far as epsilon and delta allow.
    """

    n_sites: int
    features: tuple[str, ...]
    second: str
    values: Int

    @property
    def n_rows(self) -> int:  # type: ignore[override] # no field, so that no exact number travels
        """The number of rows, with its noise."""
        return max(0, round(int(self.values[0]) / RADIUS)) if self.values.size else 0

    def __add__(self, other: "ClippedMoments") -> "ClippedMoments":
        if self.second != other.second or self.values.shape != other.values.shape:
            raise ProtocolError("clipped moments of different kinds do not add up.")
        features = same_names(self.features, other.features)
        return ClippedMoments(self.n_sites + other.n_sites, features, self.second, self.values + other.values)

    def plus(self, noise: Int) -> "ClippedMoments":
        """With noise on every number."""
        return replace(self, values=self.values + noise)

    def parts(self) -> dict[str, Int]:
        """The blocks of the vector by name, products as (n_columns, n_weights)."""
        n = len(self.features)
        ends = np.cumsum([1, n, n_second(n, self.second)])
        count, sums, second, products = np.split(self.values, ends)
        return {"count": count, "sums": sums, "second": second, "products": products.reshape(n, -1)}


@dataclass(frozen=True, eq=False)
class AskClippedMoments(Request):
    """Server: clipped moments of the encoded columns, as it centers, scales and weighs them.

    A row z = (x - center) unit is clipped to `RADIUS`, and its predicted labels z weights / 2**`FRACTION` as well.
    `second` asks for all "pairs" of columns, or for "squares" alone.

    Reveals ranges and means of the labeled rows, how long they are, and a model of their labels, to every client.
    """

    reply: ClassVar = ClippedMoments
    title: ClassVar = "clipped moments of the columns, with noise"
    noisy: ClassVar = True

    columns: Columns
    scaling: Scaling
    center: Float
    unit: Float
    weights: Int
    second: str

    def answer(self, table: Table) -> ClippedMoments:
        """Batch by batch, in whole numbers; where a value is missing, the center stands in."""
        encoding = self._checked()
        encoding = encoding.filled(self.center - encoding.midpoint)
        n, n_labels = len(encoding.names), self.weights.shape[1]
        sums, products = np.zeros(n, np.int64), np.zeros((n, n_labels), np.int64)
        second = np.zeros((n, n) if self.second == PAIRS else n, np.int64)
        n_batch = max(1, BATCH_VALUES // max(n, 16))  # a million rows at most: sums of products stay exact
        for batch in table.batches(self.columns.features, min(n_batch, table.rows_at_a_time(n))):
            if has_bad_values(batch, self.columns.missing):  # no count: that would be exact
                what = "infinite" if self.columns.may_miss else "missing or infinite"
                raise DataError(f"has {what} values. Replace them; noisy sums know no others.")
            rows, labels = self.whole_rows(encoding.any_table(batch))
            exact = rows.astype(np.float64)  # a float adds whole numbers below 2**53 exactly, in any order
            sums += rows.sum(axis=0)
            second += (exact.T @ exact).astype(np.int64) if self.second == PAIRS else (rows * rows).sum(axis=0)
            products += (exact.T @ labels.astype(np.float64)).astype(np.int64)
        triangle = second[np.triu_indices(n)] if self.second == PAIRS else second
        values = np.concatenate([[table.n_rows * RADIUS], sums, triangle, products.ravel()])
        return ClippedMoments(1, encoding.names, self.second, values)

    def whole_rows(self, encoded: Float) -> tuple[Int, Int]:
        """Clipped rows and their clipped predicted labels; each follows from its row alone, to the last digit."""
        rows = bounded(whole((encoded - self.center) * self.unit), RADIUS)
        predicted = rows.astype(np.float64) @ self.weights.astype(np.float64)  # exact: see MAX_WEIGHTS
        return rows, bounded(whole(predicted / 2.0**FRACTION), RADIUS)

    def noise_units(self) -> Float:
        """Each block has its share of the budget; of a pair, both halves of the matrix are one number."""
        n, n_labels = len(Encoding.of(self.columns, self.scaling).names), self.weights.shape[1]
        of_square = RADIUS**2 / np.sqrt(SHARES["second"])
        second = np.full(n_second(n, self.second), of_square)
        if self.second == PAIRS:
            first, other = np.triu_indices(n)
            second[first != other] /= np.sqrt(2.0)
        return np.concatenate(
            [
                [RADIUS / np.sqrt(SHARES["count"])],
                np.full(n, RADIUS / np.sqrt(SHARES["sums"])),
                second,
                np.full(n * n_labels, RADIUS**2 / np.sqrt(SHARES["products"])),
            ]
        )

    def complaints(self, reply: ClippedMoments, known: Known) -> Iterator[str]:
        """Whole numbers of the right kind that can be added up; how large they may be, who knows the noise says."""
        encoding = self._checked()
        n = len(encoding.names)
        yield from names_rule(reply.features, encoding.names, "columns")
        yield from shape_rule("values", reply.values, (1 + n + n_second(n, self.second) + n * self.weights.shape[1],))
        if reply.values.dtype != np.int64 or np.any(np.abs(reply.values) > LARGEST):
            yield "sent sums that are no whole numbers, or too large ones."
        if reply.second != self.second:
            yield f"sent {reply.second!r} instead of {self.second!r}."
        if not is_whole(reply.n_sites) or not 1 <= reply.n_sites <= known.max_sites:
            yield f"answered for {reply.n_sites} sites; agreed: at most {known.max_sites} (max_sites_per_client)."

    def addends(self, n_rows: int) -> tuple[Addend, ...]:
        """How many sites, and sums of rows that are at most `RADIUS` long, with room for noise."""
        n = len(self.noise_units())
        return Addend((1,), MAX_SITES, whole=True), Addend((n,), float(n_rows) * RADIUS**2 + FOR_NOISE, whole=True)

    def numbers(self, reply: ClippedMoments) -> tuple[np.ndarray, ...]:
        """Whole ones."""
        return np.array([reply.n_sites]), reply.values

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: object) -> ClippedMoments:  # noqa: ARG002
        """Whole numbers are exact."""
        n_sites, values = numbers
        return ClippedMoments(int(n_sites[0]), Encoding.of(self.columns, self.scaling).names, self.second, values)

    def _checked(self) -> Encoding:
        """How columns are encoded; raises `ProtocolError` where the other parts of the request do not fit."""
        encoding = Encoding.of(self.columns, self.scaling)
        n = len(encoding.names)
        if not np.all(np.abs([encoding.low, encoding.high]) <= MOST_RANGE):
            raise ProtocolError("was sent ranges that no values have.")
        if not self.center.shape == self.unit.shape == (n,) or not np.all(np.abs([self.center, self.unit]) <= FAR):
            raise ProtocolError(f"was sent centers or units that do not fit its {n} columns.")
        if self.weights.ndim != 2 or len(self.weights) != n or self.second not in (PAIRS, SQUARES):
            raise ProtocolError(f"was sent weights that do not fit its {n} columns, or asked for no known moments.")
        if np.any((self.weights.astype(np.float64) ** 2).sum(axis=0) > MAX_WEIGHTS**2):
            raise ProtocolError("was sent weights too large to be multiplied exactly.")
        return encoding


@dataclass(frozen=True, eq=False)
class ClippedMomentsTerms(Terms):
    """All columns at once, one weighted sum per label at most, the ranges declared where they are; with noise."""

    request: ClassVar = AskClippedMoments

    budget: Budget
    second: str = PAIRS
    declared: Scaling | None = None
    max_weights: int | None = None

    def noise_budget(self) -> Budget:
        """Always some: there is no exact form of this message."""
        return self.budget

    def check(self, request: AskClippedMoments) -> None:
        """Also that all columns are asked for, in declared ranges where they are, and at most one sum per label."""
        super().check(request)
        if request.columns.features != self.columns.features:
            raise ProtocolError("was asked for other features than agreed, or in another order.")
        if request.second == PAIRS and self.second != PAIRS:
            raise ProtocolError("was asked to compare more columns with each other than agreed (screen).")
        told, agreed = request.scaling, self.declared
        if agreed is not None and not (np.array_equal(told.low, agreed.low) and np.array_equal(told.high, agreed.high)):  # type: ignore[arg-type]
            raise ProtocolError("was asked to scale its columns by other ranges than declared.")
        n_weights = request.weights.shape[-1] if request.weights.ndim else 0
        if self.max_weights is not None and n_weights > self.max_weights:
            raise ProtocolError(f"was asked for {n_weights} weighted sums; agreed: one per label, {self.max_weights}.")

    def reveals(self) -> str:
        """What noise hides, and what not."""
        return (
            f"how many rows there are, means and spreads of {len(self.columns.features)} columns and how they go "
            "together and with the labels that the server's model predicts: all with noise, so that whether one given "
            f"row is there stays hidden (epsilon {self.budget.epsilon:g}, delta {self.budget.delta:g}); what is true "
            "of many rows does not"
        )


def n_second(n_columns: int, second: str) -> int:
    """How many second moments so many columns have.

    >>> n_second(4, PAIRS), n_second(4, SQUARES)
    (10, 4)
    """
    return n_columns * (n_columns + 1) // 2 if second == PAIRS else n_columns
