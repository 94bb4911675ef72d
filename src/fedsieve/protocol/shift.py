"""How far each site's columns lie from those of the others, by replies that a run is sent anyway; asks nobody.

A table in another unit moves the order in silence; here it is named. The server's labeled rows are one more party.
Tables that are all in one place tell more than replies do: of what lies beyond robust ranges also the factor.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fedsieve.measures.column_facts import ColumnFacts, facts_of_tables, together
from fedsieve.measures.shift import Shift, compare
from fedsieve.measures.streamed_facts import facts_of_streams
from fedsieve.protocol.cohort import SERVER
from fedsieve.protocol.influence import KeptReplies
from fedsieve.protocol.method import Labeled, Method
from fedsieve.tables import Table
from fedsieve.values import dense

WORST = 10  # columns of a site that a record holds
MOST_TOLD = 20  # findings that get a warning of their own
BLOCK = 1 << 22  # values of all parties that are looked at together


def site_shift(method: Method, labeled: Labeled, kept: KeptReplies) -> Shift | None:
    """Of all parties; `None` where single replies are not seen, have noise, or tell of no single column."""
    own = method.server_table(labeled)
    said: dict[str, list[ColumnFacts]] = {SERVER: []}
    for request, facts in kept.facts:
        answer = request.facts(request.answer(own))
        if answer is not None:
            said[SERVER].append(answer)
        for site, told in facts.items():
            said.setdefault(site, []).append(told)
    parties = {name: together(method.features, parts) for name, parts in said.items()}
    known = {name: facts for name, facts in parties.items() if facts is not None}
    return compare(known, ~method.nominal_mask)


def shift_of_tables(method: Method, labeled: Labeled, tables: Mapping[str, Table]) -> Shift | None:
    """The same of tables that are all here; `None` where the method shows nobody a single one of them, as above."""
    if method.secure or method.private:
        return None
    parties, features = {SERVER: method.server_table(labeled), **tables}, method.features
    if any(table.streamed for table in tables.values()):
        return compare(facts_of_streams(parties, features), ~method.nominal_mask)
    step = max(1, BLOCK // max(1, sum(table.n_rows for table in parties.values())))
    told: dict[str, list[ColumnFacts]] = {name: [] for name in parties}
    for start in range(0, len(features), step):
        block = features[start : start + step]
        facts = facts_of_tables({name: dense(table.whole(block)) for name, table in parties.items()}, block)
        for name, part in facts.items():
            told[name].append(part)
    known = {name: whole for name, parts in told.items() if (whole := together(features, parts)) is not None}
    return compare(known, ~method.nominal_mask)


def shift_record(shift: Shift | None) -> dict[str, Any] | None:
    """As plain values: per party its worst columns and what was found."""
    if shift is None:
        return None
    record: dict[str, Any] = {}
    for place, party in enumerate(shift.parties):
        numbers = {"mean": shift.mean[place], "spread": shift.spread[place], "overlap": shift.overlap[place]}
        with np.errstate(divide="ignore"):
            far = np.fmax(np.abs(numbers["mean"]), np.abs(np.log(numbers["spread"])))
        worst = np.argsort(-np.nan_to_num(far, nan=-1.0), kind="stable")[:WORST]
        columns = [
            {"column": shift.features[i], **{name: _plain(values[i]) for name, values in numbers.items()}}
            for i in worst.tolist()
        ]
        found = [
            {"column": one.column, "factor": None, "offset": None, "words": one.words}
            | ({} if one.conversion is None else {"factor": one.conversion.factor, "offset": one.conversion.offset})
            for one in shift.findings
            if one.party == party
        ]
        record[party] = {"columns": columns, "findings": found}
    return record


def shift_words(record: dict[str, Any] | None, most: int = MOST_TOLD) -> list[str]:
    """One warning for each finding of a record, and one for those beyond the first few."""
    found = [one["words"] for party in (record or {}).values() for one in party["findings"]]
    more = len(found) - most
    return found if more <= 0 else [*found[:most], f"{more} more columns of sites look wrong as well."]


def _plain(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
