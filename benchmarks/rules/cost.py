"""What the rules of a site cost: the average precision of what is selected under them, and how many sites answer."""

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.rules.federations import N_SITES, Federation, dealt, method_for, selection, with_the_willing
from fedsieve import SSFMLFS, Sieve
from fedsieve.datasets.registry import known_dataset
from fedsieve.errors import ConvergenceError
from fedsieve.messages.products import SUMS_TOLD
from fedsieve.privacy import LIBRARY, SITE, held_back
from fedsieve.selectors.controls import RandomFeatures
from fedsieve.tables import ArrayTable

DATASETS = ("emotions", "yeast", "cal500", "enron", "corel5k")
EXACT = "exact ranges, library"
ROBUST = "robust ranges, library"
CELLS = "robust ranges, min_cell"
ALONE = "the server alone"
RANDOM = "random features"
FEW_SITES = 3
LOOSE = 1e-3  # relative change at which PageRank may stop, where rounds are few
N_DRAWS = 5


def measured(name: str, seed: int) -> dict[str, Any]:
    """Everything for one dataset and one seed."""
    k = known_dataset(name).k
    federation = dealt(name, seed)
    sizes = sorted(len(rows) for rows in federation.sites.values())
    found: dict[str, Any] = {"rows per site": sizes, "columns": len(federation.features), "k": k}
    found["held back per site"] = _held_back(federation)
    for method in ("Sieve", "SSFMLFS"):
        found[method] = _in_the_library(federation, method, k) | _at_sites(name, seed, federation, method, k)
    found["Sieve"][ALONE] = {"AP": _alone(federation, Sieve(n_features_to_select=k, n_bootstraps=0))}
    found["SSFMLFS"][ALONE] = {"AP": _alone(federation, SSFMLFS(n_features_to_select=k))}
    draws = [RandomFeatures(k, 1000 * seed + draw).fit(federation.X).order_[:k] for draw in range(N_DRAWS)]
    found[RANDOM] = {"AP": federation.average_precision(draws)}
    return found


def _in_the_library(federation: Federation, name: str, k: int) -> dict[str, Any]:
    """Nobody refuses; ranges and rare values are what differs."""
    few_cells = replace(LIBRARY, min_cell=SITE.min_cell)
    found: dict[str, Any] = {}
    usual = np.zeros(0, np.int64)
    for title, ranges, policy in (
        (EXACT, "federated", LIBRARY),
        (ROBUST, "robust", LIBRARY),
        (CELLS, "robust", few_cells),
    ):
        method = method_for(name, federation.features, k, ranges)
        chosen = selection(method, federation.labeled, federation.sites, policy).selection.order[:k]
        usual = chosen if title == EXACT else usual
        same = len(np.intersect1d(chosen, usual)) / k
        found[title] = {"AP": federation.average_precision([chosen]), "same as exact": same}
    return found


def _at_sites(dataset: str, seed: int, federation: Federation, name: str, k: int) -> dict[str, Any]:
    """The whole preset, and what its refusals offer as a way out: fewer columns, few rounds, larger sites."""
    few = dealt(dataset, seed, FEW_SITES)

    def lighter(dealt_out: Federation) -> dict[str, Any]:
        n_told = min(len(rows) for rows in dealt_out.sites.values()) // SITE.rows_per_column
        if name == "Sieve":
            return {"screen": max(2 * k, n_told)}
        return {"wire": "vectors", "max_iter": max(1, n_told // SUMS_TOLD - 1), "tol": LOOSE}

    how = "fewer columns compared" if name == "Sieve" else "few rounds of vectors"
    found = {}
    for n_sites, dealt_out in ((N_SITES, federation), (FEW_SITES, few)):
        for title, others in ((f"site, {n_sites} sites", {}), (f"site, {n_sites} sites, {how}", lighter(dealt_out))):
            method = method_for(name, federation.features, k, "robust", **others)
            try:
                outcome, refused, n_left = with_the_willing(method, dealt_out, SITE)
            except ConvergenceError as error:
                outcome, refused, n_left = None, {"the server": str(error)}, n_sites
            found[title] = {
                "AP": None if outcome is None else dealt_out.average_precision([outcome.selection.order[:k]]),
                "sites": n_left,
                "refusal": next(iter(refused.values()), ""),
                **others,
            }
    return found


def _held_back(federation: Federation) -> dict[str, float]:
    """The mean over sites of the share of columns that are answered as if constant, and of constant ones."""
    shares, constant = [], []
    for rows in federation.sites.values():
        table = ArrayTable(federation.features, rows)
        shares.append(len(held_back(table, (), SITE.min_cell).constant) / len(federation.features))
        constant.append(float(np.mean(np.ptp(rows, axis=0) == 0)))
    return {"share": float(np.mean(shares)), "constant anyway": float(np.mean(constant))}


def _alone(federation: Federation, selector: Any) -> float:
    labeled = federation.labeled
    order = selector.fit(labeled.X, labeled.Y).order_
    return federation.average_precision([order[: selector.n_features_to_select]])
