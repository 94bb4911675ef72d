"""The server's side of Sieve: ranges, then covariances added up over all rows; of wide tables, products before."""

from functools import reduce
from operator import add

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import DataError
from fedsieve.protocol import messages as m
from fedsieve.protocol.cohort import BadReplyError, Cohort, Talk
from fedsieve.protocol.encoding import Encoding
from fedsieve.protocol.plan import Labeled
from fedsieve.protocol.scaled_answers import scaled_covariances_of
from fedsieve.protocol.sieve.findings import SieveSelection, found
from fedsieve.protocol.sieve.plan import SievePlan
from fedsieve.protocol.sieve.screening import screened
from fedsieve.protocol.summaries import ranges_of


def select_by_views(plan: SievePlan, labeled: Labeled, cohort: Cohort) -> Talk[SieveSelection]:
    """One run with one cohort; the server's rows count like a client's."""
    if np.all(np.ptp(labeled.Y, axis=0) == 0):
        raise DataError(f"{plan.method}: no label varies over the {len(labeled.Y)} labeled rows; nothing to learn.")
    columns = m.Columns(plan.features, plan.nominal, plan.missing)
    own_ranges = ranges_of(labeled.X, plan.features)
    replies: list[m.Ranges] = yield from cohort.ask(m.AskRanges(columns))
    _check_codes(columns, dict(zip(cohort.clients, replies, strict=True)))
    ranges = reduce(add, replies, own_ranges)
    encoding, table = _encoded(plan, columns, m.Scaling(ranges.low, ranges.high), labeled)
    kept, screening = np.arange(len(plan.features)), None
    if len(encoding.names) > plan.n_compared:
        screening = yield from screened(plan, labeled, cohort, columns, encoding)
        kept = np.flatnonzero(screening.kept[plan.unit_of])

    nominal = set(plan.nominal)
    names = tuple(plan.features[feature] for feature in kept)
    some = m.Columns(names, tuple(name for name in names if name in nominal), plan.missing)
    request = m.AskScaledCovariances(some, m.Scaling(ranges.low[kept], ranges.high[kept]))
    own = scaled_covariances_of(labeled.X[:, kept], request)
    pooled: m.Covariances = reduce(add, (yield from cohort.ask(request)), own)
    columns_kept = np.isin(encoding.owner, kept)
    return found(
        plan,
        Labeled(table[:, columns_kept], labeled.Y),
        pooled.products() / pooled.n_rows,
        plan.unit_of[encoding.owner[columns_kept]],
        screening,
        dict(cohort.n_rows),
    )


def _check_codes(columns: m.Columns, replies: dict[str, m.Ranges]) -> None:
    """A client whose codes cannot be encoded is the one to be named, or dropped."""
    bad = {}
    for client, ranges in replies.items() if columns.nominal else ():
        try:
            Encoding.of(columns, m.Scaling(ranges.low, ranges.high))
        except DataError as error:
            bad[client] = str(error)
    if bad:
        raise BadReplyError(bad)


def _encoded(plan: SievePlan, columns: m.Columns, scaling: m.Scaling, labeled: Labeled) -> tuple[Encoding, Float]:
    """How columns are encoded, and the server's own rows so, before a client's rows could be blamed for them."""
    try:
        encoding = Encoding.of(columns, scaling)
        return encoding, encoding.table(labeled.X)
    except DataError as error:
        raise DataError(f"{plan.method}: {error}") from None
