"""How much one site alone widens a range or a deviation: what a look at the order without it cannot see.

The order is ranked again without a site, but in ranges and radii that it helped to make; a site that lies through these
moves the order and has no influence. So the kept replies of the earlier rounds are added up again without it, too.
"""

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.messages import Reply, Request, Scaling
from fedsieve.messages.covariances import Covariances
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.moments import Moments
from fedsieve.messages.ranges import AskRanges, Ranges
from fedsieve.protocol.influence import KeptReplies
from fedsieve.tables import Table


def stretch(kept: KeptReplies, own: Table) -> dict[str, dict[str, float]]:
    """Per site by what factor, at most, a column's range, and its deviation, is larger or smaller because of it."""
    most: dict[str, dict[str, float]] = {}
    for request, replies in kept.rounds:
        of_ranges = isinstance(request, AskHistograms | AskRanges)
        server = [request.answer(own)] if of_ranges else []
        with_all = _widths(request, reduce(add, [*server, *replies.values()]))
        if with_all is None:
            continue
        for site in replies:
            others: list[Any] = [reply for name, reply in replies.items() if name != site]
            without = _widths(request, reduce(add, [*server, *others]))
            assert without is not None
            both = (with_all > 0) & (without > 0)
            ratio = np.abs(np.log(with_all[both]) - np.log(without[both]))  # widths may be near the largest numbers
            times = float(np.exp(min(ratio.max(initial=0.0), 700.0)))
            most.setdefault(site, {})["range" if of_ranges else "deviation"] = round(times, 3)
    return most


def _widths(request: Request, total: Reply) -> Float | None:
    """Ranges, or deviations, of each column; none where a reply tells of no single column."""
    if isinstance(request, AskHistograms):
        scaling = Scaling.robust(request.bins, total.counts)  # type: ignore[attr-defined]
        assert scaling.low is not None
        assert scaling.high is not None
        return scaling.high - scaling.low
    if isinstance(total, Ranges):
        return total.high - total.low
    if isinstance(total, Moments):
        return total.deviation
    if isinstance(total, Covariances):
        return np.sqrt(np.maximum(np.diagonal(total.deviations()), 0.0) / total.n_rows)
    return None
