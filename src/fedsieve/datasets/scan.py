"""What the columns of a streamed file hold, found in one pass over it: the kinds that `kinds` finds of a whole table.

Kept are the different words of text and, of whole numbers, eight bytes per row as long as no two rows are equal: that
is how an id is known. All else is a few numbers per column.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.categories import is_key
from fedsieve.datasets.kinds import (
    DATES,
    EMPTY,
    NEITHER,
    NUMBERS,
    TEXT,
    Column,
    SeenWords,
    arrow_column,
    as_words,
    days_of,
    numbers_of,
    stripped,
    to_numbers,
)
from fedsieve.datasets.streams import TableStream
from fedsieve.tables import STREAMED_VALUES


@dataclass(frozen=True, eq=False)
class ScannedColumn(Column):
    """A column that went by; `again` goes through it once more, for what few columns are asked."""

    n_rows: int = 0
    first: int = 0
    seen: SeenWords | None = None
    different: bool = False
    again: Callable[[], Iterator[Column]] = field(default=lambda: iter(()))

    @property
    def has_words(self) -> bool:
        """As that of a whole column: of dates that cannot be read none are kept."""
        known = self.seen is not None and not self.seen.are_dates
        return self.kind in (TEXT, NUMBERS) or (self.kind == NEITHER and known)

    def is_key(self) -> bool:
        """Words by their counts; numbers are read again, if no two were equal."""
        if self.kind == TEXT and self.seen is not None:
            counts = self.seen.counts
            return len(counts) > 1 and counts.total() == len(counts)
        return self.different and is_key(np.concatenate([to_numbers(part.values) for part in self.again()]))

    def few_values(self) -> set[float]:
        """In a pass of its own: few columns are asked."""
        found: set[float] = set()
        for part in self.again():
            found |= part.few_values()
            if len(found) > 2:
                break
        return found

    def word_counts(self) -> Counter[str]:
        """As they were counted, numbers in a pass of their own."""
        if self.seen is not None and self.kind != NUMBERS:
            return self.seen.counts
        counts: Counter[str] = Counter()
        for part in self.again():
            counts.update(word for word in as_words(part, 0) if word is not None)
        return counts

    def n_cells(self) -> int:
        """As many as went by."""
        return self.n_rows

    def first_row(self) -> int:
        """As it was seen."""
        return self.first


def scan(stream: TableStream, columns: Sequence[str]) -> dict[str, Column]:
    """What these columns hold."""
    going_by = {name: _GoingBy() for name in columns}
    for table in stream.batches(columns, max(1, STREAMED_VALUES // max(1, len(columns)))):
        for name, one in going_by.items():
            one.add(table.column(name))
    return {name: one.column(partial(_again, stream, name, one.kind()[0])) for name, one in going_by.items()}


def part_of(cells: Any, kind: str) -> Column:
    """A part of a column of which all is of this kind."""
    if not _is_text(cells.type):
        return arrow_column(cells)
    words, place, _, _ = different_texts(cells)
    if kind == NUMBERS:
        return Column(NUMBERS, numbers_of(words)[place])
    if kind == DATES:
        return Column(DATES, days_of(words)[place])
    return Column(kind, np.array(words, dtype=object)[place].tolist())


def different_texts(cells: Any) -> tuple[list[str | None], Int, Int, Int]:
    """The different words of a part, without blanks around them; per row the place among them, and per word its first
    row, from 0 on, and how often it occurs. The last one is None, for cells without."""
    if hasattr(cells, "combine_chunks"):
        cells = cells.combine_chunks()
    if hasattr(cells, "num_chunks"):  # of no chunk at all
        cells = cells.chunk(0) if cells.num_chunks else cells
    encoded = cells.dictionary_encode()
    words = [*encoded.dictionary.to_pylist(), None]
    place = encoded.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
    found, first, counts = np.unique(place, return_index=True, return_counts=True)
    firsts, how_often = np.zeros((2, len(words)), dtype=np.int64)
    firsts[found], how_often[found] = first, counts
    return stripped(words), place, firsts, how_often


def unknown_counts(
    columns: Mapping[str, Column], fixed: Sequence[str], words: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """How many words of columns whose words were declared are none of these."""
    found = {}
    for name in fixed:
        known = set(words[name])
        n_unknown = sum(count for word, count in columns[name].word_counts().items() if word not in known)
        if n_unknown:
            found[name] = n_unknown
    return found


def _again(stream: TableStream, name: str, kind: str) -> Iterator[Column]:
    return (part_of(table.column(name), kind) for table in stream.batches([name], STREAMED_VALUES))


class _GoingBy:
    """One column, a part at a time."""

    def __init__(self) -> None:
        self._n_rows = self._first = 0
        self._whole = self._coded = False
        self._type = ""
        self._words: SeenWords | None = None
        self._numbers: list[Int | Float] | None = []  # None: two rows are equal, or they are not looked at

    def add(self, cells: Any) -> None:
        """The next rows."""
        import pyarrow as arrow

        self._coded = arrow.types.is_dictionary(cells.type)
        if self._coded:
            cells = cells.cast(cells.type.value_type)
        if _is_text(cells.type):
            self._add_text(cells)
        elif cells.null_count < len(cells):
            column = arrow_column(cells)
            self._type, self._whole = (column.kind, column.whole) if column.kind != NEITHER else (column.why, False)
            if not self._first and column.kind in (NUMBERS, DATES):
                known = np.flatnonzero(~np.isnan(to_numbers(column.values)))
                self._first = self._n_rows + int(known[0]) + 1 if len(known) else 0
            self._look_for_equals(column)
        self._n_rows += len(cells)

    def _add_text(self, cells: Any) -> None:
        self._words = self._words or SeenWords()
        words, _, first, counts = different_texts(cells)
        there = np.flatnonzero(counts).tolist()
        self._words.add(
            [words[i] for i in there],
            [self._n_rows + int(first[i]) + 1 for i in there],
            [int(counts[i]) for i in there],
        )

    def _look_for_equals(self, column: Column) -> None:
        if self._numbers is None:
            return
        values = to_numbers(column.values)
        known = values[~np.isnan(values)]
        self._numbers.append(known)
        together = np.concatenate(self._numbers) if len(self._numbers) & (len(self._numbers) - 1) == 0 else known
        if not column.whole or len(np.unique(together)) < len(together):
            self._numbers = None

    def kind(self) -> tuple[str, bool, str]:
        """The kind, whether numbers are whole, and why it is NEITHER."""
        if self._words is not None:
            kind, whole, why = self._words.kind()
            return (TEXT, False, "") if self._coded and kind != EMPTY else (kind, whole, why)
        if not self._type:
            return EMPTY, False, ""
        if self._type in (NUMBERS, DATES):
            return self._type, self._whole, ""
        return NEITHER, False, self._type

    def column(self, again: Callable[[], Iterator[Column]]) -> Column:
        """All that is known of it now."""
        kind, whole, why = self.kind()
        is_text, words = self._words is not None, self._words
        first = words.first_row() if words is not None and words.counts else self._first
        different = self._numbers is not None
        if words is not None and kind == NUMBERS:
            different = whole and words.counts.total() == len(words.counts)
        return ScannedColumn(
            kind,
            (),
            None,
            whole,
            self._coded and kind == NUMBERS and not is_text,
            why,
            n_rows=self._n_rows,
            first=first,
            seen=words,
            different=different and kind == NUMBERS,
            again=again,
        )


def _is_text(kind: Any) -> bool:
    import pyarrow as arrow

    return bool(arrow.types.is_string(kind) or arrow.types.is_large_string(kind) or arrow.types.is_string_view(kind))
