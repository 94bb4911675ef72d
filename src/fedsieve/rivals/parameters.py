"""Checks of parameters that several rivals share."""

from collections.abc import Callable
from numbers import Integral, Real

from fedsieve.errors import ParameterError


def check_whole(owner: str, name: str, value: object, least: int = 1) -> None:
    """Refuse what is no whole number of at least `least`.

    >>> check_whole("MLACO", "n_ants", 0)
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: MLACO: n_ants must be a whole number of at least 1; got 0.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(f"{owner}: {name} must be a whole number of at least {least}; got {value!r}.")


def check_number(owner: str, name: str, value: object, rule: str, holds: Callable[[float], bool]) -> None:
    """Refuse what is no number, or one for which the rule, told in words, does not hold.

    >>> check_number("FSNM", "gamma", -1.0, "above 0", lambda value: value > 0)
    Traceback (most recent call last):
    fedsieve.errors.ParameterError: FSNM: gamma must be a number above 0; got -1.0.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not holds(float(value)):
        raise ParameterError(f"{owner}: {name} must be a number {rule}; got {value!r}.")
