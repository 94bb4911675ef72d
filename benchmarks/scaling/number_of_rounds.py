"""How many rounds a selection takes, counted in its transcript: each costs seconds on the engine, however small.

Sites have all their rules, but for exact ranges, which these do not tell.
"""

import numpy as np

from benchmarks.row import Row
from fedsieve import SSFMLFS, Sieve

NAMES = tuple("abcd")
DECLARED = dict.fromkeys(NAMES, (-2.0, 2.0))


def rows() -> list[Row]:
    return [
        Row("Sieve, declared ranges", _rounds(Sieve(ranges=DECLARED)), "rounds", "less", 1),
        Row("Sieve, robust ranges", _rounds(Sieve(ranges="robust")), "rounds", "less", 2),
        Row("SSFMLFS, declared ranges", _rounds(SSFMLFS(ranges=DECLARED)), "rounds", "less", 2),
        Row("SSFMLFS, exact ranges", _rounds(SSFMLFS(ranges="federated"), "library"), "rounds", "less", 2),
        Row("SSFMLFS, robust ranges", _rounds(SSFMLFS(ranges="robust")), "rounds", "less", 3),
    ]


def _rounds(selector: Sieve | SSFMLFS, policy: str = "site") -> int:
    import pandas as pd

    rng = np.random.default_rng(4)

    def table(n_rows: int) -> pd.DataFrame:
        return pd.DataFrame(rng.normal(size=(n_rows, len(NAMES))), columns=list(NAMES))

    X, clients = table(40), {name: table(90) for name in ("north", "south", "west")}
    Y = (X[["a", "b"]] + rng.normal(size=(40, 2)) > 0).to_numpy().astype(int)
    fitted = selector.fit(X, Y, clients=clients, policy=policy)
    return max(entry.round for entry in fitted.transcript_)
