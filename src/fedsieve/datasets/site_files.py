"""Files of several sites beside each other, before they select together: columns, gaps, codes, copies, units."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.categories import codes, named_like_an_id
from fedsieve.checks import names_that_differ
from fedsieve.datasets.coding import Coding, why_no_feature
from fedsieve.datasets.kinds import DATES, EMPTY, NEITHER, NUMBERS, TEXT, Column, arrow_column, as_words, to_numbers
from fedsieve.datasets.scan import scan
from fedsieve.datasets.streamed_file import FileTable
from fedsieve.datasets.streams import TableStream
from fedsieve.errors import DataError, listed
from fedsieve.measures.binning import bin_counts, edges_of_points
from fedsieve.measures.column_facts import NUMBERS as FACTS
from fedsieve.measures.column_facts import ColumnFacts, facts_of_tables
from fedsieve.measures.streamed_facts import facts_of_streams
from fedsieve.protocol.checkup import checkup, findings
from fedsieve.tables import ArrayTable, StreamedTable, Table
from fedsieve.values import dense

COPIES = 0.999  # absolute correlation from which on two columns are nearly the same
MOST_COLUMNS = 2000  # that are compared with each other
MOST_COPIES = 20  # pairs that are told
FEW_CODES = 2  # different values that no column of measurements has


def compare_files(tables: Mapping[str, Any], labeled: str = "", nominal: Sequence[str] = ()) -> dict[str, Any]:
    """What is noticeable in pyarrow tables by name, as plain values; `labeled` names the one that has labels too.

    Columns that only the labeled table has are taken for its labels.
    """
    expected, labels = _expected(tables, labeled)
    absent = set(nominal) - set(expected)
    if absent:
        raise DataError(f"--nominal names {listed(sorted(absent))}, which no or few files have. Correct the names.")
    found = _values(tables, expected, nominal)
    features = tuple(expected)
    facts = _facts(found.rows, features)
    coded = np.array([name in found.codes or name in set(nominal) for name in features], dtype=bool)
    _add_codes(facts, found.rows, coded)
    report = checkup(facts, coded)
    for name, table in tables.items():
        own = [column for column in table.column_names if column not in labels]
        differ = names_that_differ(expected, own)
        missing, extra = ([one for one in names if not named_like_an_id(one)] for names in differ)  # ids may differ
        party = report["parties"][name]
        unread = found.unread(name).union(*differ)
        gaps = {column: share for column, share in party["missing"].items() if column not in unread}
        party |= {"missing": gaps, "columns_missing": missing, "columns_extra": extra}
    report |= {
        "labels": labels,
        "left_out": found.left_out,
        "mixed": found.mixed,
        "odd": found.odd,
        "free_text": found.free,
        "copies": _copies(list(found.rows.values()), features, coded),
    }
    return {**report, "findings": [*_of_columns(report), *findings(report)]}


def _expected(tables: Mapping[str, Any], labeled: str) -> tuple[list[str], list[str]]:
    """The columns that all should have, and the labels: those of the labeled table, else those of most files."""
    others = {name: set(table.column_names) for name, table in tables.items() if name != labeled}
    if labeled:
        at_sites = set().union(*others.values())
        own = tables[labeled].column_names
        return [name for name in own if name in at_sites], [name for name in own if name not in at_sites]
    seen = dict.fromkeys(name for table in tables.values() for name in table.column_names)
    return [name for name in seen if 2 * sum(name in own for own in others.values()) > len(others)], []


@dataclass(frozen=True)
class _Values:
    """All expected columns of each file as numbers, NaN where there are none to be compared."""

    rows: dict[str, Table]
    codes: set[str] = field(default_factory=set)  # columns of categories, by number
    free: list[str] = field(default_factory=list)  # columns whose text differs from row to row
    mixed: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # column -> kind -> files; not the same in all
    odd: dict[str, dict[str, str]] = field(default_factory=dict)  # file -> column -> why nobody can read it
    left_out: dict[str, str] = field(default_factory=dict)  # column -> why it is not compared

    def unread(self, name: str) -> set[str]:
        """Columns that have no numbers in this file, though they may have values."""
        other = {
            column
            for column, kinds in self.mixed.items()
            if any(name in files for kind, files in kinds.items() if kind != NUMBERS)
        }
        return {*self.free, *self.left_out, *self.odd.get(name, ()), *other}


def _values(tables: Mapping[str, Any], expected: list[str], nominal: Sequence[str]) -> _Values:
    found = _Values({})
    scanned = {name: _columns(table, expected) for name, table in tables.items()}
    numbers: dict[str, dict[str, Float]] = {name: {} for name in tables}
    words: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in tables}
    for column in expected:
        known = {name: columns[column] for name, columns in scanned.items() if column in columns}
        known = {name: one for name, one in known.items() if one.kind != EMPTY}
        readable, every = _readable(column, known, column in nominal, found)
        for name in readable:
            if every:
                words[name][column] = every
            if not isinstance(tables[name], TableStream):
                one = known[name]
                texts = as_words(one, 0) if every else []
                numbers[name][column] = codes(texts, every)[0] if every else to_numbers(one.values)
            else:
                numbers[name][column] = np.zeros(0)
    for name, table in tables.items():
        if isinstance(table, TableStream):
            file = FileTable(table, scanned[name], Coding(words[name]), list(numbers[name]))
            found.rows[name] = _WithGaps(file, tuple(expected))
        else:
            gap = np.full(table.num_rows, np.nan)
            columns = [numbers[name].get(column, gap) for column in expected]
            found.rows[name] = ArrayTable(tuple(expected), np.column_stack([gap, *columns])[:, 1:])
    return found


def _columns(table: Any, expected: list[str]) -> Mapping[str, Column]:
    there = [column for column in expected if column in table.column_names]
    if isinstance(table, TableStream):
        return scan(table, there)
    return {column: arrow_column(table.column(column)) for column in there}


class _WithGaps(StreamedTable):
    """A file's columns of numbers, and in all others no value."""

    def __init__(self, file: FileTable, names: tuple[str, ...]) -> None:
        self.names, self.n_rows, self._file = names, file.n_rows, file

    def parts(self, columns: Sequence[str], size: int) -> Iterator[Float]:
        """Those of the file."""
        there = [name for name in columns if name in self._file.names]
        place = [list(columns).index(name) for name in there]
        for part in self._file.parts(there, size) if there else self._nothing(size):
            rows = np.full((len(part), len(columns)), np.nan)
            rows[:, place] = part
            yield rows

    def _nothing(self, size: int) -> Iterator[Float]:
        return (np.empty((min(size, self.n_rows - start), 0)) for start in range(0, self.n_rows, size))


def _facts(tables: Mapping[str, Table], features: tuple[str, ...]) -> dict[str, ColumnFacts]:
    if any(table.streamed for table in tables.values()):
        return facts_of_streams(tables, features)
    whole = {name: dense(table.whole(features)) for name, table in tables.items()}
    return facts_of_tables({name: np.where(np.isinf(rows), np.nan, rows) for name, rows in whole.items()}, features)


def _readable(
    column: str, known: Mapping[str, Column], nominal: bool, found: _Values
) -> tuple[list[str], tuple[str, ...]]:
    """The files whose values of a column are numbers that can be compared, or words, which are told; notes the rest."""
    kinds: dict[str, list[str]] = {}
    for name, one in known.items():
        kinds.setdefault(TEXT if nominal and one.kind == NEITHER and one.has_words else one.kind, []).append(name)
    if not nominal and (named_like_an_id(column) or set(kinds) == {NUMBERS}) and (why := why_no_feature(column, known)):
        found.left_out[column] = why
        return [], ()
    for name in kinds.pop(NEITHER, ()):
        found.odd.setdefault(name, {})[column] = known[name].why
    if set(kinds) == {DATES}:
        found.left_out[column] = "holds dates"
        return [], ()
    if TEXT in kinds and (nominal or len(kinds) == 1):
        return _worded(column, {name: known[name] for names in kinds.values() for name in names}, found)
    if len(kinds) > 1:
        found.mixed[column] = kinds
    if kinds and all(one.coded for one in known.values()):
        found.codes.add(column)
    return kinds.get(NUMBERS, []), ()


def _worded(column: str, known: Mapping[str, Column], found: _Values) -> tuple[list[str], tuple[str, ...]]:
    """Categories, by their words and so the same for all files; unless they are free text."""
    counts = [one.word_counts() for one in known.values()]
    every = sorted(set().union(*counts))
    if 2 * len(every) > sum(one.n_cells() for one in known.values()):
        found.free.append(column)
        return [], ()
    found.codes.add(column)
    return list(known), tuple(every)


def _add_codes(facts: dict[str, ColumnFacts], tables: Mapping[str, Table], coded: Bool) -> None:
    """Count codes one by one: of nominal columns, and of those that have two values at most in every file."""
    features = next(iter(facts.values())).features if facts else ()
    bins: dict[str, list[Any]] = {name: [None] * len(coded) for name in facts}
    points = {name: _points(table, features, coded) for name, table in tables.items()}
    for place in range(len(coded)):
        own = [points[name][place] for name in tables]
        every = np.unique(np.concatenate([part for part in own if part is not None] or [np.zeros(0)]))
        if len(every) and all(part is not None for part in own):
            edges = edges_of_points(every)
            for name in tables:
                bins[name][place] = (edges, np.zeros(len(edges) + 1, dtype=np.int64))
    for name, table in tables.items():
        counted = [place for place, part in enumerate(bins[name]) if part is not None]
        for batch in table.batches([features[place] for place in counted]) if counted else ():
            for place, column in zip(counted, dense(batch).T, strict=True):
                edges, counts = bins[name][place]
                bins[name][place] = edges, counts + bin_counts(column, edges)
    for name, one in facts.items():
        numbers = {part: getattr(one, part) for part in FACTS}
        facts[name] = ColumnFacts.of(one.features, one.n_rows, bins[name], **numbers)


def _points(table: Table, features: Sequence[str], coded: Bool) -> list[Float | None]:
    """The different values of each column, `None` where a column that is not coded has too many of them."""
    found: list[Float | None] = [np.zeros(0) for _ in features]
    for batch in table.batches(features):
        for place, column in enumerate(dense(batch).T):
            known = found[place]
            if known is not None:
                known = np.unique(np.concatenate([known, column[~np.isnan(column)]]))
                found[place] = known if coded[place] or len(known) <= FEW_CODES else None
    return found


def _copies(parties: list[Table], features: tuple[str, ...], coded: Bool) -> list[list[str]]:
    """Pairs of columns that are nearly the same up to their unit, wherever both vary."""
    if len(features) > MOST_COLUMNS:
        return []
    alike = np.zeros((len(features), len(features)), dtype=bool)
    unlike = alike.copy()
    for rows in parties:
        same, both = _same(rows, features)
        alike |= both & same
        unlike |= both & ~same
    first, second = np.nonzero(np.triu(alike & ~unlike, 1) & ~coded & ~coded[:, None])
    return [[features[i], features[j]] for i, j in zip(first, second, strict=True)]


def _same(table: Table, features: tuple[str, ...]) -> tuple[Bool, Bool]:
    """Which two columns are nearly the same in the rows that have both, and which two vary there at all."""
    total, count = np.zeros((2, len(features)))
    for batch in table.batches(features):
        rows = dense(batch)
        present = ~np.isnan(rows)
        total += np.where(present, rows, 0.0).sum(axis=0)
        count += present.sum(axis=0)
    mean = total / np.maximum(count, 1)
    n, sums, squares, products = np.zeros((4, len(features), len(features)))
    for batch in table.batches(features):
        rows = dense(batch)
        present = ~np.isnan(rows)
        centered, here = np.where(present, rows - mean, 0.0), present.astype(np.float64)
        n += here.T @ here
        sums += centered.T @ here
        squares += (centered**2).T @ here
        products += centered.T @ centered
    n = np.maximum(n, 1)
    spread = np.maximum(squares - sums**2 / n, 0.0)  # of the first of two
    products = np.abs(products - sums * sums.T / n)
    most = np.sqrt(spread * spread.T)
    both = most > 1e-12 * np.sqrt(squares * squares.T)  # beyond rounding
    return products >= COPIES * most, both


def _of_columns(report: Mapping[str, Any]) -> list[str]:
    """A sentence for each thing about columns as such."""
    words = []
    for name, party in report["parties"].items():
        for what, verb in (("columns_missing", "lacks"), ("columns_extra", "alone has")):
            if party[what]:
                words.append(f"{name}: {verb} the columns {listed(party[what])}.")
    copies = report["copies"]
    for column in report["free_text"]:
        words.append(f"column {column!r} holds text of its own in most rows: an ID, or free text?")
    for column, kinds in report["mixed"].items():
        *few, (usual, _) = sorted(kinds.items(), key=lambda kind: (len(kind[1]), kind[0] == NUMBERS))
        told = "".join(f"{kind} in {listed(where)}, " for kind, where in few)
        words.append(f"column {column!r} holds {told}{usual} elsewhere.")
    for name, columns in report["odd"].items():
        words += [f"{name}: column {column!r} {why}." for column, why in columns.items()]
    words += [f"columns {first!r} and {second!r} are nearly the same." for first, second in copies[:MOST_COPIES]]
    more = len(copies) - MOST_COPIES
    return [*words, f"{more} more pairs of columns are nearly the same."] if more > 0 else words
