"""What requests in scaled columns have in common: whose ranges scale them, and that these stay the same in a run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import FalseTotalError, ProtocolError
from fedsieve.messages.base import Request, Terms
from fedsieve.messages.binned import counts_of
from fedsieve.messages.columns import (
    DECLARED,
    FEDERATED,
    LOCAL,
    ROBUST,
    Bins,
    Columns,
    Scaling,
    bin_pins,
    check_ranges_hold,
)
from fedsieve.messages.ranges import Ranges, ranges_of
from fedsieve.messages.site_view import SiteView
from fedsieve.tables import Table

FINE = 1e-3  # of its spread: what the rounding of a scaled value may be


class ScaledRequest(Request):
    """A request whose columns are scaled; with the first one of a run travels what its ranges follow from."""

    columns: Columns
    scaling: Scaling

    def pins(self) -> Mapping[str, Any]:
        """The ranges, and the bins that they follow from."""
        return range_pins(self.columns, self.scaling)

    def told_spread(self) -> tuple[Columns, Bins, Int] | None:
        """With robust ranges, the first time."""
        bins, counts = self.scaling.bins, self.scaling.counts
        return None if bins is None or counts is None else (self.columns, bins, counts)

    def rests_on(self) -> Iterable[str]:
        """Robust ranges that come without their total."""
        return unshown_ranges(self.columns, self.scaling)

    def clips(self) -> Mapping[str, tuple[float, float]]:
        """Robust and declared ranges do."""
        return clipped_ranges(self.columns, self.scaling)


@dataclass(frozen=True, eq=False)
class ScaledTerms(Terms):
    """Columns are scaled as agreed: by robust ranges, exact ones, each site's own (`local`), or declared ones."""

    ranges: str = FEDERATED
    declared: Scaling | None = None

    def check_scaling(self, columns: Columns, scaling: Scaling) -> None:
        """Raise `ProtocolError` where a server scales by other ranges than agreed."""
        if scaling.kind != self.ranges or not self._has_agreed_ends(columns, scaling):
            raise ProtocolError(
                f"was asked to scale its columns by other ranges than agreed: {str(scaling.kind)[:20]!r} ones, or not "
                f"as declared; agreed: {self.ranges!r}."
            )
        if scaling.bins is not None:
            scaling.bins.check(len(columns.features))

    def _has_agreed_ends(self, columns: Columns, scaling: Scaling) -> bool:
        low, high, shape = scaling.low, scaling.high, (len(columns.features),)
        if self.ranges == LOCAL:
            return low is None and high is None
        if low is None or high is None or not low.shape == high.shape == shape:
            return False
        if self.declared is None or self.declared.low is None or self.declared.high is None:
            return True
        place = {name: index for index, name in enumerate(self.columns.features)}
        here = [place[name] for name in columns.features]
        return np.array_equal(low, self.declared.low[here]) and np.array_equal(high, self.declared.high[here])


def range_pins(columns: Columns, scaling: Scaling) -> dict[str, Any]:
    """The range of each column, and its bins where they are told."""
    if scaling.low is None or scaling.high is None:
        return {"ranges": "each site's own"}
    pins: dict[str, Any] = {
        _range_of(name): [float(low), float(high)]
        for name, low, high in zip(columns.features, scaling.low, scaling.high, strict=True)
    }
    if scaling.bins is not None:
        pins |= bin_pins(columns, scaling.bins)
    return pins


def clipped_ranges(columns: Columns, scaling: Scaling) -> dict[str, tuple[float, float]]:
    """The ranges beyond which values count as the nearest end, by column."""
    if not scaling.clips or scaling.low is None or scaling.high is None:
        return {}
    ends = zip(columns.features, columns.nominal_mask, scaling.low, scaling.high, strict=True)
    return {name: (float(low), float(high)) for name, nominal, low, high in ends if not nominal}


def told_columns(columns: Columns, scaling: Scaling) -> dict[str, str]:
    """By which name a site remembers that it told of each column.

    Clipped at another edge it is another column: where values are few whole numbers, the difference of two is 0 or 1.
    """
    ends = clipped_ranges(columns, scaling)
    return {name: f"{name} in {list(ends[name])}" if name in ends else name for name in columns.features}


def unshown_ranges(columns: Columns, scaling: Scaling) -> Iterable[str]:
    """The ranges that must have been shown before to follow from a total."""
    shown = scaling.kind != ROBUST or scaling.bins is not None
    return () if shown else map(_range_of, columns.features)


def _range_of(name: str) -> str:
    return f"the range of {name!r}"


def site_ranges(table: Table, columns: Columns, scaling: Scaling) -> tuple[Float, Float]:
    """The ranges to scale by: those of the request, or the site's own where it names none."""
    return ranges_to_scale_by(table, columns, scaling)[0]


def ranges_to_scale_by(table: Table, columns: Columns, scaling: Scaling) -> tuple[tuple[Float, Float], Ranges | None]:
    """The same, and the site's own ranges where they were looked at.

    Federated ranges hold all values of all sites; a site refuses others, since their edges would count its values.
    """
    if scaling.low is None or scaling.high is None:
        own = ranges_of(table, columns)
        return (own.low, own.high), own
    if scaling.kind == FEDERATED:
        own = ranges_of(table, columns)
        numbers = ~columns.nominal_mask & (own.low <= own.high)
        ends = (scaling.low, scaling.high, own.low, own.high)
        check_ranges_hold(*ends, where=numbers)
        return (scaling.low, scaling.high), own
    return (scaling.low, scaling.high), None


def check_scaling_at_site(columns: Columns, scaling: Scaling, site: SiteView) -> None:
    """Raise `ProtocolError` where ranges do not follow from the total shown with them, or would group a site's values.

    Far from its values, a range leaves so few digits of them that rounding turns a column into an indicator of rows.
    """
    if scaling.low is None or scaling.high is None:
        return
    if scaling.kind == ROBUST and scaling.bins is not None:
        _check_follows(scaling, columns, site.table)
    if site.table is None or scaling.kind == DECLARED:
        return
    numbers = ~columns.nominal_mask
    own = ranges_of(site.table, columns)
    coarse = np.spacing(np.maximum(np.abs(scaling.low), np.abs(scaling.high))) > FINE * _span(own)
    if np.any(coarse & numbers & (own.low < own.high)):
        raise ProtocolError("was sent ranges so far from its values that rounding would group them.")


def _span(own: Ranges) -> Float:
    return np.where(own.low < own.high, own.high - own.low, np.inf)


def _check_follows(scaling: Scaling, columns: Columns, table: Table | None) -> None:
    assert scaling.bins is not None
    scaling.bins.check(len(columns.features))
    counts = scaling.counts
    if counts is None or counts.shape != (len(scaling.bins.edges) + len(columns.features),) or np.any(counts < 0):
        raise ProtocolError("was sent counts that do not fit their bins.")
    follows = Scaling.robust(scaling.bins, counts)
    ends = (scaling.low, follows.low), (scaling.high, follows.high)
    if any(told is None or due is None or not np.array_equal(told, due) for told, due in ends):
        raise ProtocolError("was sent ranges that do not follow from the total of the histograms.")
    if table is not None and np.any(counts_of(table, columns, scaling.bins) > counts):
        raise FalseTotalError("was sent a total of histograms that does not hold its own values.")
