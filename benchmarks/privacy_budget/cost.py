"""One federation under several promises: what is selected, how good it is, and how much the sites count."""

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.rules.federations import Federation, dealt
from fedsieve.arrays import Int
from fedsieve.datasets.registry import known_dataset
from fedsieve.methods import SieveMethod
from fedsieve.privacy.noise import seeded_words
from fedsieve.protocol.outcome import Selection
from fedsieve.selectors.controls import RandomFeatures
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process

DATASETS = ("emotions", "yeast", "cal500", "enron", "corel5k")
SHARES = (0.2, 0.05)  # of the training rows that are labeled
EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0)
DESIGN_SEEDS = tuple(range(6))  # on which what is released and how it is combined were decided
SEEDS = (510, 511, 512)  # of the figures; looked at once, after all decisions
NOISELESS, ALONE, RANDOM = "without noise", "the labeled rows alone", "random features"
WHOLE, SHARED = "whole noise at every site", "noise in shares"  # of secure sums
N_DRAWS = 5
TIMES = (1, 10, 100)
MORE_ROWS = ("emotions", "yeast")


def measured(name: str, share: float, seed: int) -> dict[str, Any]:
    """Everything for one dataset, share of labels and seed."""
    federation, k = dealt(name, seed, labeled_share=share), known_dataset(name).k
    ranges = _ranges(federation)
    exact = _select(federation, k, ranges=ranges).order[:k]
    alone = _select(federation, k, sites=False, ranges=ranges).order[:k]
    found: dict[str, Any] = {
        "labeled rows": len(federation.server),
        "rows at sites": sum(len(rows) for rows in federation.sites.values()),
        "k": k,
        NOISELESS: _judged(federation, exact, exact),
        ALONE: _judged(federation, alone, exact),
    }
    draws = [RandomFeatures(k, 1000 * seed + draw).fit(federation.X).order_[:k] for draw in range(N_DRAWS)]
    overlaps = [len(np.intersect1d(draw, exact)) / k for draw in draws]
    found[RANDOM] = {"AP": federation.average_precision(draws), "overlap": float(np.mean(overlaps))}
    for title, secure in ((WHOLE, False), (SHARED, True)):
        found[title] = {}
        for epsilon in EPSILONS:
            selection: Any = _select(federation, k, seed=seed, epsilon=epsilon, secure=secure)
            weight = selection.privacy["site_weight"]
            found[title][str(epsilon)] = {**_judged(federation, selection.order[:k], exact), "weight": weight}
    return found


def with_more_rows(name: str, seed: int) -> dict[str, Any]:
    """The same with 10 and 100 times as many rows at the sites, drawn from theirs, and epsilon 1; no classifier."""
    federation, k = dealt(name, seed), known_dataset(name).k
    rng, found = np.random.default_rng([seed, 9]), {}
    for times in TIMES:
        sites = {
            site: rows[rng.integers(0, len(rows), times * len(rows))] if times > 1 else rows
            for site, rows in federation.sites.items()
        }
        larger = replace(federation, sites=sites)
        exact = _select(larger, k, ranges=_ranges(larger)).order[:k]
        alone = _select(larger, k, sites=False, ranges=_ranges(larger)).order[:k]
        here: dict[str, Any] = {ALONE: {"overlap": len(np.intersect1d(alone, exact)) / k}}
        for title, secure in ((WHOLE, False), (SHARED, True)):
            selection: Any = _select(larger, k, seed=seed, epsilon=1.0, secure=secure)
            same = len(np.intersect1d(selection.order[:k], exact)) / k
            here[title] = {"overlap": same, "weight": selection.privacy["site_weight"]}
        found[str(times)] = here
    return found


def _select(federation: Federation, k: int, *, sites: bool = True, seed: int = 0, **others: Any) -> Selection:
    """With the sites, or with none: then the one client that a federation needs has no say."""
    method = SieveMethod(federation.features, n_features_to_select=k, n_bootstraps=0, min_clients=1, **others)
    tables = {name: ArrayTable(federation.features, rows) for name, rows in federation.sites.items()}
    if not sites:
        tables = {"the labeled rows again": ArrayTable(federation.features, federation.labeled.X)}
    words = seeded_words(seed, int(10 * (method.epsilon or 0)), method.secure)
    return in_process.select(method, federation.labeled, tables, words=words).selection


def _ranges(federation: Federation) -> dict[str, tuple[float, float]]:
    """Those of the labeled rows, as a private run has them."""
    low, high = federation.labeled.X.min(axis=0), federation.labeled.X.max(axis=0)
    return {name: (float(a), float(b)) for name, a, b in zip(federation.features, low, high, strict=True)}


def _judged(federation: Federation, chosen: Int, exact: Int) -> dict[str, float]:
    same = len(np.intersect1d(chosen, exact)) / len(exact)
    return {"AP": federation.average_precision([chosen]), "overlap": same}
