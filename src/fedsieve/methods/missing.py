"""The step before others where values are missing: means that stand in for them, and how many each site misses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedsieve.arrays import Float
from fedsieve.errors import listed
from fedsieve.messages import Request, Scaling
from fedsieve.messages.columns import Fill
from fedsieve.messages.means import AskMeans, Means
from fedsieve.protocol.cohort import SERVER, Cohort, Steps
from fedsieve.protocol.method import Method
from fedsieve.tables import Table


@dataclass(frozen=True, eq=False)
class Missing:
    """The share of missing values: per feature over all rows, and by site for the features of which it misses any.

    `None` stands for no missing value at all; `by_site` is also `None` where single sites are not seen.
    """

    share: Float | None = None
    by_site: Mapping[str, Mapping[str, float]] | None = None

    def by_name(self, names: Sequence[str]) -> dict[str, float]:
        """The shares over all rows, of features that miss any value."""
        shares = () if self.share is None else zip(names, self.share.tolist(), strict=True)
        return {name: share for name, share in shares if share}

    def without_values(self, names: Sequence[str]) -> str:
        """The features of which nobody has a value, in words; empty where there is none."""
        nowhere = [name for name, share in self.by_name(names).items() if share == 1]
        return f"nobody has a value of {listed(nowhere)}: treated as constant." if nowhere else ""


NOTHING = Missing()


def agreed_fill(
    method: Method, scaling: Scaling, center: str, own: Table, cohort: Cohort
) -> Steps[tuple[Fill | None, Missing]]:
    """What stands in for missing values, and where they are; nothing where none are missing. One round.

    The server's rows, `own`, count like a site's.
    """
    told: dict[str, Means] = {}

    def note(client: str, request: Request, reply: Any) -> None:
        if isinstance(request, AskMeans):
            told[client] = reply

    cohort.observe(note)
    request = AskMeans(method.columns, scaling, center)
    told[SERVER] = request.answer(own)
    total: Means = yield from cohort.total(request, told[SERVER])
    fill = total.fill
    if not fill.misses.any():
        return None, NOTHING
    by_site = {site: _shares(means) for site, means in told.items()}
    return fill, Missing(fill.share, None if cohort.unseen else by_site)


def _shares(means: Means) -> dict[str, float]:
    shares = zip(means.features, means.fill.share.tolist(), strict=True)
    return {name: share for name, share in shares if share}
