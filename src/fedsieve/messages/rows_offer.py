"""What a site is about to send of its rows: how many, and the SHA-256 of all of them, before the first one leaves."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Bytes, Float
from fedsieve.messages.base import Known, Reply, Request, Terms, check_all_columns
from fedsieve.messages.columns import Columns
from fedsieve.messages.reply_rules import names_rule, rows_rule
from fedsieve.tables import Table, checked_batches
from fedsieve.values import dense

DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, eq=False)
class RowsOffer(Reply):
    """How many rows there are, in which columns, and the SHA-256 of their values, row by row.

    Reveals the number of rows, and whether a guess at all of them is right.
    """

    why_no_sum: ClassVar[str] = "rows of several sites are kept apart."

    n_rows: int
    features: tuple[str, ...]
    labels: tuple[str, ...]
    sha256: Bytes  # (32,)


@dataclass(frozen=True, eq=False)
class AskRowsOffer(Request):
    """Server: what would you send of these columns? Reveals the columns that were selected, which all sites know."""

    reply: ClassVar = RowsOffer
    title: ClassVar = "how many rows there are to send"

    columns: Columns
    labels: tuple[str, ...] = ()

    def answer(self, table: Table) -> RowsOffer:
        """Batch by batch."""
        digest = hashlib.sha256()
        for batch in checked_batches(table, self.column_names(), self.columns.missing):
            digest.update(row_bytes(dense(batch)))
        sha256 = np.frombuffer(digest.digest(), dtype=np.uint8)
        return RowsOffer(table.n_rows, self.columns.features, self.labels, sha256)

    def complaints(self, reply: RowsOffer, known: Known) -> Iterator[str]:
        """The columns that were asked for, no more rows than agreed."""
        yield from names_rule(reply.features, self.columns.features)
        yield from names_rule(reply.labels, self.labels, "labels")
        yield from rows_rule(reply.n_rows, known)
        if reply.sha256.shape != (DIGEST,):
            yield f"sent a SHA-256 of shape {reply.sha256.shape}; it has {DIGEST} bytes."


@dataclass(frozen=True, eq=False)
class RowsOfferTerms(Terms):
    """All columns that the run selected, and no others."""

    request: ClassVar = AskRowsOffer
    sends_rows: ClassVar = True

    labels: tuple[str, ...] = ()

    def check(self, request: AskRowsOffer) -> None:
        """Exactly the columns that were selected in the run, labels where the method's sites hold some."""
        super().check(request)
        check_all_columns(self.columns, self.labels, request)

    def reveals(self) -> str:
        """A digest."""
        return "the number of rows, and the SHA-256 of all values of the selected columns"


def row_bytes(values: Float) -> bytes:
    """The values of some rows, one row after the other, as they are signed and compared; a gap is always the same."""
    plain = np.array(values, dtype="<f8", order="C")
    plain[np.isnan(plain)] = np.nan
    return plain.tobytes()
