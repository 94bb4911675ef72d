"""Messages of every declared kind, made from the types of their fields, so that a new message has examples at once."""

import dataclasses
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from fedsieve import messages as m
from fedsieve.arrays import Bytes, Float, Int

NAMES = ("age", "", "größe", "体重", "🦠", 'quote"and\\slash', "\n")
VALUES = np.linspace(-1, 1, len(NAMES))
FULL = {
    int: 9,
    str: "größer als 体 🦠",
    tuple[str, ...]: NAMES,
    Float: np.outer(VALUES, [1.0, -0.5]),
    Int: np.arange(6).reshape(3, 2),
    Bytes: np.arange(12, dtype=np.uint8).reshape(2, 3, 2),
}
EMPTY = {
    int: 0,
    str: "",
    tuple[str, ...]: (),
    Float: np.empty(0),
    Int: np.empty((0, 0), dtype=np.int64),
    Bytes: np.empty(0, dtype=np.uint8),
}
ODD = {**FULL, Float: np.where(VALUES < 0, -np.inf, np.where(VALUES > 0.5, np.nan, VALUES)), Int: np.arange(7)}


def kinds() -> list[type]:
    """Every request and reply that is declared."""
    return [*m.REQUESTS.values(), *m.REPLIES.values()]


def examples_of(kind: type) -> list[Any]:
    """A full message, an empty one, one with odd numbers, and one without what may be left out."""
    return [made(kind, values, absent=absent) for values, absent in ((FULL, 0), (EMPTY, 0), (ODD, 0), (FULL, 1))]


def made(kind: Any, values: dict[Any, Any], *, absent: bool) -> Any:
    """A message or a part of one, each field with the value of its type; `absent` leaves out what can be `None`."""
    hints = get_type_hints(kind)
    return kind(**{field.name: value_of(hints[field.name], values, absent) for field in dataclasses.fields(kind)})


def value_of(hint: Any, values: dict[Any, Any], absent: bool) -> Any:
    choices = [choice for choice in get_args(hint) if choice is not NoneType]
    if NoneType in get_args(hint) and get_origin(hint) is not tuple:
        return None if absent else value_of(choices[0], values, absent)
    return made(hint, values, absent=absent) if dataclasses.is_dataclass(hint) else values[hint]
