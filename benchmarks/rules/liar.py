"""One liar of ten: how far its lie moves the selected features, and whether the warning names it."""

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.rules.federations import Federation, dealt, method_for, selection
from fedsieve.arrays import Float
from fedsieve.audit.attacks import lies
from fedsieve.audit.score import share_replaced
from fedsieve.errors import FedSieveError
from fedsieve.protocol import Method
from fedsieve.protocol.influence import KeptReplies, influence, stretch
from fedsieve.protocol.outcome import Selection

DATASETS = ("emotions", "yeast", "digits")
METHODS = ("Sieve", "SSFMLFS")
RANGES = {"exact": "federated", "robust": "robust"}
N_SELECTED = 20
N_HONEST = 10  # seeds without a liar


def measured(name: str, seed: int) -> dict[str, Any]:
    """All lies of the site with the median number of rows, told to both methods with both kinds of ranges."""
    federation = dealt(name, seed)
    liar = median_site(federation)
    n_rows = {site: len(rows) for site, rows in federation.sites.items()}
    found: dict[str, Any] = {"liar's share of rows": n_rows[liar] / sum(n_rows.values())}
    for method_name in METHODS:
        for title, ranges in RANGES.items():
            method = method_for(method_name, federation.features, N_SELECTED, ranges)
            found[f"{method_name}, {title}"] = Trial(method, federation, liar).lies_told(seed)
    return found


def median_site(federation: Federation) -> str:
    """The one with the median number of rows."""
    by_size = sorted(federation.sites, key=lambda site: len(federation.sites[site]))
    return by_size[len(by_size) // 2]


def honest(name: str, seed: int) -> dict[str, Any]:
    """What replies show of each site where nobody lies."""
    federation = dealt(name, seed)
    found = {}
    for method_name in METHODS:
        for title, ranges in RANGES.items():
            method = method_for(method_name, federation.features, N_SELECTED, ranges)
            found[f"{method_name}, {title}"] = _selected(method, federation, federation.sites)[1]
    return found


class Trial:
    """One method before and after one site lies."""

    def __init__(self, method: Method, federation: Federation, liar: str) -> None:
        self._method, self._federation, self._liar = method, federation, liar
        self._before = selection(method, federation.labeled, federation.sites).selection
        everything = np.vstack([*federation.sites.values(), federation.labeled.X])
        self._low, self._high = everything.min(axis=0), everything.max(axis=0)

    def lies_told(self, seed: int) -> list[dict[str, Any]]:
        """What came of each."""
        rows = self._federation.sites[self._liar]
        targets = {"best": int(self._before.order[0]), "last": self._last_varying()}
        found = []
        for title, lie in lies.ABOUT_ONE_COLUMN.items():
            found += [self.told(title, lie(rows, column), which, column) for which, column in targets.items()]
        found.append(self.told("random rows", lies.random_rows(rows, np.random.default_rng([seed, 3]))))
        worst = self._worst(list(lies.opposite_rows(rows, np.random.default_rng([seed, 4]))))
        found.append(self.told("opposite rows, the worst", worst))
        found.append(self.told(f"its rows {lies.TIMES} times", lies.repeated(rows)))
        found.append(self.told(f"opposite rows {lies.TIMES} times", lies.repeated(worst)))
        found.append(self._bounded(lies.repeated(rows)))
        return found

    def told(self, title: str, rows: Float, which: str = "", column: int | None = None) -> dict[str, Any]:
        """The lie's effect: the share of the selected that others replace, and where one column comes before and after.

        Where ranges are exact, far values are those that all sites have: cells that stretch a range are lies by name.
        """
        entry: dict[str, Any] = {"lie": title, "column": which}
        try:
            after, seen = _selected(self._method, self._federation, self._with(rows))
        except FedSieveError as refusal:
            return {**entry, "refused": str(refusal)}
        entry |= {"moved": self._moved(after), **seen, "liar": self._liar}
        if column is not None:
            entry |= {"place": [_place(self._before, column), _place(after, column)]}
        return entry

    def moved_by(self, rows: Float) -> float:
        """The share of the selected that others replace."""
        return self._moved(selection(self._method, self._federation.labeled, self._with(rows)).selection)

    def _bounded(self, rows: Float) -> dict[str, Any]:
        """The same under a `max_rows` that the largest honest site just keeps."""
        most = max(map(len, self._federation.sites.values()))
        method = replace(self._method, max_rows=most)
        try:
            selection(method, self._federation.labeled, self._with(rows))
        except FedSieveError as refusal:
            return {"lie": f"its rows {lies.TIMES} times, max_rows", "column": "", "refused": str(refusal)}
        raise AssertionError(f"{len(rows)} rows passed max_rows = {most}")

    def _with(self, rows: Float) -> dict[str, Float]:
        if self._method.ranges == RANGES["exact"]:
            rows = lies.within(rows, self._low, self._high)
        return {**self._federation.sites, self._liar: rows}

    def _worst(self, tries: list[Float]) -> Float:
        """The one that moves most; a liar who knows all of it could choose so."""
        return max(tries, key=self.moved_by)

    def _moved(self, after: Selection) -> float:
        return share_replaced(self._before.order, after.order, N_SELECTED)

    def _last_varying(self) -> int:
        varies = self._low < self._high
        return int(next(feature for feature in self._before.order[::-1] if varies[feature]))


def _selected(method: Method, federation: Federation, sites: dict[str, Float]) -> tuple[Selection, dict[str, Any]]:
    """The selection, and what its replies show of each site."""
    kept = KeptReplies()
    found = selection(method, federation.labeled, sites, kept=kept).selection
    return found, {"influence": influence(method, federation.labeled, found, kept), "stretch": stretch(kept)}


def _place(found: Selection, column: int) -> int:
    return int(np.flatnonzero(found.order == column)[0]) + 1
