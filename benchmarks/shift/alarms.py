"""Ten sites of one dataset, honest or with columns of one site in another unit, compared by what each message tells."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from benchmarks.loaded import DESIGN, PAPER, loaded
from fedsieve.arrays import Float, Int
from fedsieve.datasets import partition
from fedsieve.measures.column_facts import ColumnFacts, together
from fedsieve.measures.shift import Shift, compare
from fedsieve.measures.units import BOTH_WAYS, alike
from fedsieve.messages import Columns, Scaling
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.moments import AskMoments
from fedsieve.messages.ranges import AskRanges
from fedsieve.methods import SieveMethod
from fedsieve.methods.ranges import bins_of
from fedsieve.protocol import SERVER, Labeled
from fedsieve.tables import ArrayTable
from fedsieve.values import dense

NAMES = (*PAPER, *DESIGN, "digits")
SPLITS = ("Dirichlet 0.5", "IID")
TOLD = ("ranges and means", "histograms and means", "ranges alone")
N_SITES, LABELED, CONTINUOUS = 10, 0.2, 16


@cache
def data(name: str) -> tuple[Float, Int]:
    """Rows and labels."""
    found = loaded(name)
    return dense(found.X), found.Y


def parties(name: str, split: str, seed: int) -> dict[str, Float]:
    """The rows of the server and of ten sites."""
    X, Y = data(name)
    labeled, others = partition.labeled_split(Y, LABELED, seed)
    deal = partition.iid if split == "IID" else partition.dirichlet
    parts = deal(Y[others], N_SITES, random_state=seed)
    return {SERVER: X[labeled], **{f"site-{i}": X[others[part]] for i, part in enumerate(parts)}}


def facts(rows: Mapping[str, Float], told: str) -> dict[str, ColumnFacts]:
    """What the messages of a run tell of each party."""
    names = tuple(f"x{i}" for i in range(rows[SERVER].shape[1]))
    columns = Columns(names, (), "error")
    tables = {party: ArrayTable(names, X) for party, X in rows.items()}
    requests: list[Any] = [AskRanges(columns)]
    if told == "histograms and means":
        bins = bins_of(SieveMethod(names, ranges="robust"), Labeled(rows[SERVER], np.zeros((0, 1))))
        first = AskHistograms(columns, bins)
        total = sum(first.answer(table).counts for table in tables.values())
        requests = [first, AskMoments(columns, Scaling.robust(bins, total))]
    elif told == "ranges and means":
        low, high = (end.reduce([end.reduce(X, axis=0) for X in rows.values()]) for end in (np.minimum, np.maximum))
        requests.append(AskMoments(columns, Scaling(low, high)))
    found = {}
    for party, table in tables.items():
        whole = together(names, (ask.facts(ask.answer(table)) for ask in requests))
        assert whole is not None
        found[party] = whole
    return found


def alarms(name: str, split: str, seed: int, told: str) -> dict[str, int]:
    """Findings on honest sites."""
    shift = _compared(parties(name, split, seed), told)
    kinds = Counter("apart" if one.conversion is None else "unit" for one in shift.findings)
    return {"compared": shift.mean.size, "unit": kinds["unit"], "apart": kinds["apart"]}


def detections(name: str, split: str, seed: int, told: str) -> dict[str, int]:
    """All columns of many values at one site of middling size, each converted in one way: how many are found."""
    rows = parties(name, split, seed)
    many = [c for c in range(rows[SERVER].shape[1]) if len(np.unique(rows[SERVER][:, c])) > CONTINUOUS]
    odd = sorted((len(X), party) for party, X in rows.items() if party != SERVER)[N_SITES // 2][1]
    done = {column: BOTH_WAYS[(place + seed) % len(BOTH_WAYS)] for place, column in enumerate(many)}
    rows[odd] = rows[odd].copy()
    for column, conversion in done.items():
        rows[odd][:, column] = conversion.factor * rows[odd][:, column] + conversion.offset
    shift = _compared(rows, told)
    found = {one.column: one.conversion for one in shift.findings if one.party == odd}
    n_found = n_named = 0
    for column, conversion in done.items():
        if f"x{column}" in found:
            n_found += 1
            n_named += found[f"x{column}"] in alike(conversion)
    blamed = sum(one.party != odd for one in shift.findings)
    return {"converted": len(done), "found": n_found, "named": n_named, "others blamed": blamed}


def _compared(rows: Mapping[str, Float], told: str) -> Shift:
    shift = compare(facts(rows, told))
    assert shift is not None
    return shift
