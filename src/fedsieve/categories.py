"""Words as codes: which words of a column count, what stands for all others, and columns that only name their rows."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from fedsieve.arrays import Float
from fedsieve.checks import check_unique
from fedsieve.errors import ParameterError, shown

Categories: TypeAlias = Mapping[str, tuple[str, ...]]
"""Per column of text its words; a word's place is its code."""
Texts: TypeAlias = Sequence[str | None]

RARE = 5  # a word in fewer rows points at single persons, and no method learns from it: it counts as other
OTHER = "other"
MAX_WORDS = 1000  # as many codes as a column may have, "other" among them
FIRST_ROWS = 1000
ENOUGH_ROWS = 20  # with fewer, numbers may all differ by chance
KEY_DIGITS = 6  # numbers that all have as many or more, equally many, and all differ: a record number
SURPRISE = 5.0  # so many equal pairs would be expected of a measured column in which no two rows are equal

_ID_WORDS = {"id", "ids", "mrn", "uuid", "guid", "ssn", "pid"}
_ID_NAMES = {"index", "idx", "rowid", "rownames", "patientid", "subjectid", "studyid", "recordid", "caseid", "sampleid"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


def common_words(parts: Iterable[Mapping[str, int]], rare: int = RARE) -> tuple[str, ...]:
    """The words that occur in at least `rare` rows over all parts, sorted, so that every machine gives them one order.

    Parts are how often each word occurs in them.

    >>> common_words([{"m": 1, "f": 2}, {"m": 1, "x": 1}], rare=2)
    ('f', 'm')
    """
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part)
    return tuple(sorted(word for word, count in counts.items() if count >= rare))


def codes(texts: Texts, words: Sequence[str]) -> tuple[Float, int]:
    """The code of each word, NaN where none is there, and how many are none of the agreed `words`: these are "other".

    >>> codes(["m", None, "?", "f"], ("f", "m"))
    (array([ 1., nan,  2.,  0.]), 1)
    """
    place: dict[str | None, float] = {word: float(code) for code, word in enumerate(words)}
    other = place.get(OTHER, float(len(words)))
    unknown = sum(text is not None and text not in place for text in texts)
    place[None] = np.nan
    return np.array([place.get(text, other) for text in texts], dtype=np.float64), unknown


def check_categories(owner: str, declared: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Words per column, if each has a list of different ones that a cell can hold.

    >>> check_categories("[categories]", {"sex": ["f", "m", "f"]})
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: [categories]: the words of 'sex' must differ; 'f' occurs twice.
    """
    for name, words in declared.items():
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            raise ParameterError(f"{owner}: {name!r} must be a list of words; got {shown(words)}.")
        if any(not word or word != word.strip() for word in words):
            raise ParameterError(f"{owner}: the words of {name!r} must not be empty, nor begin or end with blanks.")
        if len(words) >= MAX_WORDS:
            raise ParameterError(f"{owner}: {name!r} has {len(words)} words; fewer than {MAX_WORDS} are read.")
        check_unique(owner, f"the words of {name!r} must differ", words)
    return {name: tuple(words) for name, words in declared.items()}


def code_range(words: Sequence[str]) -> tuple[float, float]:
    """The smallest and the largest code, that of "other" among them; never one and the same."""
    return 0.0, float(max(1, len(words) - (OTHER in words)))


def named_like_an_id(name: str) -> bool:
    """Whether a column's name says that it names the rows; "index" is one, "body_mass_index" is not.

    >>> [named_like_an_id(name) for name in ("id", "patient_id", "PatientID", "MRN", "index", "Unnamed: 0")]
    [True, True, True, True, True, True]
    >>> [named_like_an_id(name) for name in ("covid", "uric_acid", "body_mass_index", "width", "idle", "lipid 2")]
    [False, False, False, False, False, False]
    """
    if not name.strip() or re.fullmatch(r"Unnamed: \d+|__index_level_\d+__", name):
        return True
    words = [word.lower() for word in _WORD.findall(name)]
    return "".join(words) in _ID_NAMES or bool(words and {words[0], words[-1]} & _ID_WORDS)


def is_key(values: Any) -> bool:
    """Whether a column of words or whole numbers is a key: no two rows are equal, and that is no accident.

    Words: all differ. Numbers of a measurement may all differ too; a key they are where, from values so close together,
    some would be equal by chance, or where all have the same six digits or more, as record numbers have.

    >>> is_key(np.arange(30) + 700), is_key(np.arange(30) ** 3)
    (True, False)
    """
    rows = values if isinstance(values, list) else np.asarray(values)
    for some in (rows[:FIRST_ROWS], rows):  # most columns repeat themselves soon
        known = [value for value in some if value is not None and value == value]
        if len(set(known)) < len(known):
            return False
    if len(known) < 2 or isinstance(known[0], str):
        return len(known) > 1
    if len(known) < ENOUGH_ROWS:
        return False
    low, high = int(min(known)), int(max(known))
    expected = len(known) * (len(known) - 1) / 2 / (high - low + 1)
    return expected >= SURPRISE or (low > 0 and len(str(low)) == len(str(high)) >= KEY_DIGITS)
