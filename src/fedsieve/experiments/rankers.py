"""How the features of a fold are ranked: by a selector that is fitted anew on its training rows, or as was given."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from fedsieve.arrays import Int
from fedsieve.catalog import ALL_FEATURES, RANDOM, CatalogEntry, registry
from fedsieve.checks import check_known, check_unique, is_whole
from fedsieve.errors import DataError, ParameterError, not_one_of, shown
from fedsieve.experiments.labeled_rows import LabeledRows
from fedsieve.ordering import n_kept
from fedsieve.selectors import LoadedSelection

OWNER = "evaluate"


@dataclass(frozen=True, eq=False)
class Ranked:
    """Features, best first, and how many of them are selected; an order that was given may leave some out."""

    order: Int
    n_selected: int


Ranker = Callable[[LabeledRows, Int], Ranked]
"""From all rows and the numbers of those to learn from."""


def instance(selector: Any) -> Any:
    """What was given, unless it is the class of a selector."""
    if isinstance(selector, type):
        raise ParameterError(f"{OWNER}: {selector.__name__} is a class; give a selector: {selector.__name__}().")
    return selector


def is_given(selector: Any) -> bool:
    """Whether it is an order that was found before, and so is not found anew in every fold."""
    return isinstance(selector, LoadedSelection) or not hasattr(selector, "fit")


def name_of(selector: Any) -> str:
    """What a selector is called in tables."""
    if isinstance(selector, LoadedSelection):
        return f"{selector.record_['method']} (as loaded)"
    if is_given(selector):
        return "given order"
    entry = _entry_of(selector)
    return type(selector).__name__ if entry is None else entry.name


def given(selector: Any, names: tuple[str, ...]) -> Ranker:
    """The same order in every fold."""
    if isinstance(selector, LoadedSelection):
        ranked = _loaded(selector, names)
    else:
        order = _listed(selector, names)
        ranked = Ranked(order, len(order) if len(order) < len(names) else n_kept(None, len(names)))
    return lambda _rows, _train: ranked


def fitted(selector: Any) -> Ranker:
    """Fitted in every fold on what such a method may see of its training rows."""

    def rank(rows: LabeledRows, train: Int) -> Ranked:
        model = clone(selector)
        tables, clients = seen(model, rows, train)
        model.fit(*tables, **clients)
        if not hasattr(model, "order_"):
            raise ParameterError(
                f"{OWNER}: {type(model).__name__} has no order_ after fit (indices of features, best first). Give a "
                "selector of fedsieve, or an order."
            )
        return Ranked(np.asarray(model.order_), _some(int(np.sum(model.get_support())), type(model).__name__))

    return rank


def others(against: Any, seed: int) -> dict[str, Any]:
    """The selectors of what else is compared: names of methods in the registry, or selectors by a name for each."""
    if isinstance(against, str) or not isinstance(against, Iterable):
        rule = "a list of names of methods, or a dict of selectors"
        raise ParameterError(f"{OWNER}: against must be {rule}; got {shown(against)}.")
    if isinstance(against, Mapping):
        return {str(name): instance(selector) for name, selector in against.items()}
    entries = [registered(name, "against") for name in against]
    return {
        entry.name: built(entry, random_state=seed) for entry in entries if entry.name not in (ALL_FEATURES, RANDOM)
    }


def registered(name: Any, parameter: str) -> CatalogEntry:
    """The method of that name in the registry, whatever its case."""
    known = {entry.name.lower(): entry for entry in registry().values()}
    if str(name).lower() not in known:
        nearest = get_close_matches(str(name).lower(), known, n=1)
        hint = f" Did you mean {known[nearest[0]].name!r}?" if nearest else ""
        raise ParameterError(f"{not_one_of(OWNER, parameter, registry(), name)}{hint}")
    return known[str(name).lower()]


def built(entry: CatalogEntry, **parameters: Any) -> Any:
    """A selector with those of the parameters that it has."""
    known = signature(entry.factory).parameters
    return entry.factory(**{name: value for name, value in parameters.items() if name in known})


def seen(selector: Any, rows: LabeledRows, train: Int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a selector is given to fit: tables, and by keyword the clients of one that takes them; never a test row.

    A method that works in one place gets numbers, and if it is semi-supervised all unlabeled rows in that place.
    """
    entry = _entry_of(selector)
    federated = "clients" in signature(selector.fit).parameters if entry is None else entry.federated
    supervision = "supervised" if entry is None else entry.supervision
    if federated:
        if supervision == "supervised" and entry is not None:  # whose clients hold labels, or are none
            return (rows.filled(train), rows.Y[train]), {"clients": rows.labeled_clients()}
        with_unlabeled = np.sort(np.concatenate([train, np.flatnonzero(~rows.labeled)]))
        unlabeled = rows.clients and {n: t[0] if rows.clients_hold_labels else t for n, t in rows.clients.items()}
        return rows.as_given(with_unlabeled), {"clients": unlabeled}
    if entry is None:
        return rows.as_given(train), {}
    if supervision == "semi-supervised":
        own = np.concatenate([train, np.flatnonzero(~rows.labeled)])
        X = np.vstack([rows.filled(own), *rows.pool()])
        Y = np.full((len(X), rows.Y.shape[1]), -1)
        Y[: len(train)] = rows.Y[train]
        return (X, Y), {}
    return (rows.filled(train),) if supervision == "none" else (rows.filled(train), rows.Y[train]), {}


def sees_no_clients(selector: Any, rows: LabeledRows) -> bool:
    """Whether there are clients of which a method makes nothing, since its clients hold labels and these have none."""
    entry = _entry_of(selector)
    holds_labels = entry is not None and entry.federated and entry.supervision == "supervised"
    return holds_labels and bool(rows.clients) and not rows.clients_hold_labels


def _entry_of(selector: Any) -> CatalogEntry | None:
    return next((entry for entry in registry().values() if entry.factory is type(selector)), None)


def _loaded(selection: LoadedSelection, names: tuple[str, ...]) -> Ranked:
    place = {name: index for index, name in enumerate(names)}
    features = [str(name) for name in selection.feature_names_in_]
    check_known(OWNER, "X has", [features[index] for index in selection.order_[: selection.support_.sum()]], place)
    order = [place[features[index]] for index in selection.order_ if features[index] in place]
    return Ranked(np.array(order), _some(int(selection.support_.sum()), "the selection"))


def _some(n_selected: int, owner: str) -> int:
    """At a stated error rate the answer may be none, of which nothing can be learned."""
    if not n_selected:
        raise DataError(f"{OWNER}: {owner} selects no feature, so there is nothing to judge. Give a number, not fdr.")
    return n_selected


def _listed(order: Any, names: tuple[str, ...]) -> Int:
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise ParameterError(
            f"{OWNER}: needs a selector, or an order of features, by name or index; got {shown(order)}."
        )
    place = {name: index for index, name in enumerate(names)}
    entries = [names[int(e)] if is_whole(e) and 0 <= int(e) < len(names) else str(e) for e in order]
    if not entries:
        raise DataError(f"{OWNER}: the order is empty; give at least one feature.")
    check_known(OWNER, "the order names", entries, place)
    check_unique(OWNER, "a feature has one place in an order", entries)
    return np.array([place[entry] for entry in entries])
