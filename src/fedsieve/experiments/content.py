"""What an experiment file may hold: types, ranges and names, checked before anything is computed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fedsieve.datasets import available
from fedsieve.errors import ParameterError, listed

BUNDLED = "digits"


def check_content(path: Path, content: dict[str, Any]) -> None:
    """Refuse values of the wrong kind, datasets nobody knows, and shares that a table cannot show."""
    for key, (fits, rule) in RULES.items():
        if key in content and not fits(content[key]):
            raise ParameterError(f"{path}: {key} must be {rule}; got {content[key]!r}.")
    known = (*available(), BUNDLED)
    for key in ("datasets", "k"):
        unknown = [name for name in content.get(key, ()) if name not in known]
        if unknown:
            raise ParameterError(f"{path}: {key} names no dataset {listed(unknown)}; there are {listed(known)}.")
    if content["kind"] != "curves" and len(content.get("labeled", [0.2])) != 1:
        raise ParameterError(f"{path}: kind {content['kind']!r} takes one labeled share; got {content['labeled']}.")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(fits(item) for item in value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "title": (_text, "text"),
    "datasets": (_list_of(_text), "a list of names"),
    "seeds": (_list_of(_whole), "a list of whole numbers"),
    "labeled": (_list_of(lambda share: _number(share) and 0 < share < 1), "a list of shares between 0 and 1"),
    "k": (
        lambda k: isinstance(k, dict) and all(_whole(n) and n > 0 for n in k.values()),
        "a table of dataset = number of features",
    ),
    "n_clients": (lambda n: _whole(n) and n >= 2, "a whole number of at least 2"),
    "alpha": (lambda alpha: _number(alpha) and alpha > 0, "a positive number"),
    "scaling": (_list_of(_text), 'a list of "scaled" and "raw"'),
    "distances": (_list_of(lambda d: _number(d) and d > 0), "a list of positive numbers, one per client"),
    "method": (_list_of(lambda method: isinstance(method, dict)), "tables [[method]]"),
}
