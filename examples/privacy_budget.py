"""What noise costs
================

What noise costs: how much say differential privacy leaves the sites, by epsilon and by how many rows they have.

Needs the extra `private`. The answers of the sites are protected; the server's labeled rows are not.
"""

import numpy as np

from fedsieve import Sieve

rng = np.random.default_rng(3)
N_FAMILIES, N_COLUMNS, K = 10, 40, 10
FAMILY = np.arange(N_COLUMNS) % N_FAMILIES


def rows(n: int) -> np.ndarray:
    """Forty columns in ten families; those of a family go together, which few labeled rows hardly show."""
    return rng.normal(size=(n, N_FAMILIES))[:, FAMILY] + 0.7 * rng.normal(size=(n, N_COLUMNS))


X = rows(40)
Y = np.column_stack([X[:, 0] + X[:, 1] > 0, X[:, 1] - X[:, 2] > 0, X[:, 3] > 0.5]).astype(int)


def fitted(sites: dict[str, np.ndarray], epsilon: float | None = None) -> Sieve:
    """Sieve's selection; with an epsilon, clients answer with noise only."""
    return Sieve(K, epsilon=epsilon, delta=1e-6, n_trees=50, n_bootstraps=0).fit(X, Y, clients=sites)


say = {}
for n_rows in (200, 20_000):
    sites = {name: rows(n_rows) for name in ("north", "south", "east")}
    exact = fitted(sites).support_
    for epsilon in (1.0, 8.0):
        noisy = fitted(sites, epsilon)
        say[n_rows, epsilon] = noisy.privacy_["site_weight"]
        same = (exact & noisy.support_).sum()
        print(f"{n_rows:,} rows a site, epsilon {epsilon:g}: {same} of {K} features as without noise.")
        print(f"  {noisy.privacy_['words']}")

assert say[200, 1.0] < say[200, 8.0]  # less noise, more say
assert say[200, 1.0] < say[20_000, 1.0]  # more rows, more say
