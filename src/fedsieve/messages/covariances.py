"""Covariances: sums, and sums of products, of the encoded columns and of labels where sites hold them.

Numbers are taken from the middle of the run's ranges, which every site computes itself, so that plain sums add up and
lose no digits: covariance = (sum of products - product of sums / n) / n.
"""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Int
from fedsieve.errors import ProtocolError
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.base import (
    AT_WORST,
    Addend,
    Known,
    Reply,
    Request,
    check_all_columns,
)
from fedsieve.messages.columns import (
    LOCAL,
    Columns,
    Fill,
    Scaling,
    check_labels_present,
    row_blocks,
    same_names,
    square,
    upper_of,
)
from fedsieve.messages.definite import has_negative_direction
from fedsieve.messages.encoded_rules import (
    encoded_mean_rule,
    encoded_ranges_rule,
    encoded_spread_rule,
    within_rule,
)
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.filled import FilledRequest, FilledTerms
from fedsieve.messages.means import FEDERATION, SITES
from fedsieve.messages.ranges import AskRanges, ranges_of
from fedsieve.messages.reply_rules import (
    SLACK,
    finite_rule,
    names_rule,
    rows_rule,
    shape_rule,
)
from fedsieve.messages.scaled import told_columns
from fedsieve.messages.site_view import SiteView
from fedsieve.messages.tall_sums import tall_sums
from fedsieve.tables import Table, checked_batches
from fedsieve.text import counted
from fedsieve.values import dense

NEGATIVE = 1e-8  # what rounding may make of an eigenvalue 0, per variable
NIL = 1e-100  # a covariance of columns in units of their ranges that may be left where a spread fell to 0
ROUNDING = 4 * np.finfo(np.float64).eps  # of a sum of squares, per row: what is left of a constant's spread


@dataclass(frozen=True, eq=False)
class Covariances(Reply):
    """Sums of encoded columns and labels, and sums of the products of each two, upper triangle in row-major order.

    Where columns are compared within sites, they are taken from the site's own mean, and their sums are 0.

    Reveals averages, spreads and correlations of a site; if a site has only two rows, both of them, in
    unknown order.
    """

    at_worst: ClassVar[str] = AT_WORST

    n_rows: int
    features: tuple[str, ...]
    labels: tuple[str, ...]
    sums: Float
    upper: Float

    def __add__(self, other: "Covariances") -> "Covariances":
        return Covariances(
            self.n_rows + other.n_rows,
            same_names(self.features, other.features),
            same_names(self.labels, other.labels),
            self.sums + other.sums,
            self.upper + other.upper,
        )

    def deviations(self) -> Float:
        """The symmetric matrix of sums of products of deviations from the mean; exactly 0 for constant columns."""
        products, room = self.raw_deviations()
        constant = np.diagonal(products) <= room
        products[constant], products[:, constant] = 0.0, 0.0
        return products

    def within(self) -> "Covariances":
        """The same from the mean of these rows alone: what is added up then compares nothing between sites."""
        upper = upper_of(self.deviations())
        return Covariances(self.n_rows, self.features, self.labels, np.zeros(len(self.sums)), upper)

    def deviation_by_column(self) -> Float:
        """Of features and labels."""
        deviation: Float = np.sqrt(np.diagonal(self.deviations()) / self.n_rows)
        return deviation

    def raw_deviations(self) -> tuple[Float, Float]:
        """The same before constant columns are told from rounding, and how much of each spread may be rounding."""
        products = square(self.upper, len(self.sums))
        room = ROUNDING * self.n_rows * np.maximum(np.diagonal(products), 0.0)
        for rows in row_blocks(len(products)):
            products[rows] -= np.outer(self.sums[rows], self.sums) / self.n_rows
        return products, room

    def raw_spreads(self) -> Float:
        """Their diagonal."""
        spreads: Float = self.upper[_diagonal_places(len(self.sums))] - self.sums**2 / self.n_rows
        return spreads


@dataclass(frozen=True, eq=False)
class AskCovariances(FilledRequest):
    """Server: sums and sums of products of the encoded columns. Reveals the federation's ranges to every client.

    Without ranges each site scales by its own: its reply is then good for correlations within the site, and for no sum.
    """

    reply: ClassVar = Covariances
    tells_of: ClassVar = "second moments"
    title: ClassVar = "covariances of the columns"

    columns: Columns
    scaling: Scaling
    labels: tuple[str, ...] = ()
    fill: Fill | None = None
    center: str = FEDERATION

    def answer(self, table: Table) -> Covariances:
        """Batch by batch."""
        check_labels_present(table, self.labels)
        if self.own_ranges:
            own = ranges_of(table, self.columns)
            encoding = Encoding.of(self.columns, own.scaling)
        else:
            encoding, own = self.site_encoding(table)
            added = table.in_parts(self.answer) if self.adds_up(own) else None
            if added is not None:
                return added
        tall = None if self.labels else tall_sums(table, self.columns.features, encoding, own)
        sums, products = tall or self._sums(table, encoding)
        reply = Covariances(table.n_rows, encoding.names, self.labels, sums, upper_of(products))
        return reply.within() if self.center == SITES else reply

    def _sums(self, table: Table, encoding: Encoding) -> tuple[Float, Float]:
        n_features, n = len(self.columns.features), len(encoding.names) + len(self.labels)
        sums, products = np.zeros(n), None
        for batch in checked_batches(table, (*self.columns.features, *self.labels), self.columns.missing, n):
            rows = encoding.centered(batch[:, :n_features]).with_labels(dense(batch[:, n_features:]))
            sums += rows.sums()
            products = rows.products() if products is None else products + rows.products()
        return sums, np.zeros((n, n)) if products is None else products

    def facts(self, reply: Covariances) -> ColumnFacts | None:
        """Means and deviations, in ranges that all know."""
        if self.own_ranges:
            return None
        encoding = self.encoding()
        columns = slice(len(encoding.names))  # labels lie behind
        squares, sums = reply.upper[_diagonal_places(len(reply.sums))][columns], reply.sums[columns]
        spreads = reply.raw_spreads()[columns]
        spreads = np.where(spreads <= ROUNDING * reply.n_rows * squares, 0.0, spreads)
        return encoding.facts(self.columns.features, reply.n_rows, self.sums_told(sums), spreads)

    def complaints(self, reply: Covariances, known: Known) -> Iterator[str]:
        """Columns in their ranges, labels and codes that are counts, no combination with a negative spread."""
        encoding = self.encoding()
        n_encoded, n = len(encoding.names), len(reply.features) + len(reply.labels)
        yield from names_rule(reply.features, encoding.names, "columns")
        yield from names_rule(reply.labels, self.labels, "labels")
        yield from rows_rule(reply.n_rows, known)
        yield from shape_rule("sums", reply.sums, (n,))
        yield from shape_rule("upper", reply.upper, (n * (n + 1) // 2,))
        yield from finite_rule("sums", reply.sums)
        yield from finite_rule("upper", reply.upper)
        mean = reply.sums / reply.n_rows
        if self.center == FEDERATION:
            yield from encoded_mean_rule(encoding, reply.n_rows, mean[:n_encoded])
        yield from _label_rule(mean[n_encoded:] * reply.n_rows, reply.n_rows)
        if (
            max(reply.upper.max(initial=0.0), -reply.upper.min(initial=0.0)) > 2 * reply.n_rows
        ):  # before sums of them could overflow
            yield "sent covariances above the product of the deviations."
        squares, spread = reply.upper[_diagonal_places(n)], reply.raw_spreads()
        if np.any(spread < -SLACK * reply.n_rows):
            yield "sent negative spreads."
        if self.center == FEDERATION:
            yield from encoded_spread_rule(encoding, reply.n_rows, mean[:n_encoded], spread[:n_encoded])
        else:
            yield from within_rule(reply.n_rows, reply.sums, spread)
        room_here = SLACK * reply.n_rows
        if self.own_ranges and np.any((spread[:n_encoded] > room_here) & (spread[:n_encoded] < 0.5 - room_here)):
            yield "sent moments that contradict its ranges."  # whose both ends its values reach
        labels = slice(n_encoded, None)
        if np.any(np.abs(spread[labels] - reply.sums[labels] * (1 - mean[labels])) > 1e-6 * reply.n_rows):
            yield "sent spreads of labels that no 0/1 labels of these means have."
        rounding = ROUNDING * reply.n_rows * np.maximum(squares, 0.0)
        length = np.sqrt(np.maximum(spread, 0.0) + 2 * rounding)
        deviations, below = kernels.upper_deviations(
            reply.upper, reply.sums, reply.n_rows, length * np.sqrt(1 + SLACK), NIL * reply.n_rows
        )
        if not below:
            yield "sent covariances above the product of the deviations."
        spare = n * rounding + np.maximum(-spread, 0.0)
        length = np.sqrt(spread + spare)
        per_length = np.divide(1.0, length, out=np.zeros_like(length), where=length**2 > NIL * reply.n_rows)
        unforeseen = np.random.default_rng(secrets.randbits(128))
        room = NEGATIVE * n
        if below and has_negative_direction(deviations, spare, per_length, room, reply.n_rows, unforeseen):
            yield "sent covariances that give a combination of columns a negative spread."

    def contradictions(self, reply: Covariances, known: Known) -> Iterator[str]:
        """Needs the client's `Ranges`, if it named any: the columns must fit its extremes."""
        if AskRanges in known.earlier and not self.own_ranges and self.center == FEDERATION:
            encoding = self.encoding()
            n_encoded, ranges = len(encoding.names), known.earlier[AskRanges][1]
            mean, spread = reply.sums[:n_encoded] / reply.n_rows, reply.raw_spreads()[:n_encoded]
            yield from encoded_ranges_rule(ranges, self.columns, encoding, reply.n_rows, mean, spread)

    def addends(self, n_rows: int) -> tuple[Addend, ...]:
        """Encoded values and labels are at most 1 in size, and so are their products."""
        n = len(self.encoding().names) + len(self.labels)
        return Addend((n,), n_rows), Addend((n * (n + 1) // 2,), n_rows)

    def numbers(self, reply: Covariances) -> tuple[np.ndarray, ...]:
        """Sums, and sums of products."""
        return reply.sums, reply.upper

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: tuple[Float | float, ...]) -> Covariances:
        """A column whose spread is rounding is constant."""
        sums, upper = numbers
        upper, own = upper.copy(), _diagonal_places(len(sums))
        upper[own] = constants_settled(n_rows, sums, upper[own], errors[1])
        return Covariances(n_rows, self.encoding().names, self.labels, sums, upper)

    @property
    def own_ranges(self) -> bool:
        """Whether each site scales by its own; codes need ranges that are the same everywhere."""
        return self.scaling.low is None and self.scaling.high is None and not self.columns.nominal

    def encoding(self) -> Encoding:
        """How a reply's columns are encoded; a site's own ranges are [0, 1] to whoever does not know them."""
        if not self.own_ranges:
            return super().encoding()
        n = len(self.columns.features)
        return Encoding.of(self.columns, Scaling(np.zeros(n), np.ones(n)))


@dataclass(frozen=True, eq=False)
class CovariancesTerms(FilledTerms):
    """At most so many columns are compared; with labels it is all columns, in the agreed order.

    They are scaled by the federation's ranges, or by each site's own where the replies are never added up.
    """

    request: ClassVar[type[Request]] = AskCovariances

    max_columns: int = 0
    labels: tuple[str, ...] = ()
    widest_group: int = 1  # whose columns are screened out together

    def n_compared(self, n_varying: int, n_codes: int) -> int:  # noqa: ARG002
        """All, with a column for each code; of a wide table those that are not screened out."""
        n_columns = len(self.columns.features) + n_codes
        if n_columns <= self.max_columns:
            return n_columns + len(self.labels)
        return max(self.max_columns - max(self.widest_group, n_codes + 1) + 1, 0)

    def check(self, request: AskCovariances) -> None:
        """Also how many columns there are, and the labels."""
        super().check(request)
        n_columns = len(request.columns.features)
        if n_columns > self.max_columns:
            raise ProtocolError(
                f"was asked for covariances of {n_columns} columns; agreed: at most {self.max_columns} (screen)."
            )
        if self.labels or request.labels:
            check_all_columns(self.columns, self.labels, request)

    def check_site(self, request: AskCovariances, site: SiteView) -> None:
        """Also that rows are enough."""
        super().check_site(request, site)
        way_out = "Compare fewer columns with each other (screen), or let sites of more rows take part."
        site.check_enough_rows(self.tells(request, site), "covariances", way_out)

    def tells(self, request: AskCovariances, site: SiteView) -> Mapping[str, int]:
        """Encoded columns, and labels; and where values are missing."""
        encoding, told = request.encoding(), told_columns(request.columns, request.scaling)
        owners = (request.columns.features[owner] for owner in encoding.owner)
        pairs = zip(encoding.names, owners, strict=True)
        names = (told[owner] if name == owner else name for name, owner in pairs)  # codes are clipped nowhere
        return {**dict.fromkeys((*names, *self.labels), 1), **self.missing_told(request, site)}

    @property
    def own_ranges(self) -> bool:
        """Whether each site scales by its own."""
        return self.ranges == LOCAL

    def reveals(self) -> str:
        """Averages, spreads and correlations."""
        n, n_compared = len(self.columns.features), min(len(self.columns.features), self.max_columns)
        if self.labels:
            n += len(self.labels)
            whole = "averages, spreads and correlations"
            told = "correlations, and where values lie in the site's own ranges" if self.own_ranges else whole
            return (
                f"the number of rows, means of {counted(n, 'column')} and {n * (n + 1) // 2} sums of products: {told}; "
                f"exactly how many rows have each label, and each two labels together; {AT_WORST}"
            )
        codes = ", with one column for each code of a nominal one" if self.columns.nominal else ""
        return (
            f"the number of rows, means of {'up to ' * (n > n_compared)}{n_compared} columns{codes} and sums of "
            f"products of each two: averages, spreads and correlations; {AT_WORST}"
        )


def constants_settled(n_rows: int, sums: Float, squares: Float, error: Float | float) -> Float:
    """Sums of squares; exactly those of a constant where no more than rounding tells them apart.

    Sums and squares may be off by `error`, so a spread by up to three times that: a mean is at most 1 in size.

    >>> constants_settled(2, np.array([1.0, 1.0]), np.array([0.5 + 1e-12, 1.0]), 1e-12).tolist()
    [0.5, 1.0]
    """
    constant = sums**2 / max(n_rows, 1)
    return np.where(squares - constant <= 3 * error, constant, squares)


def _diagonal_places(n: int) -> Int:
    """Where the diagonal lies in an upper triangle, row by row."""
    row = np.arange(n)
    return row * n - row * (row - 1) // 2


def _label_rule(sums: Float, n_rows: int) -> Iterator[str]:
    """0/1 labels have whole sums."""
    room = SLACK * n_rows
    if np.any(np.abs(sums - np.round(sums)) > 1e-6) or np.any(sums < -room) or np.any(sums > n_rows + room):
        yield "sent means of labels that no 0/1 labels have."
