"""Checks of numbers, choices and names that users give; a failed check raises `ParameterError`.

`owner` begins the message (a method, a file); it may be empty where `name` says enough.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from math import inf
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from fedsieve.errors import ParameterError, listed, not_one_of, occur_twice, shown

Rule: TypeAlias = tuple[str, Callable[[float], bool]]
"""What a number must be, in words and as a test."""
ABOVE_ZERO: Rule = "a number above 0", lambda value: 0 < value < inf
AT_LEAST_ZERO: Rule = "a number of at least 0", lambda value: 0 <= value < inf


_OWN: tuple[tuple[Any, type], ...] = ((bool, bool), (np.bool_, bool), (Integral, int), (Real, float), (str, str))
"""Python's own type for each kind of value, the first that fits."""


def plain(value: Any) -> Any:
    """A parameter as Python's own number, truth value or text, also inside arrays, lists, tuples and mappings.

    Parameters come from grids and tables, as numpy's types; formulas, files and other parties meet Python's only.

    >>> import numpy as np
    >>> plain({"k": np.int64(5), "names": [np.str_("age")], "secure": np.bool_(False), "lam": np.float32(0.5)})
    {'k': 5, 'names': ['age'], 'secure': False, 'lam': 0.5}
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {plain(key): plain(entry) for key, entry in value.items()}
    if type(value) in (list, tuple):
        return type(value)(plain(entry) for entry in value)
    own: type | None = next((own for kind, own in _OWN if isinstance(value, kind)), None)
    return value if own is None else own(value)


def is_whole(value: Any) -> bool:
    """Whether it is a whole number of any integral type; True and False are not.

    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether it is a real number; True and False are not.

    >>> is_number(3), is_number("3"), is_number(True)
    (True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def check_count(owner: str, name: str, value: Any, low: int = 1, high: int | None = None, high_is: str = "") -> None:
    """Refuse what is no whole number in [low, high]; `high_is` tells the reader where `high` comes from.

    >>> check_count("MLACO", "n_ants", 0)
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: MLACO: n_ants must be a whole number of at least 1; got 0.
    >>> check_count("Sieve", "n_features_to_select", 9, 1, 8, "n_features=")
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: Sieve: n_features_to_select must be a whole number in [1, n_features=8]; got 9.
    """
    if is_whole(value) and low <= int(value) and (high is None or int(value) <= high):
        return
    rule = f"a whole number of at least {low}" if high is None else f"a whole number in [{low}, {high_is}{high}]"
    raise _refused(owner, name, rule, value)


def check_n_features(
    owner: str,
    value: Any,
    n_features: int,
    high_is: str = "n_features=",
    words: tuple[str, ...] = (),
    name: str = "n_features_to_select",
) -> None:
    """Refuse what says not how many features to select: None, a number, a share, or one of some words.

    >>> check_n_features("Sieve", 1.5, 8, words=("auto",))
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: Sieve: n_features_to_select must be a whole number in [1, n_features=8], a share \
between 0 and 1, or "auto"; got 1.5.
    """
    if value is None or (isinstance(value, str) and value in words):
        return
    if (is_whole(value) and 1 <= value <= n_features) or (is_share(value) and 0 < value < 1):
        return
    last = "".join(f', or "{word}"' for word in words)
    rule = f"a whole number in [1, {high_is}{n_features}], {'' if last else 'or '}a share between 0 and 1{last}"
    raise _refused(owner, name, rule, value)


def is_share(value: Any) -> bool:
    """Whether it is a number that is written as a fraction, as 0.3 is.

    >>> is_share(0.3), is_share(1), is_share(True)
    (True, False, False)
    """
    return is_number(value) and not isinstance(value, Integral)


def check_number(owner: str, name: str, value: Any, rule: str, holds: Callable[[float], bool]) -> None:
    """Refuse what is no number, or one for which the rule, told in words, does not hold.

    >>> check_number("FSNM", "gamma", -1.0, *ABOVE_ZERO)
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: FSNM: gamma must be a number above 0; got -1.0.
    """
    if not is_number(value) or not holds(float(value)):
        raise _refused(owner, name, rule, value)


def check_choice(owner: str, name: str, value: Any, allowed: Collection[str]) -> None:
    """Refuse a value that is not among the allowed ones.

    >>> check_choice("SSFMLFS", "wire", "carrier pigeon", ("statistics", "vectors"))
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: SSFMLFS: wire must be one of 'statistics', 'vectors'; got 'carrier pigeon'.
    """
    if value not in allowed:
        raise not_one_of(owner, name, allowed, value)


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once, in the order of their first occurrence.

    >>> repeated(["b", "a", "b", "a", "c"])
    ['b', 'a']
    """
    return [name for name, count in Counter(names).items() if count > 1]


def names_that_differ(expected: Iterable[str], got: Iterable[str]) -> tuple[list[str], list[str]]:
    """The names that are missing and those that are too many, each in its own order.

    >>> names_that_differ(["a", "b", "c"], ["d", "c", "a"])
    (['b'], ['d'])
    """
    expected, got = dict.fromkeys(expected), dict.fromkeys(got)
    return [name for name in expected if name not in got], [name for name in got if name not in expected]


def check_unique(owner: str, rule: str, names: Iterable[str], way_out: str = "") -> None:
    """Refuse names that occur twice; `rule` says in words that they must not.

    >>> check_unique("Sieve", "feature names must differ", ["age", "dose", "age"], "Rename them.")
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: Sieve: feature names must differ; 'age' occurs twice. Rename them.
    """
    if twice := sorted(repeated(names)):
        raise ParameterError(f"{owner}: {rule}; {occur_twice(twice)}. {way_out}".rstrip())


def check_list(owner: str, name: str, entries: Any, of: str = "features") -> None:
    """Refuse what is no list of names; a text would be taken for a list of letters.

    >>> check_list("Sieve", "nominal", "sex")
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: Sieve: nominal must be a list of features; got 'sex'. For one write ['sex'].
    """
    if isinstance(entries, str):
        one = f" For one write [{shown(entries)}]." if of == "features" else ""
        raise ParameterError(f"{owner}: {name} must be a list of {of}; got {shown(entries)}.{one}")
    if not isinstance(entries, Iterable):
        raise ParameterError(f"{owner}: {name} must be a list of {of}; got {shown(entries)}.")


def check_known(owner: str, what: str, names: Iterable[object], known: Collection[str]) -> None:
    """Refuse names of features that are not there; `what` is the subject and the verb.

    >>> check_known("Sieve", "nominal names", ["sex"], ("age", "dose"))
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: Sieve: nominal names no such feature: 'sex'.
    """
    if unknown := [str(name) for name in names if name not in known]:
        raise ParameterError(f"{owner}: {what} no such feature: {listed(unknown)}.")


def _refused(owner: str, name: str, rule: str, value: Any) -> ParameterError:
    subject = f"{owner}: {name}" if owner else name
    return ParameterError(f"{subject} must be {rule}; got {shown(value)}.")
