"""How many features
=================

How many features: let the labeled rows decide, look at the curve, and take another number without asking anybody.
"""

import numpy as np

from fedsieve import Sieve

rng = np.random.default_rng(1)
X = rng.random((120, 15))
Y = np.column_stack([X[:, 2] > 0.5, X[:, 7] + X[:, 9] > 1.0, X[:, 2] + X[:, 7] > 1.2]).astype(int)
sites = {"north": rng.random((150, 15)), "south": rng.random((90, 15))}

selector = Sieve("auto", n_trees=50, n_bootstraps=5).fit(X, Y, clients=sites)
for k, loss, error in zip(selector.choice_.sizes, selector.choice_.loss, selector.choice_.error, strict=True):
    print(f"{k:3d} features: ranking loss {loss:.3f} ± {error:.3f}{'  <- chosen' if k == selector.choice_.k else ''}")

fewer = selector.rerank(2)  # from the totals that were kept; no site is asked again
print(f"Chosen: {selector.get_support(indices=True)}; the best two: {fewer.get_support(indices=True)}")
assert fewer.support_.sum() == 2
selector.plot.curve()
