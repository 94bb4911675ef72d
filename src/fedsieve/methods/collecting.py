"""Collecting: after a run, sites that consent once more send their rows of the selected columns, and of no others.

The paper's last step: "send the smaller datasets to the edge server". The server asks each site by itself, so that one
that is lost, or does not consent, holds up nobody; `run` is told of one site.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar

from fedsieve.messages import Terms
from fedsieve.messages.rows_chunk import AskRowsChunk, RowsChunk, RowsChunkTerms
from fedsieve.messages.rows_offer import AskRowsOffer, RowsOffer, RowsOfferTerms, row_bytes
from fedsieve.protocol.cohort import BadReplyError, Cohort, Steps
from fedsieve.protocol.follow_up import VALUE_BYTES, FollowUp
from fedsieve.protocol.method import Labeled

CHUNK_BYTES = 4_000_000  # of values in a message: few messages, and within what proxies let through
OTHER_ROWS = "sent other rows than it said: their SHA-256 differs. None of them is kept."


class OtherRowsError(BadReplyError):
    """Each message was as it should be, but all rows together are not those that were announced."""


@dataclass(frozen=True, eq=False)
class Collecting(FollowUp):
    """The rows of a site, first announced, then chunk by chunk."""

    name: ClassVar[str] = "collect"
    allows: ClassVar[str] = "sites that consent a second time send the rows of the selected columns to the server"
    why_not: ClassVar[dict[str, str]] = {
        "private": "rows have no noise: with them, what epsilon promises would be void",
        "secure": "rows of some sites, subtracted from the totals, would tell the sums of those that send none",
    }

    @property
    def chunk_rows(self) -> int:
        """How many rows a message has: of a size that the agreed limit has room for."""
        room = min(CHUNK_BYTES, self.max_message_bytes // 2)
        return max(1, room // (VALUE_BYTES * len(self.columns_read)))

    def terms(self) -> tuple[Terms, ...]:
        """What is there, then the rows."""
        return (
            RowsOfferTerms(self.columns, self.labels),
            RowsChunkTerms(self.columns, self.labels, self.chunk_rows, self.max_rows),
        )

    def run(self, labeled: Labeled, cohort: Cohort) -> Steps[Any]:  # noqa: ARG002 (needs no rows of the server)
        """All rows of the one site in the cohort, compared with what it announced, which is returned."""
        offers: dict[str, RowsOffer] = yield from cohort.each(AskRowsOffer(self.columns, self.labels))
        ((site, offer),) = offers.items()
        digest = hashlib.sha256()
        for start in range(0, offer.n_rows, self.chunk_rows):
            ask = AskRowsChunk(self.columns, self.labels, start, self.chunk_rows)
            chunks: dict[str, RowsChunk] = yield from cohort.each(ask)
            digest.update(row_bytes(chunks[site].values))
        if digest.digest() != offer.sha256.tobytes():
            raise OtherRowsError({site: OTHER_ROWS})
        return offer
