"""The worst lie that a short search finds: which columns of two opposite rows are at which far end, and which nowhere.

The searcher sees everything, labels too: no real liar does, so this is what one site could do, not what one would. It
is a lower bound all the same; a longer search finds worse.
"""

from typing import Any

import numpy as np

from benchmarks.rules.federations import dealt, method_for
from benchmarks.rules.liar import METHODS, N_SELECTED, RANGES, Trial, median_site
from fedsieve.arrays import Float
from fedsieve.audit.attacks import lies

DATASETS = ("emotions",)
N_STARTS, N_STEPS = 10, 50
CHANGED = 0.1  # share of the columns that a step gives another end


def searched(name: str, seed: int) -> dict[str, Any]:
    """The worst lie to each method, with robust ranges, and what the replies show of it."""
    federation = dealt(name, seed)
    liar = median_site(federation)
    found: dict[str, Any] = {}
    for method_name in METHODS:
        method = method_for(method_name, federation.features, N_SELECTED, RANGES["robust"])
        trial = Trial(method, federation, liar)
        rng = np.random.default_rng([seed, 5])
        found[f"{method_name}, robust"] = [trial.told("searched", _worst(trial, federation.sites[liar], rng))]
    return found


def _worst(trial: Trial, rows: Float, rng: np.random.Generator) -> Float:
    starts = [rng.choice([-1.0, 0.0, 1.0], rows.shape[1], p=[0.3, 0.4, 0.3]) for _ in range(N_STARTS)]
    harm = [trial.moved_by(lies.some_opposite(rows, ends)) for ends in starts]
    best = starts[int(np.argmax(harm))]
    most = max(harm)
    for _ in range(N_STEPS):
        changed = rng.random(len(best)) < CHANGED
        tried = np.where(changed, rng.choice([-1.0, 0.0, 1.0], len(best)), best)
        moved = trial.moved_by(lies.some_opposite(rows, tried))
        if moved >= most:
            best, most = tried, moved
    return lies.some_opposite(rows, best)
