"""What is typed, as values: how many features, lists of names, a method, declared ranges."""

import json
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from fedsieve.categories import check_categories
from fedsieve.checks import check_choice, repeated
from fedsieve.datasets.table_files import SUFFIXES
from fedsieve.datasets.tables import numeric_columns, read_table
from fedsieve.errors import DataError, ParameterError, listed
from fedsieve.messages.columns import ERROR, FEDERATED, LOCAL, ROBUST
from fedsieve.methods import METHODS, SieveMethod, SSFMLFSMethod
from fedsieve.methods.sieve import AUTO
from fedsieve.reading import read_toml

SIEVE, SSFMLFS = SieveMethod.name, SSFMLFSMethod.name

Drop: TypeAlias = Annotated[str, typer.Option(help="Columns to leave out: a,b,c.")]
Dates: TypeAlias = Annotated[str, typer.Option(help="Columns with dates, to be read as days: a,b,c.")]
KEEP_HELP = "Columns that look like ids and are features: a,b,c."
Keep: TypeAlias = Annotated[str, typer.Option(help=KEEP_HELP)]
Force: TypeAlias = Annotated[bool, typer.Option(help="Replace an existing result.")]


def choices_help(parameter: str, *, supervised: bool = True) -> str:
    """The help of an option: which methods have such a parameter, and the values that each allows.

    Without `supervised`, methods whose sites hold labels are left out.

    >>> choices_help("wire")
    'SSFMLFS: auto, matrices, statistics or vectors. FedCMFS: statistics or tests.'
    """
    by_values: dict[tuple[str, ...], list[str]] = {}
    methods = [method for method in METHODS.values() if supervised or not method.sites_hold_labels]
    for method in methods:
        if parameter in method.choices:
            by_values.setdefault(method.choices[parameter], []).append(method.name)
    if len(by_values) == 1 and len(next(iter(by_values.values()))) == len(methods):
        return f"{_either(next(iter(by_values)))}."
    return " ".join(f"{', '.join(names)}: {_either(values)}." for values, names in by_values.items())


def own_parameters(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Those of the given parameters that the method has."""
    known = {field.name for field in fields(METHODS[method])}
    return {name: value for name, value in given.items() if name in known}


def missing_in(method: str, choice: str | None) -> dict[str, str]:
    """What a method that runs beside another does about missing values: its own way, or none may be, as asked.

    >>> missing_in("SSFMLFS", "mean"), missing_in("Sieve", "unrelated"), missing_in("Sieve", "error")
    ({'missing': 'unrelated'}, {'missing': 'mean'}, {'missing': 'error'})
    """
    return {"missing": ERROR if choice == ERROR else METHODS[method].choices["missing"][1]}


def _either(values: tuple[str, ...]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"


NOMINAL_HELP = "Features whose values are codes: a,b,c. May be given again."
K_HELP = 'How many features to select, or a share such as 0.3; default by their number. Sieve: also "auto".'


def how_many(text: str | None) -> float | str | None:
    """The value of -k: a number, a share, or "auto".

    >>> how_many("30"), how_many("0.3"), how_many("auto"), how_many(None)
    (30, 0.3, 'auto', None)
    """
    if text is None or text == AUTO:
        return text
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    raise ParameterError(f'-k must be a whole number, a share between 0 and 1, or "{AUTO}"; got {text!r}.')


def assignment(text: str) -> tuple[str, Any]:
    """A parameter and its value, as --set has them: JSON where it is such, else text.

    >>> assignment("n_trees=400"), assignment("relation=similarity")
    (('n_trees', 400), ('relation', 'similarity'))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ParameterError(f"--set takes NAME=VALUE; got {text!r}.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def split_names(text: str) -> tuple[str, ...]:
    """Names with commas between them.

    >>> split_names("age, dose,")
    ('age', 'dose')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def names_among(texts: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The names of an option that may be given again; a known name may itself hold commas.

    >>> names_among(["dose, mg", "age,sex"], {"dose, mg", "age", "sex"})
    ('dose, mg', 'age', 'sex')
    >>> names_among(["age,dose, mg,zip"], {"dose, mg", "age"})
    ('age', 'dose, mg', 'zip')
    """
    return tuple(name for text in texts for name in _split_among(text, known))


def _split_among(text: str, known: Collection[str]) -> tuple[str, ...]:
    """The longest known name first, or the text up to its first comma, and then of the rest."""
    pieces = text.split(",")
    for end in range(len(pieces), 1, -1):
        name = ",".join(pieces[:end]).strip()
        if name in known:
            return (name, *_split_among(",".join(pieces[end:]), known))
    return (*split_names(pieces[0]), *(_split_among(",".join(pieces[1:]), known) if len(pieces) > 1 else ()))


def asked_and_other(method: str) -> tuple[str, str]:
    """The names of the method that was asked for and of the other one.

    >>> asked_and_other("sieve")
    ('Sieve', 'SSFMLFS')
    """
    names = {SIEVE.lower(): (SIEVE, SSFMLFS), SSFMLFS.lower(): (SSFMLFS, SIEVE)}
    chosen = method.lower() if method.lower() in names else method
    check_choice("fedsieve", "--method", chosen, names)
    return names[chosen]


def declared_ranges(choice: str) -> Any:
    """The value of --ranges: a word, or what a CSV file with feature, low and high declares."""
    if choice in (FEDERATED, ROBUST, LOCAL):
        return choice
    if not choice.lower().endswith(SUFFIXES):
        raise ParameterError(
            f"--ranges must be robust, federated, local or a CSV file: feature, low, high; got {choice!r}."
        )
    return ranges_file(choice)


def categories_file(file: Path) -> dict[str, tuple[str, ...]]:
    """What a TOML file declares, in a section [categories] or by itself."""
    content = read_toml(file)
    section = content.get("categories", content)
    if not isinstance(section, dict):
        raise DataError(f'{file}: must hold lines such as sex = ["f", "m"]; [categories] is none.')
    return check_categories(str(file), section)


def ranges_file(file: str) -> dict[str, tuple[float, float]]:
    """What a CSV file with feature, low and high declares."""
    table = read_table(file)
    if table.column_names[:3] != ["feature", "low", "high"]:
        raise DataError(f"{file}: needs the columns feature, low, high; got {listed(table.column_names)}.")
    names = [str(name) for name in table["feature"].to_pylist()]
    if twice := sorted(repeated(names)):
        raise DataError(f"{file}: declares {listed(twice)} twice.")
    low, high = numeric_columns(table, ["low", "high"], file).T
    return {name: (float(a), float(b)) for name, a, b in zip(names, low, high, strict=True)}
