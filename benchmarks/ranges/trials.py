"""One federation of ten sites, its values as they are or with typing errors, and what Sieve selects by each rule."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from benchmarks.rules.federations import Federation, dealt
from fedsieve import Sieve
from fedsieve.arrays import Float
from fedsieve.datasets.registry import available, known_dataset
from fedsieve.measures import binning

TYPOS = 0.003  # of all values of columns of numbers
MANY = 16  # values of a column at least, for it to be one of numbers
FACTORS = (10.0, 100.0)


class Rule(NamedTuple):
    """How robust ranges are found: the share that may lie beyond each end, and where bins are."""

    tail: float = binning.TAIL
    inner: tuple[float, ...] = tuple(binning.INNER)
    outer: tuple[float, ...] = tuple(binning.OUTER)


def measured(name: str, seed: int, labeled_share: float, rules: dict[str, Rule]) -> dict[str, Any]:
    """The average precision of what is selected with exact ranges and by each rule, without and with typing errors.

    Classifiers learn and are judged from the values as they are: what differs is which features were selected.
    """
    warnings.simplefilter("ignore")  # the sites differ, and with typing errors more so
    honest = dealt(name, seed, labeled_share=labeled_share)
    k = known_dataset(name).k if name in available() else None
    found: dict[str, Any] = {}
    for state, federation in (("honest", honest), ("typos", _mistyped(honest, seed))):
        found[state] = {"exact": honest.average_precision([_selected(federation, "federated", k)])}
        for title, rule in rules.items():
            with _by(rule):
                chosen = _selected(federation, "robust", k)
            found[state][title] = honest.average_precision([chosen])
    return found


def _selected(federation: Federation, ranges: str, k: int | None) -> Any:
    selector = Sieve(n_features_to_select=k, ranges=ranges, n_bootstraps=0)
    labeled = federation.labeled
    selector.fit(labeled.X, labeled.Y, clients=list(federation.sites.values()))
    return selector.order_[: selector.support_.sum()]


def _mistyped(federation: Federation, seed: int) -> Federation:
    """A few values of the server and of the sites are ten or a hundred times as large."""
    rng = np.random.default_rng([seed, 3])
    many = [len(np.unique(column)) >= MANY for column in federation.X.T]

    def mistyped(rows: Float) -> Float:
        wrong = (rng.random(rows.shape) < TYPOS) & many
        return np.where(wrong, rows * rng.choice(FACTORS, rows.shape), rows)

    X = federation.X.copy()
    X[federation.server] = mistyped(X[federation.server])
    sites = {site: mistyped(rows) for site, rows in federation.sites.items()}
    return Federation(federation.features, X, federation.Y, federation.train, federation.test, federation.server, sites)


@contextmanager
def _by(rule: Rule) -> Iterator[None]:
    usual = binning.TAIL, binning.INNER, binning.OUTER
    binning.TAIL, binning.INNER, binning.OUTER = rule.tail, np.array(rule.inner), np.array(rule.outer)
    try:
        yield
    finally:
        binning.TAIL, binning.INNER, binning.OUTER = usual
