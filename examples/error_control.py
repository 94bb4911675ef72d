"""Error control
=============

Select features of which, on average, at most a stated share is false, and see that it holds.
"""

import numpy as np

from fedsieve import Sieve

RATE, N_TRUE, N_FEATURES = 0.3, 12, 30
rng = np.random.default_rng(2)


def study(n_labeled: int, n_site: int) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """The first twelve features each help with some of six labels; the other eighteen with none."""
    X = rng.standard_normal((n_labeled, N_FEATURES))
    weights = rng.choice([-1.0, 1.0], (N_TRUE, 6))
    Y = (X[:, :N_TRUE] @ weights + rng.standard_normal((n_labeled, 6)) > 0).astype(int)
    return X, Y, {name: rng.standard_normal((n_site, N_FEATURES)) for name in ("north", "south", "west")}


def control(X: np.ndarray, Y: np.ndarray, sites: dict[str, np.ndarray]) -> Sieve:
    """Says itself how many features there are to select; sites are asked for nothing more than without it."""
    return Sieve(fdr=RATE, n_trees=20, n_bootstraps=0).fit(X, Y, clients=sites)


shares = []
for number in range(3):
    X, Y, sites = study(n_labeled=150, n_site=200)
    selector = control(X, Y, sites)
    chosen = selector.fdr_["selected"]
    n_false = int((chosen >= N_TRUE).sum())
    shares.append(n_false / max(len(chosen), 1))
    print(f"study {number + 1}: {len(chosen)} selected, {n_false} of them false. {selector.fdr_['words']}")
print(f"False among the selected: {np.mean(shares):.0%} on average; at most {RATE:.0%} were to be expected.")
assert np.mean(shares) <= RATE

# Labels that no feature tells anything of: nothing is selected, which is an answer, too.
nothing = control(X, rng.permutation(Y), sites).fdr_["selected"]
print(f"Of labels that were dealt out anew: {len(nothing)} selected.")
assert len(nothing) <= 3

# How far each feature is ahead of its knockoff, a made-up feature that goes with the others and knows no label.
order = np.argsort(-selector.fdr_["W"])
for feature in (*order[:3], *order[-2:]):
    kind = "helps" if feature < N_TRUE else "tells nothing"
    print(f"feature {feature:2d} ({kind}): margin {selector.fdr_['W'][feature]:+.3f}")
