"""A consortium on one machine
===========================

A consortium on one machine: ten unlike sites choose pixels of digits, under the rules of a real site.

`policy="site"` makes every client refuse what a site that joined a federation would refuse.
"""

import numpy as np

from fedsieve import Sieve, datasets, partition

digits = datasets.load_digits()
labeled, others = partition.labeled_split(digits.Y, 0.2, 0)
parts = partition.dirichlet(digits.Y[others], n_clients=5, alpha=5.0, random_state=0)
sites = {f"site-{n}": digits.X[others[part]] for n, part in enumerate(parts, start=1)}

selector = Sieve(12, ranges="robust", n_trees=50, n_bootstraps=5)
selector.fit(digits.X[labeled], digits.Y[labeled], clients=sites, policy="site")

sent = sum(message.n_bytes for message in selector.transcript_ if message.sender != "server")
raw = sum(rows.nbytes for rows in sites.values())
print(f"Pixels chosen: {[digits.feature_names[i] for i in selector.order_[:12]]}")
print(f"All sites sent {sent:,} bytes; their rows are {raw:,}.")
picture = np.where(selector.support_, "#", ".").reshape(8, 8)
print("\n".join(" ".join(row) for row in picture))
assert selector.support_.sum() == 12
