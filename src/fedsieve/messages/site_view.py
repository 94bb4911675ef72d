"""What a site that guards itself looks at before it answers, and the rule that counts all it has ever told.

Second moments of as many columns as there are rows give all rows of 0/1 data, whether one request asks for them or many
do, a few columns each. So a site counts over all runs and agreements, and telling the same again costs nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from fedsieve.arrays import Float
from fedsieve.errors import ProtocolError
from fedsieve.tables import Table

AS_OF = "join --as-of answers for the earlier rows; or wait until more rows have changed"
SAME_AGAIN = "The same columns and weights as before are answered; so is more with more rows, or in secure sums."


class Memory(Protocol):
    """What a site remembers between the rounds of one run."""

    @property
    def seed(self) -> bytes:
        """Of all that is drawn at random in the run: the same whenever asked, and the site's secret."""

    def keep(self, name: str, values: Float) -> None:
        """Remember these values instead of any before."""

    def recall(self, name: str) -> Float | None:
        """The values last kept, if any."""


@dataclass(frozen=True, eq=False)
class SiteView:
    """A site's rows, if it has any, and what it remembers and knows of the others."""

    table: Table | None  # None at an edge server, whose sites look for themselves
    seen: Table | None  # as the request sees it: more may be held back of values that it clips
    memory: Memory
    rows_per_column: int  # that second moments of one site need; 0: any
    told: Mapping[str, int] = field(default_factory=dict)  # by all answers so far, and as how many columns each counts
    n_changed: int = 0  # rows by which the table differs from the nearest that was answered for; 0: from none
    n_rows_in_total: int | None = None  # where only the total over all sites is told
    n_sites: int = 1  # that a total can be of
    max_rows: int | None = None  # that each of them may claim
    min_cell: int = 0  # rows that whatever is told is of at least

    def check_enough_rows(self, tells: Mapping[str, int], what: str, way_out: str) -> None:
        """Raise `ProtocolError` where this, and all that was told before, would be told of too few rows."""
        if self.table is None:
            return
        n_asked, n_columns = sum(tells.values()), sum({**self.told, **tells}.values())
        needed, rule = self.rows_per_column * n_columns, f"(rows_per_column = {self.rows_per_column})"
        compared = f"{what} of {n_asked} columns"
        if n_columns > n_asked:
            compared += f", of {n_columns} with all that it told before,"
            way_out = SAME_AGAIN
        n_rows, has, where = self.table.n_rows, "", "at one site"
        if self.n_rows_in_total is not None:
            n_rows, has, where = self.n_rows_in_total, " in all", "in all"
        if n_rows < needed:
            raise ProtocolError(
                f"has {n_rows} rows{has}; {compared} need {needed} {where} {rule}, or they could give rows away. "
                f"{way_out}"
            )
        # What subtraction makes of two answers is an answer about these rows; of totals too, if others stay as before.
        if 0 < self.n_changed < needed:
            raise ProtocolError(
                f"its rows differ from those it answered for before in {self.n_changed}; {compared} need {needed} or "
                f"none {rule}: two answers could give these rows away by subtraction. {AS_OF}."
            )
