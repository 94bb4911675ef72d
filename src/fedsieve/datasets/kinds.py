"""What a column holds: numbers, text, dates, or what no method can use. Of pandas, polars and pyarrow alike.

Nothing here tells a value to anybody: what is wrong is said by the row's number.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from numbers import Real
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.categories import is_key

NUMBERS, TEXT, DATES, EMPTY, NEITHER = "numbers", "text", "dates", "nothing", "neither"
MOSTLY = 0.5  # a column of text in which as many or more are numbers is one of numbers, with something else in it
_DAY = np.timedelta64(1, "D")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?")
_OTHER_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})|\d{4}([./])\d{1,2}\3\d{1,2}")
_WITH_COMMAS = re.compile(r"[+-]?\d+(,\d+)*(\.\d+)?|[+-]?\d{1,3}(\.\d{3})+(,\d+)?")


@dataclass(frozen=True, eq=False)
class Column:
    """A column's kind, and its values as that kind has them.

    Numbers are as they came; text is words and None; dates are days since 1970-01-01. `words` are those that the column
    itself declares, in its order; `coded` are numbers that the column calls categories; `why` says what is NEITHER, the
    values of which are words where it could be read as text.
    """

    kind: str
    values: Any = ()
    words: tuple[str, ...] | None = None
    whole: bool = False
    coded: bool = False
    why: str = ""

    @property
    def has_words(self) -> bool:
        """Whether its values can be read as words."""
        return self.kind in (TEXT, NUMBERS) or (self.kind == NEITHER and len(self.values) > 0)

    def is_key(self) -> bool:
        """Whether no two rows have the same value, and that is no accident."""
        return is_key(self.values)

    def few_values(self) -> set[float]:
        """The different values of a column of numbers; of more than two, some."""
        values = to_numbers(self.values)
        return set(np.unique(values[~np.isnan(values)])[:3].tolist())

    def word_counts(self) -> Counter[str]:
        """How often each word occurs, numbers read as words too."""
        return Counter(word for word in as_words(self, 0) if word is not None)

    def n_cells(self) -> int:
        """How many rows there are, with a value or not."""
        return len(self.values)

    def first_row(self) -> int:
        """The first row with a value, from 1 on."""
        there = (row for row, value in enumerate(self.values, 1) if value is not None and value == value)
        return next(there)


def frame_columns(frame: Any) -> Iterator[tuple[str, Column]]:
    """The columns of a data frame, by name."""
    items = frame.items() if hasattr(frame, "items") else ((one.name, one) for one in frame.iter_columns())  # polars
    for name, series in items:
        yield name, series_column(series)


def series_column(series: Any) -> Column:
    """A pandas or polars series as a column."""
    dtype = series.dtype
    if hasattr(dtype, "is_temporal"):  # polars
        return _polars_column(series, dtype)
    gaps = np.asarray(series.isna(), dtype=bool)
    if hasattr(dtype, "categories"):
        inner = _of_objects(dtype.categories.tolist())
        if inner.kind == TEXT or all(isinstance(word, str) for word in dtype.categories):
            return _of_words(series.astype(object), dtype.categories)
        values = _of_objects(series.astype(object).tolist())
        return Column(values.kind, values.values, None, values.whole, values.kind == NUMBERS, values.why)
    if len(gaps) and gaps.all():
        return Column(EMPTY)
    if dtype.kind in "biuf":
        return Column(NUMBERS, series, whole=dtype.kind in "iu" or (dtype == np.float64 and _were_whole(series, gaps)))
    if dtype.kind == "M":
        return Column(DATES, _days(series.dt.tz_localize(None) if getattr(dtype, "tz", None) else series))
    if dtype.kind in "OUT":
        return _of_objects(series.tolist())
    return Column(NEITHER, why=f"holds {dtype}")


def _were_whole(series: Any, gaps: Any) -> bool:
    """Whether floats are whole numbers that a gap made floats of, as pandas does on reading a file."""
    known = to_numbers(series)[~gaps] if gaps.any() else np.array([np.nan])
    return bool((np.isfinite(known) & (known == np.round(known))).all())


def _of_words(values: Iterable[Any], declared: Iterable[Any]) -> Column:
    """Text whose column declares the words, also where it has none of them."""
    texts, words = stripped(values), tuple(dict.fromkeys(str(word).strip() for word in declared))
    return Column(TEXT if any(texts) else EMPTY, texts, words)


def _polars_column(series: Any, dtype: Any) -> Column:
    if str(dtype).startswith("Enum"):
        return _of_words(series.to_list(), dtype.categories)
    there = series.drop_nans() if dtype.is_float() else series
    if len(series) and there.null_count() == len(there):
        return Column(EMPTY)
    if dtype.is_numeric() or str(dtype) == "Boolean":
        return Column(NUMBERS, series, whole=dtype.is_integer())
    if str(dtype).startswith(("Date", "Datetime")):
        return Column(DATES, _days(series.to_numpy()))
    if str(dtype) in ("String", "Object") or str(dtype).startswith("Categorical"):
        found = _of_objects(series.to_list())
        coded = str(dtype).startswith("Categorical")  # whose words are text even where they look like numbers
        return Column(TEXT, stripped(series.to_list())) if coded else found
    return Column(NEITHER, why=f"holds {dtype}")


def arrow_column(column: Any) -> Column:
    """A column of a pyarrow table."""
    import pyarrow as arrow

    kinds, coded = arrow.types, arrow.types.is_dictionary(column.type)
    if coded:
        column = column.cast(column.type.value_type)
    kind = column.type
    if column.null_count == len(column):
        return Column(EMPTY)
    if kinds.is_boolean(kind) or kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        numbers = column.cast(arrow.float64(), safe=False).to_numpy()
        return Column(NUMBERS, numbers, whole=kinds.is_integer(kind), coded=coded)
    if kinds.is_date(kind) or kinds.is_timestamp(kind):
        return Column(DATES, _days(column.cast(arrow.timestamp("us"), safe=False).to_numpy()))
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind):
        words = column.to_pylist()
        return Column(TEXT, stripped(words)) if coded else of_text(words)
    return Column(NEITHER, why=f"holds {kind}")


def of_text(words: Iterable[Any]) -> Column:
    """Words as a column: text, or the numbers or dates that all of them spell out."""
    texts = stripped(words)
    found = SeenWords()
    found.add(texts, range(1, len(texts) + 1), [1] * len(texts))
    kind, whole, why = found.kind()
    if kind == EMPTY:
        return Column(EMPTY)
    if kind == NUMBERS:
        return Column(NUMBERS, numbers_of(texts), whole=whole)
    if kind == DATES:
        return Column(DATES, days_of(texts))
    return Column(kind, () if found.are_dates else texts, why=why)


class SeenWords:
    """The different words of a column, how often each occurs and where first: enough to say what they all are."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._first: dict[str, int] = {}
        self.are_dates = False  # though in a way that is not read

    def add(self, texts: Iterable[str | None], rows: Iterable[int], counts: Iterable[int]) -> None:
        """Words with the rows in which they occur first, of those that are added now, and how often they do."""
        for text, row, count in zip(texts, rows, counts, strict=True):
            if text is not None:
                self.counts[text] += count
                self._first.setdefault(text, row)

    def first_row(self) -> int:
        """Of all words."""
        return min(self._first.values())

    def kind(self) -> tuple[str, bool, str]:
        """The column's kind, whether its numbers are whole, and why it is NEITHER."""
        if not self.counts:
            return EMPTY, False, ""
        odd = [text for text in self.counts if not _is_number(text)]
        if not odd:
            return NUMBERS, all(text.lstrip("+-").isdigit() for text in self.counts), ""
        if all(_ISO.fullmatch(text) for text in self.counts):
            try:
                days_of(list(self.counts))
            except ValueError:  # the 31st of February; numpy's words would show it
                self.are_dates = True
                return NEITHER, False, "holds dates, and some that no calendar has"
            return DATES, False, ""
        if all(_ISO.fullmatch(text) or _OTHER_DATE.fullmatch(text) for text in self.counts):
            self.are_dates = True
            why = f"holds dates, first in row {self.first_row()}, that are not written as YYYY-MM-DD"
            return NEITHER, False, why
        first_odd = min(self._first[text] for text in odd)
        n_known, n_odd = self.counts.total(), sum(self.counts[text] for text in odd)
        with_commas = sum(self.counts[text] for text in odd if _WITH_COMMAS.fullmatch(text))
        if with_commas == n_odd:
            way_out = "(--decimal; pandas: decimal=',')"
            return NEITHER, False, f"holds numbers with commas, first in row {first_odd} {way_out}"
        if n_known - n_odd + with_commas >= MOSTLY * n_known:
            return NEITHER, False, f"holds text among numbers, first in row {first_odd}"
        return TEXT, False, ""


def numbers_of(texts: Iterable[str | None]) -> Float:
    """Words that are numbers, as such."""
    return np.array([np.nan if text is None else float(text) for text in texts], dtype=np.float64)


def days_of(texts: Iterable[str | None]) -> Float:
    """Words that are dates, as days since 1970-01-01."""
    return _days(np.array([text or "NaT" for text in texts], dtype="datetime64[us]"))


def to_numbers(values: Any) -> Float:
    """The values of a column of numbers as float64, NaN where one is missing."""
    numbers: Float = np.asarray(values, dtype=np.float64)
    return numbers


def as_words(column: Column, n_rows: int) -> list[str | None]:
    """The column as text, whatever its kind: numbers as people write them, 1 and not 1.0."""
    if column.kind == EMPTY:
        return [None] * n_rows
    if column.kind == NUMBERS:
        return [None if np.isnan(value) else f"{value:.15g}" for value in to_numbers(column.values)]
    return list(column.values)


def _of_objects(values: list[Any]) -> Column:
    """Python's own objects: what a frame holds in a column of mixed values, and a spreadsheet in any."""
    known = [value for value in values if not _is_missing(value)]
    if not known:
        return Column(EMPTY)
    if all(isinstance(value, Real | np.bool_) for value in known):  # True and False too
        whole = not any(isinstance(value, bool | np.bool_) or value % 1 for value in known)
        return Column(NUMBERS, np.array([np.nan if _is_missing(v) else float(v) for v in values]), whole=whole)
    if all(isinstance(value, date) for value in known):  # and times of a day, which are dates too
        return Column(DATES, _days(np.array([_moment(value) for value in values], dtype="datetime64[us]")))
    if all(isinstance(value, str | Real) for value in known):
        return of_text(None if _is_missing(value) else value for value in values)
    odd = next(row for row, value in enumerate(values, 1) if not (_is_missing(value) or isinstance(value, str | Real)))
    return Column(NEITHER, why=f"holds what is neither text nor number, first in row {odd}")


def _moment(value: Any) -> np.datetime64:
    if _is_missing(value):
        return np.datetime64("NaT", "us")
    bare = value.replace(tzinfo=None) if isinstance(value, datetime) else value
    return np.datetime64(bare, "us")


def _days(moments: Any) -> Float:
    since: Float = (np.asarray(moments, dtype="datetime64[us]") - np.datetime64("1970-01-01", "us")) / _DAY
    return since


def stripped(words: Iterable[Any]) -> list[str | None]:
    """Words without the blanks around them, None where nothing is left."""
    texts = (None if _is_missing(word) else str(word).strip() for word in words)
    return [text or None for text in texts]


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")  # of pandas, which is not imported here


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # which Python allows in numbers, and nobody else
