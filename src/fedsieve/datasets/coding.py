"""How the columns of several tables become numbers, decided once for all of them, before anybody computes.

Text becomes codes by one list of words; dates, where declared, days; what only names the rows is left out.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.categories import RARE, Categories, code_range, codes, common_words, named_like_an_id
from fedsieve.checks import check_known
from fedsieve.datasets.kinds import DATES, EMPTY, NEITHER, NUMBERS, TEXT, Column, as_words, to_numbers
from fedsieve.errors import DataError, FedSieveWarning, listed
from fedsieve.measures.bulk import in_bulk
from fedsieve.messages.columns import ROBUST
from fedsieve.messages.encoding import LARGEST_CODE, MAX_CODES
from fedsieve.tables import Table
from fedsieve.values import dense

ENCODE = "Encode it in numbers, the same at all sites, or leave it out."


@dataclass(frozen=True)
class Declared:
    """What a user said of the columns: which are dates, which hold codes, which are no ids, and words of text."""

    dates: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categories: Categories = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """All columns that are declared to be something, and so no ids."""
        return {*self.dates, *self.nominal, *self.keep, *self.categories}


@dataclass(frozen=True)
class Coding:
    """What was decided: the words of text columns, numbers that are codes, dates, and columns that are left out.

    Of the columns in `fixed` somebody declared the words; of the others rare words were left out on purpose.
    """

    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()
    coded: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)  # column -> why

    def nominal(self, declared: Iterable[str] = ()) -> tuple[str, ...]:
        """All columns whose values are codes, those that were declared first."""
        return tuple(name for name in dict.fromkeys([*declared, *self.categories, *self.coded]) if self.has(name))

    def has(self, name: str) -> bool:
        """Whether the column takes part."""
        return name not in self.left_out

    def ranges(
        self, ranges: Any, nominal: Iterable[str], tables: Iterable[Table], *, encodes_codes: bool
    ) -> dict[str, Any]:
        """A method's `ranges`, and `bounds` where robust ones need them; the first table has the labeled rows.

        They are of words and codes, all of which no site has nor need the labeled rows have, and of columns of which
        the labeled rows have no value.
        """
        of_words = {name: code_range(words) for name, words in self.categories.items()}
        if isinstance(ranges, Mapping):
            return {"ranges": {**dict.fromkeys(self.left_out, (0.0, 0.0)), **of_words, **ranges}}
        if ranges != ROBUST:
            return {"ranges": ranges}
        every, codes = list(tables), tuple(nominal)
        bounds = _bounds_elsewhere(every, set(codes))
        return {
            "ranges": ranges,
            "bounds": bounds | ({**_code_bounds(codes, every), **of_words} if encodes_codes else {}),
        }

    def numbers(self, owner: str, name: str, column: Column, n_rows: int) -> tuple[Float, int]:
        """The column's values as numbers, and how many words of it are none of the declared ones."""
        if name in self.categories:
            if column.kind != EMPTY and not column.has_words:
                raise not_numbers(owner, name, column, "text")
            numbers, unknown = codes(as_words(column, n_rows), self.categories[name])
            return numbers, unknown if name in self.fixed else 0
        if column.kind == EMPTY:
            return np.full(n_rows, np.nan), 0
        if column.kind == NUMBERS or (column.kind == DATES and name in self.dates):
            return to_numbers(column.values), 0
        raise not_numbers(owner, name, column)


def decide(
    tables: Mapping[str, Mapping[str, Column]], features: Sequence[str], declared: Declared, *, takes_text: bool = True
) -> Coding:
    """From the columns of all tables there are, by owner; the first table has the labeled rows.

    A column is left out if it is named like an id or is a key in every table. A word in fewer than `RARE` rows of all
    tables counts as "other", unless the column of the labeled rows or the user declares the words; those of the column
    come first, and common ones of other tables after them.
    """
    check_known(next(iter(tables)), "dates (--dates) names", declared.dates, set(features))
    categories: dict[str, tuple[str, ...]] = {}
    left_out: dict[str, str] = {}
    coded, fixed = [], []
    for name in features:
        columns = {owner: table[name] for owner, table in tables.items()}
        if name not in declared.names and (why := why_no_feature(name, columns)):
            left_out[name] = why
            continue
        kind = _kind(name, columns, declared)
        if kind == TEXT:
            if not takes_text:
                odd = next(who for who, column in columns.items() if column.kind not in (NUMBERS, EMPTY))
                raise not_numbers(odd, name, columns[odd])
            words, own = declared.categories.get(name), next(iter(columns.values())).words
            if words or own:
                fixed.append(name)
            if not words:
                common = common_words(column.word_counts() for column in columns.values())
                words = tuple(dict.fromkeys([*(own or ()), *common]))
            if words:
                categories[name] = tuple(words)
            elif name in declared.names:
                raise DataError(
                    f"{next(iter(tables))}: column {name!r} is to be kept, but no word in it occurs in {RARE} rows or "
                    "more, so that nothing can be learned from it. Leave it out, or put its words into fewer groups."
                )
            else:
                left_out[name] = f"no word in it occurs in {RARE} rows or more"
        elif kind == NUMBERS and next(iter(columns.values())).coded:
            coded.append(name)
    coding = Coding(categories, tuple(fixed), tuple(coded), declared.dates, left_out)
    if len(left_out) == len(features):
        raise DataError(f"{next(iter(tables))}: no column is left that can be used: {reasons_listed(coding.left_out)}.")
    return coding


def _code_bounds(nominal: Iterable[str], tables: Sequence[Table]) -> dict[str, tuple[float, float]]:
    """The smallest and the largest code of each column in all tables; what is no code is left for its owner to refuse.

    So are codes too far from those of the tables before. One code alone, and columns that a table lacks, have none.
    """
    names = [name for name in nominal if all(name in table.names for table in tables)]
    low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    for table in tables if names else ():
        own_low, own_high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
        for batch in table.batches(names):
            values = dense(batch)
            is_code = (values == np.round(values)) & (np.abs(values) <= LARGEST_CODE)
            own_low = np.minimum(own_low, np.where(is_code, values, np.inf).min(axis=0, initial=np.inf))
            own_high = np.maximum(own_high, np.where(is_code, values, -np.inf).max(axis=0, initial=-np.inf))
        wider = np.minimum(low, own_low), np.maximum(high, own_high)
        takes = np.logical_or(table is tables[0], wider[1] - wider[0] < MAX_CODES)
        low, high = np.where(takes, wider[0], low), np.where(takes, wider[1], high)
    ends = zip(names, low.tolist(), high.tolist(), strict=True)
    return {name: (least, most) for name, least, most in ends if least < most}


def _bounds_elsewhere(tables: Sequence[Table], codes: set[str]) -> dict[str, tuple[float, float]]:
    """Of the columns without a value in the first table, between which the bulk of the others' values lies."""
    labeled, *others = tables
    unknown: Bool = np.all(np.isnan(dense(labeled.whole(labeled.names))), axis=0)
    bounds = {}
    for name in (name for name, empty in zip(labeled.names, unknown, strict=True) if empty and name not in codes):
        values = np.concatenate([np.zeros(0), *(dense(table.whole([name])).ravel() for table in others)])
        near = values[in_bulk(values[:, None]).ravel() & np.isfinite(values)]
        if len(near) and near.min() < near.max():
            bounds[name] = (float(near.min()), float(near.max()))
    return bounds


def reasons_listed(left_out: Mapping[str, str]) -> str:
    """Which columns are left out, and why; columns of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by_reason.setdefault(why, []).append(name)
    return "; ".join(f"{listed(names)}: {why}" for why, names in by_reason.items())


def unknown_words(owner: str, counts: Mapping[str, int]) -> str:
    """How many words of which columns are none of the known ones; the words themselves are nobody's business."""
    told = ", ".join(f"{count} in {name!r}" for name, count in counts.items())
    return f"{owner}: words that are none of the agreed categories count as 'other': {told}."


def warn_of(message: str) -> None:
    """Warn about columns, on behalf of whoever called a selector."""
    warnings.warn(message, FedSieveWarning, stacklevel=2)


def why_no_feature(name: str, columns: Mapping[str, Column]) -> str:
    """Why a column only names its rows, in all tables there are; empty where it does not."""
    known = [column for column in columns.values() if column.kind != EMPTY]
    if named_like_an_id(name) and not _yes_or_no(known):
        return "named like an id"
    may_be = all(column.kind == TEXT or (column.kind == NUMBERS and column.whole) for column in known)
    return "differs in every row, as an id does" if known and may_be and all(c.is_key() for c in known) else ""


def _yes_or_no(columns: Sequence[Column]) -> bool:
    """Whether it is 0 and 1, both of them: no name of a row, whatever it is called."""
    found: set[float] = set()
    n_rows = 0
    for column in columns:
        if column.kind != NUMBERS:
            return False
        found |= column.few_values()
        n_rows += column.n_cells()
    return found == {0.0, 1.0} and n_rows > len(found)


def not_numbers(owner: str, name: str, column: Column, wanted: str = "numbers") -> DataError:
    """Say what a column holds instead of numbers, and where; never the value."""
    what = column.why or f"holds {column.kind}, first in row {column.first_row()}, no {wanted}"
    return DataError(f"{owner}: column {name!r} {what}. {ENCODE}")


def _kind(name: str, columns: Mapping[str, Column], declared: Declared) -> str:
    """What the column is at all tables, or why they do not go together."""
    if name in declared.categories:
        return TEXT
    kinds = {owner: column.kind for owner, column in columns.items() if column.kind != EMPTY}
    if name in declared.nominal and not {TEXT, NEITHER}.isdisjoint(kinds.values()):  # 1, 2, 3a: all of it is words
        kinds = {owner: TEXT if columns[owner].has_words else kind for owner, kind in kinds.items()}
    first = next(iter(kinds.values()), NUMBERS)
    for owner, kind in kinds.items():
        if kind == NEITHER or (first == NUMBERS and kind != first):
            raise not_numbers(owner, name, columns[owner])
        if kind == DATES and name not in declared.dates:
            raise DataError(
                f"{owner}: column {name!r} holds dates, first in row {columns[owner].first_row()}. Leave it out "
                f"(--drop), or have it read as days since 1970-01-01: dates=[{name!r}] (--dates)."
            )
        if kind == TEXT and name in declared.dates:
            raise DataError(
                f"{owner}: column {name!r} is named in dates (--dates), but holds text, first in row "
                f"{columns[owner].first_row()}. Write dates as YYYY-MM-DD, or take it out of dates."
            )
        if kind != first:
            one = next(iter(kinds))
            raise DataError(
                f"{one}: column {name!r} holds {first}, that of {owner} {kind}. Write it alike at all sites."
            )
    return first
