"""What requests about encoded columns have in common: what stands in for missing values, and whose mean counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import FalseTotalError, ProtocolError
from fedsieve.messages.base import Known
from fedsieve.messages.columns import Columns, Fill, Scaling
from fedsieve.messages.encoding import Encoding, told_missing
from fedsieve.messages.means import FEDERATION, OWN_COUNTS, AskMeans, Means, check_center, holds, ranges_held
from fedsieve.messages.ranges import Ranges
from fedsieve.messages.scaled import ScaledRequest, ScaledTerms, check_scaling_at_site
from fedsieve.messages.site_view import SiteView
from fedsieve.tables import Table


class FilledRequest(ScaledRequest):
    """A request for sums of encoded columns; with it travel the totals that its means follow from, if it needs any."""

    fill: Fill | None
    center: str

    def encoding(self) -> Encoding:
        """How a reply's columns are encoded."""
        return Encoding.of(self.columns, self.scaling, self.fill)

    def sums_told(self, sums: Float) -> Float:
        """The sums of a reply; within sites none are told (NaN)."""
        return np.where(self.center == FEDERATION, sums, np.nan)

    def pins(self) -> Mapping[str, Any]:
        """Also the means, by the totals that they follow from."""
        fill = self.fill
        if fill is None:
            return super().pins()
        owner = Encoding.of(self.columns, self.scaling).owner
        means = {
            f"the mean of {name!r}": [fill.n_rows, int(fill.present[place]), *fill.sums[owner == place].tolist()]
            for place, name in enumerate(self.columns.features)
        }
        return {**super().pins(), **means}

    def site_encoding(self, table: Table) -> tuple[Encoding, Ranges]:
        """How a site's columns are encoded, and its own ranges.

        Exact ranges and ranges of codes must hold all values of the site.
        """
        encoding = self.encoding()
        own = ranges_held(table, self.columns, self.scaling, encoding)
        return (self.filled_at(table, encoding) if own.n_missing else encoding), own

    def adds_up(self, own: Ranges) -> bool:
        """Whether the reply of several parts of a table is the sum of theirs: their own means stand in nowhere."""
        return self.center == FEDERATION and (self.fill is not None or not own.n_missing)

    def filled_at(self, table: Table, encoding: Encoding) -> Encoding:
        """With a table's own means where columns are compared within sites, or where none of all sites were told."""
        if self.center == FEDERATION and self.fill is not None:
            return encoding
        return encoding.filled(own_means(table, self.columns, self.scaling))


def own_means(table: Table, columns: Columns, scaling: Scaling) -> Float:
    """The means of a table's present values, per encoded column and from the middle of its range."""
    return AskMeans(columns, scaling).answer(table).fill.means(Encoding.of(columns, scaling).owner)


@dataclass(frozen=True, eq=False)
class FilledTerms(ScaledTerms):
    """Scaled as agreed, and compared from the agreed mean; means follow from totals that hold the site's own part."""

    center: str = FEDERATION

    def check(self, request: Any) -> None:
        """Also the scaling, and whose mean columns are compared from."""
        super().check(request)
        self.check_scaling(request.columns, request.scaling)
        check_center(request.center, self.center)
        if request.fill is not None:
            request.encoding()  # refuses means of other columns

    def check_site(self, request: Any, site: SiteView) -> None:
        """Also that ranges and means follow from the totals shown."""
        check_scaling_at_site(request.columns, request.scaling, site)
        fill: Fill | None = request.fill
        if fill is None:
            return
        total = Means(fill.n_rows, request.columns.features, fill.present, fill.sums)
        ask = AskMeans(request.columns, request.scaling, request.center)
        known = Known(max_sites=site.n_sites + 1, max_rows=site.max_rows)  # the server's rows count as well
        if wrong := next(ask.complaints(total, known), ""):
            raise ProtocolError(f"was sent a total of means that no {site.n_sites} sites have, as if one {wrong}")
        if site.table is not None and not holds(fill, request.columns, request.scaling, self.columns, site.memory):
            raise FalseTotalError("was sent a total of means that does not hold its own.")

    def missing_told(self, request: Any, site: SiteView) -> Mapping[str, int]:
        """The columns of which the site misses values: each tells of two, for with other means it is another sum.

        All that any means make of a column are sums of two columns: its values, and where they are missing.
        """
        counts = site.memory.recall(OWN_COUNTS) if request.fill is not None else None
        if counts is None:
            return {}
        misses = dict(zip(self.columns.features, counts[1:] < counts[0], strict=True))
        return {told_missing(name): 1 for name in request.columns.features if misses[name]}
