"""Projections: how each encoded column varies with weighted sums of all of them, for tables too wide to compare."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import ProtocolError
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.base import Addend, Known, Reply
from fedsieve.messages.columns import Columns, Fill, Scaling, same_names
from fedsieve.messages.covariances import ROUNDING, constants_settled
from fedsieve.messages.encoded_rules import (
    encoded_mean_rule,
    encoded_ranges_rule,
    encoded_spread_rule,
    within_rule,
)
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.filled import FilledRequest, FilledTerms
from fedsieve.messages.means import FEDERATION, SITES
from fedsieve.messages.ranges import AskRanges
from fedsieve.messages.reply_rules import SLACK, finite_rule, names_rule, rows_rule, shape_rule
from fedsieve.messages.site_view import SiteView
from fedsieve.messages.tall_sums import tall_projections
from fedsieve.tables import Table, checked_batches

WEIGHT_BITS = 8  # of the largest weight of a sum: no weight is finer
COLUMNS_PER_SUM = 4
"""As how many columns a weighted sum counts, since a server may choose weights that keep columns apart in it.

Counts of rows are whole numbers, and with weights 1, b, b², ... the products of several 0/1 columns are the digits of
one number to the base b. A column that is not held back has `min_cell` = 5 rows at least, so that its counts need
b = 6, and 1, 6, 36 and 216 are all the weights that 8 bits have room for.
"""


def coarse_weights(weights: Float) -> Float:
    """The weights that a site accepts: per weighted sum multiples of 2^-8 of the power of 2 above the largest.

    >>> coarse_weights(np.array([[0.7], [0.001], [-0.1]])).ravel().tolist()
    [0.69921875, 0.0, -0.1015625]
    """
    largest = np.abs(weights).max(axis=0, initial=0.0)
    step = np.maximum(np.ldexp(1.0, np.frexp(largest)[1] - WEIGHT_BITS), np.finfo(np.float64).tiny)
    most = 2**WEIGHT_BITS - 1  # or rounding up would change the step
    coarse: Float = np.clip(np.round(weights / step), -most, most) * step
    return coarse


@dataclass(frozen=True, eq=False)
class Projections(Reply):
    """Sums and sums of squares of the encoded columns, sums of the weighted sums, and products of both.

    `products` is (n_encoded, n_weights). Columns are taken from the middle of their range, as in `Covariances`, or
    from the site's own mean.

    Reveals a site's averages and spreads, and one weighted sum of covariances per column and set of weights; after as
    many sets of weights as there are columns it could reveal the covariances.
    """

    at_worst: ClassVar[str] = (
        "at worst, how each column varies with as many columns of the server's choice as there are labels"
    )

    n_rows: int
    features: tuple[str, ...]
    sums: Float
    squares: Float
    weighted: Float
    products: Float

    def __add__(self, other: "Projections") -> "Projections":
        return Projections(
            self.n_rows + other.n_rows,
            same_names(self.features, other.features),
            self.sums + other.sums,
            self.squares + other.squares,
            self.weighted + other.weighted,
            self.products + other.products,
        )

    def spreads(self) -> Float:
        """The sum of squared deviations of each column; exactly 0 for constant ones."""
        m2 = self.squares - self.sums**2 / self.n_rows
        return np.where(m2 <= ROUNDING * self.n_rows * self.squares, 0.0, m2)

    def deviations(self) -> Float:
        """The sums of products of deviations: covariances, times n_rows, times the weights; 0 for constant columns."""
        return np.where(self.spreads()[:, None] > 0, self.raw_deviations(), 0.0)

    def within(self) -> "Projections":
        """The same from the mean of these rows alone."""
        nil, products = np.zeros(len(self.sums)), self.deviations()
        return Projections(self.n_rows, self.features, nil, self.spreads(), np.zeros(products.shape[1]), products)

    def raw_deviations(self) -> Float:
        """The same before constant columns are told from rounding."""
        between: Float = np.outer(self.sums, self.weighted) / self.n_rows
        return self.products - between


@dataclass(frozen=True, eq=False)
class AskProjections(FilledRequest):
    """Server: how each encoded column varies with these weighted sums of all of them, (n_encoded, n_weights).

    Reveals the federation's ranges, and a model of the labels fitted on the server's rows, to every client.
    """

    reply: ClassVar = Projections
    tells_of: ClassVar = "second moments"
    title: ClassVar = "products of the columns with the server's model"

    columns: Columns
    scaling: Scaling
    weights: Float
    fill: Fill | None = None
    center: str = FEDERATION

    def answer(self, table: Table) -> Projections:
        """Batch by batch; the covariance matrix exists nowhere."""
        (encoding, own), weights = self.site_encoding(table), self.weights
        n = len(encoding.names)
        if weights.ndim != 2 or len(weights) != n or not np.isfinite(weights).all():
            raise ProtocolError(f"was sent weights that do not fit its {n} columns.")
        added = table.in_parts(self.answer) if self.adds_up(own) else None
        if added is not None:
            return added
        tall = tall_projections(table, self.columns.features, encoding, own, weights) if table.streamed else None
        sums, squares, products = tall or self._sums(table, encoding)
        reply = Projections(table.n_rows, encoding.names, sums, squares, sums @ weights, products)
        return reply.within() if self.center == SITES else reply

    def _sums(self, table: Table, encoding: Encoding) -> tuple[Float, Float, Float]:
        n = len(encoding.names)
        sums, squares, products = np.zeros(n), np.zeros(n), np.zeros(self.weights.shape)
        for batch in checked_batches(table, self.columns.features, self.columns.missing, n):
            rows = encoding.centered(batch)
            sums += rows.sums()
            squares += rows.squares()
            products += rows.products_with(self.weights)
        return sums, squares, products

    def facts(self, reply: Projections) -> ColumnFacts:
        """Means and deviations."""
        encoding = self.encoding()
        return encoding.facts(self.columns.features, reply.n_rows, self.sums_told(reply.sums), reply.spreads())

    def complaints(self, reply: Projections, known: Known) -> Iterator[str]:
        """Columns in their ranges; the weighted sums are sums of the columns, and so are their covariances."""
        encoding, weights, n_rows = self.encoding(), self.weights, reply.n_rows
        n_columns, n_weights = len(reply.features), weights.shape[1]
        yield from names_rule(reply.features, encoding.names, "columns")
        yield from rows_rule(n_rows, known)
        for name, array, shape in (
            ("sums", reply.sums, (n_columns,)),
            ("squares", reply.squares, (n_columns,)),
            ("weighted", reply.weighted, (n_weights,)),
            ("products", reply.products, (n_columns, n_weights)),
        ):
            yield from shape_rule(name, array, shape)
            yield from finite_rule(name, array)
        mean = reply.sums / n_rows
        if self.center == FEDERATION:
            yield from encoded_mean_rule(encoding, n_rows, mean)  # before products of sums could overflow
            spread = reply.squares - reply.sums * mean
            yield from encoded_spread_rule(encoding, n_rows, mean, spread)
        else:
            spread = reply.squares
            yield from within_rule(n_rows, reply.sums, spread)
        size = np.abs(weights).sum(axis=0)
        if np.any(np.abs(reply.weighted / n_rows - mean @ weights) > SLACK * np.maximum(size, 1.0)):
            yield "sent means of weighted sums that contradict the means of the columns."
        if np.any(np.abs(reply.products) > 2 * n_rows * size):  # before sums of them could overflow
            yield "sent products above those of the deviations."
        products = reply.raw_deviations()
        of_sums = weights.T @ products
        room = SLACK * n_rows * np.maximum(np.outer(size, size), 1e-300)
        if np.any(np.abs(of_sums - of_sums.T) > room):
            yield "sent products that are not symmetric: no covariance gives them."
        of_weighted = np.diagonal(of_sums)
        if np.any(of_weighted < -np.diagonal(room)):
            yield "sent products that give a weighted sum a negative spread."
        most = np.sqrt(np.outer(np.maximum(spread, 0.0), np.maximum(of_weighted, 0.0)))
        if np.any(np.abs(products) > most * (1 + 1e-6) + SLACK * n_rows * size):
            yield "sent products above those of the deviations."

    def addends(self, n_rows: int) -> tuple[Addend, ...]:
        """Encoded values are at most 1 in size, a weighted sum at most the sum of its weights' sizes."""
        n, size = len(self.encoding().names), np.abs(self.weights).sum(axis=0)
        of_column = Addend((n,), n_rows)
        return of_column, of_column, Addend(size.shape, n_rows * size), Addend((n, len(size)), n_rows * size)

    def numbers(self, reply: Projections) -> tuple[np.ndarray, ...]:
        """All sums."""
        return reply.sums, reply.squares, reply.weighted, reply.products

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: tuple[Float | float, ...]) -> Projections:
        """A column whose spread is rounding is constant."""
        names, (sums, squares, *others) = self.encoding().names, numbers
        return Projections(n_rows, names, sums, constants_settled(n_rows, sums, squares, errors[1]), *others)

    def contradictions(self, reply: Projections, known: Known) -> Iterator[str]:
        """Needs the client's `Ranges`: the columns must fit the extremes it named."""
        if AskRanges in known.earlier and self.center == FEDERATION:
            encoding, mean = self.encoding(), reply.sums / reply.n_rows
            ranges = known.earlier[AskRanges][1]
            yield from encoded_ranges_rule(ranges, self.columns, encoding, reply.n_rows, mean, reply.spreads())


@dataclass(frozen=True, eq=False)
class ProjectionsTerms(FilledTerms):
    """Wide tables only; `sure` says whether the table is known to be one before the codes are.

    At most one weighted sum per label, where their number is known: with more the server could ask for covariances.
    """

    request: ClassVar = AskProjections

    sure: bool = True
    max_weights: int | None = None

    @property
    def optional(self) -> bool:
        """Where codes decide it."""
        return not self.sure

    def n_compared(self, n_varying: int, n_codes: int) -> int:  # noqa: ARG002
        """One weighted sum at least, where there are any."""
        return COLUMNS_PER_SUM * self.sure

    def check(self, request: AskProjections) -> None:
        """Also how many weighted sums there are."""
        super().check(request)
        n_weights = request.weights.shape[-1] if request.weights.ndim else 0
        if self.max_weights is not None and n_weights > self.max_weights:
            raise ProtocolError(f"was asked for {n_weights} weighted sums; agreed: one per label, {self.max_weights}.")

    def check_site(self, request: AskProjections, site: SiteView) -> None:
        """Also that rows are enough for so many weighted sums."""
        super().check_site(request, site)
        if not np.array_equal(request.weights, coarse_weights(request.weights)):
            raise ProtocolError(
                f"was sent weights of more than {WEIGHT_BITS} bits: fine ones would keep many columns apart in one sum."
            )
        way_out = f"Use fewer labels, each of which counts as {COLUMNS_PER_SUM} columns, or larger sites."
        site.check_enough_rows(self.tells(request, site), "weighted sums", way_out)

    def tells(self, request: AskProjections, site: SiteView) -> Mapping[str, int]:  # noqa: ARG002
        """Each weighted sum, by its weights and the ranges of the columns that it adds up."""
        columns = json.dumps([request.columns.features, *sorted(request.pins().items())]).encode()
        sums = (hashlib.sha256(columns + weights.tobytes()).hexdigest() for weights in request.weights.T)
        return {f"weighted sum {one}": COLUMNS_PER_SUM for one in sums}

    def reveals(self) -> str:
        """Averages, spreads, and how columns go with the labels."""
        wide = "" if self.sure else "if codes make the table wide: "
        codes = ", with one column for each code of a nominal one" if self.columns.nominal else ""
        return (
            f"{wide}means and spreads of {len(self.columns.features)} columns{codes}, and how each varies with the "
            f"labels that the server's model predicts; {Projections.at_worst}"
        )
