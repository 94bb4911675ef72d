"""One factor at a time: the rows of an experiment in which a method, the federation or k is not as usual."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any

from fedsieve.catalog import RANDOM, registry
from fedsieve.checks import is_number, is_whole
from fedsieve.errors import ParameterError, listed, shown

if TYPE_CHECKING:
    from fedsieve.experiments.config import Contender, Experiment

K, ALPHA, N_CLIENTS, IID = "k", "alpha", "n_clients", "iid"
OF_FEDERATION = {ALPHA: 0.5, N_CLIENTS: 10}
"""Factors that are no parameter of a method, besides `k`, and their usual values."""

Factors = tuple[tuple[str, tuple[Any, ...]], ...]
"""What is varied, and the values that it takes."""


@dataclass(frozen=True)
class Variant:
    """A row that differs from the first one in some factors."""

    values: tuple[tuple[str, Any], ...]
    contender: "Contender"

    @property
    def words(self) -> str:
        """The values for a heading.

        >>> Variant((("lam", 2.0), ("relation", "similarity")), None).words
        'lam = 2, relation = similarity'
        """
        return ", ".join(f"{name} = {in_words(value)}" for name, value in self.values)


def in_words(value: Any) -> str:
    """A value of a factor, numbers without needless digits."""
    return f"{value:g}" if is_number(value) else str(value)


def variants(experiment: "Experiment") -> dict[str, list[Variant]]:
    """Per factor, and then per crossing, one row for each value; the usual value's row is the first method's own."""
    if not experiment.factors:
        return {}
    base, values = experiment.contenders[0], dict(experiment.factors)
    found = {
        name: [_variant(base, experiment.settings, {name: value}) for value in of_factor]
        for name, of_factor in values.items()
    }
    for names in experiment.crossed:
        combinations = product(*(values[name] for name in names))
        found[" and ".join(names)] = [
            _variant(base, experiment.settings, dict(zip(names, combination, strict=True)))
            for combination in combinations
        ]
    return found


def random_beside(experiment: "Experiment", row: "Contender") -> "Contender | None":
    """The row of random features that one is compared with: as many of them, of the same rows.

    Random features do not depend on how the other rows are spread over clients, so that this is none of its settings.
    """
    random = experiment.contender(RANDOM)
    return (
        None if random is None else replace(random, k_share=row.k_share, title=_with_share(random.title, row.k_share))
    )


def with_variants(experiment: "Experiment") -> "Experiment":
    """The experiment with all rows that its factors ask for, each once."""
    rows = [variant.contender for of_factor in variants(experiment).values() for variant in of_factor]
    beside = [random_beside(experiment, row) for row in rows]
    added = dict.fromkeys([*experiment.contenders, *rows, *(row for row in beside if row is not None)])
    return replace(experiment, contenders=tuple(added))


def check_factors(path: Any, method: str, factors: Mapping[str, Any], crossed: Sequence[Sequence[str]]) -> None:
    """Refuse what the method or the federation has not, and values that cannot be."""
    entry = registry().get(method)
    known = () if entry is None else tuple(signature(entry.factory).parameters)
    for name, values in factors.items():
        if name not in (K, *OF_FEDERATION) and name not in known:
            others = listed((K, *OF_FEDERATION))
            raise ParameterError(f"{path}: [factors] {shown(name)} is no parameter of {method}, nor one of {others}.")
        if not isinstance(values, list) or not values:
            raise ParameterError(f"{path}: [factors] {name} must be a list of values; got {shown(values)}.")
        rule, fits = RULES.get(name, ("", lambda _: True))
        for value in values:
            if not fits(value):
                raise ParameterError(f"{path}: [factors] {name} must be {rule}; got {shown(value)}.")
    for names in crossed:
        unknown = [name for name in names if name not in factors]
        if unknown or len(set(names)) < 2 or len(set(names)) < len(names):
            raise ParameterError(f"{path}: crossed takes lists of two or more of the [factors]; got {shown(names)}.")


RULES = {
    K: ("shares of the features, above 0 and below 1", lambda share: is_number(share) and 0 < share < 1),
    ALPHA: ('positive numbers or "iid"', lambda a: a == IID or (is_number(a) and 0 < a < inf)),
    N_CLIENTS: ("whole numbers of at least 2", lambda n: is_whole(n) and n >= 2),
}


def _variant(base: "Contender", settings: Sequence[tuple[str, Any]], values: Mapping[str, Any]) -> Variant:
    """What has its usual value is left out, so that the trial is the same as of any other table."""
    parameters = signature(registry()[base.name].factory).parameters
    of_method = {name: parameter.default for name, parameter in parameters.items()} | dict(base.parameters)
    usual = {**of_method, **OF_FEDERATION, **dict(settings)}
    unusual = {name: value for name, value in values.items() if name == K or value != usual[name]}
    told = tuple(values.items())
    if not unusual:
        return Variant(told, base)
    changed = {name: value for name, value in unusual.items() if name not in (K, *OF_FEDERATION)}
    federation = {
        "partition" if value == IID else name: value for name, value in unusual.items() if name in OF_FEDERATION
    }
    row = replace(
        base,
        title=f"{base.title}, {Variant(tuple(unusual.items()), base).words}",
        parameters=tuple(sorted({**dict(base.parameters), **changed}.items())),
        settings=tuple(sorted(federation.items())),
        k_share=unusual.get(K),
    )
    return Variant(told, row)


def _with_share(title: str, share: float | None) -> str:
    return title if share is None else f"{title}, {K} = {in_words(share)}"
