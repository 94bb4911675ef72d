"""`python -m benchmarks.knockoffs [repeats]`: error rates and power of `Sieve(fdr=q)`, at three q.

Every repeat is recorded as soon as it is done, and none is done twice. `--report` only shows what is recorded.
"""

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.knockoffs.cases import REAL, SHAPES, Case, planted, simulated
from fedsieve import Sieve
from fedsieve.arrays import Bool
from fedsieve.errors import FedSieveWarning
from fedsieve.sieve.error_rate import Contest, contest

RESULTS = Path(__file__).with_name("results.jsonl")
RATES = (0.1, 0.2, 0.3)
WITHIN = tuple(f"{name}, within sites" for name in ("shifted sites", "labeled rows wider"))
WHOLE = ("AR(0.5), Sieve's defaults",)  # the rows of a shape, but by `Sieve.fit` with its robust ranges, which clip
TITLES = (*SHAPES, *WITHIN, *WHOLE, *REAL)
REPEATS = 500
BROKEN = ("labeled rows wider", "bent copies", "blocks in labeled rows only", "AR(0.7), 15 % missing")
FEWER = {**dict.fromkeys((*BROKEN, "one column is a sum", WITHIN[1], *WHOLE), 100), **dict.fromkeys(REAL, 20)}


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    n_repeats = 0 if "--report" in sys.argv[1:] else (numbers or [REPEATS])[0]
    known = recorded()
    for seed in range(n_repeats):
        for title in TITLES:
            if (title, seed) not in known and seed < FEWER.get(title, REPEATS):
                record = {"case": title, "seed": seed, **measured(title, seed)}
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")
    print("\n".join(table(list(recorded().values()))))


def recorded() -> dict[tuple[str, int], dict[str, Any]]:
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    return {(record["case"], record["seed"]): record for record in map(json.loads, lines)}


def measured(title: str, seed: int) -> dict[str, Any]:
    """Per rate the share of false ones among the selected, and the share of those that help that are found."""
    case = planted(title, seed) if title in REAL else simulated(_shape(title), seed)
    exact, selections = by_fit(case, seed) if title in WHOLE else by_contest(case, seed, within=title in WITHIN)
    found = {}
    for rate, selected in zip(RATES, selections, strict=True):
        wrong, right = int((selected & ~case.helps).sum()), int((selected & case.helps).sum())
        found[str(rate)] = [wrong, right]
    return {"found": found, "n_true": int(case.helps.sum()), "exact": exact}


def by_contest(case: Case, seed: int, *, within: bool) -> tuple[bool, list[Bool]]:
    """Whether knockoffs are exact, and what is selected at each rate."""
    against = of_case(case, seed, within=within)
    return against.exact, [against.at(rate).selected for rate in RATES]


def by_fit(case: Case, seed: int) -> tuple[bool, list[Bool]]:
    """The same by the selector; other rates from the same totals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FedSieveWarning)
        fitted = [Sieve(fdr=RATES[0], random_state=seed).fit(case.X, case.Y.astype(int), clients=list(case.sites))]
        fitted += [fitted[0].rerank(None, fdr=rate) for rate in RATES[1:]]
    return bool(fitted[0].fdr_["exact"]), [selector.support_ for selector in fitted]


def of_case(case: Case, seed: int, *, within: bool) -> Contest:
    """The contest that `Sieve(fdr=...)` holds; its other parts, of which it takes nothing, are left out."""
    case = _filled(case)
    rows = np.concatenate([case.X, *case.sites])
    parts = [case.X, *case.sites] if within else [rows]
    covariance = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in parts) / len(rows)
    mean = None if within else rows.mean(axis=0)
    return contest(case.X, case.Y, mean, covariance, np.arange(rows.shape[1]), len(rows), seed)


def _filled(case: Case) -> Case:
    """With the mean of all rows in place of missing values."""
    mean = np.nanmean(np.concatenate([case.X, *case.sites]), axis=0)
    X, *sites = (np.where(np.isnan(rows), mean, rows) for rows in (case.X, *case.sites))
    return case._replace(X=X, sites=tuple(sites))


def _shape(title: str) -> str:
    return title.removesuffix(", within sites").removesuffix(", Sieve's defaults")


def table(records: list[dict[str, Any]]) -> Iterator[str]:
    """Means with 95 % intervals over repeats."""
    heads = " | ".join(f"q = {rate}: error rate | power" for rate in RATES)
    yield f"| rows | repeats | {heads} |"
    yield "|---|---|" + "---|---|" * len(RATES)
    for title in TITLES:
        some = [record for record in records if record["case"] == title]
        if some:
            cells = (cell for rate in RATES for cell in _cells(some, str(rate)))
            yield f"| {title} | {len(some)} | {' | '.join(cells)} |"


def _cells(records: list[dict[str, Any]], rate: str) -> tuple[str, str]:
    pairs = np.array([record["found"][rate] for record in records], dtype=np.float64)
    false = pairs[:, 0] / np.maximum(pairs.sum(axis=1), 1)
    power = pairs[:, 1] / np.maximum([record["n_true"] for record in records], 1)
    half = 1.96 * false.std(ddof=1) / np.sqrt(len(false)) if len(false) > 1 else np.nan
    return f"{false.mean():.3f} ± {half:.3f}", f"{power.mean():.2f}" if records[0]["n_true"] else "-"


if __name__ == "__main__":
    main()
