"""MLACO: ants walk over the features, from each to one that is relevant and unlike it, and leave pheromone."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_count, check_number
from fedsieve.kernels.ant_walks import count_visits
from fedsieve.measures.correlation import cosine, pearson
from fedsieve.measures.scaling import unit_scaled
from fedsieve.ordering import ranked
from fedsieve.rivals.rival import SupervisedRival

LEAST_SIMILARITY = 1e-4  # in place of 0, by which nothing can be divided
LARGEST_BETA = 10.0  # similarities are at least 1e-10: larger powers of their inverses would overflow


class MLACO(SupervisedRival):
    """Ant colony optimization: features that many ants visit gain pheromone, by which they are ranked.

    M. Paniri, M. B. Dowlatshahi, H. Nezamabadi-pour: MLACO: A multi-label feature selection algorithm based on ant
    colony optimization. Knowledge-Based Systems 192, 2020.

    Fidelity: checked against the authors' code, except that it needs at least 25 features (here fewer ants walk), and
    that where all attractions are 0 an ant goes to any feature it has not visited.

    A feature attracts an ant by pheromone * (1 / similarity with where it is)^beta * relevance, where relevance is
    the largest |correlation| with a label and similarity is |correlation| of two features. Pheromone starts as the
    largest |cosine| with a label, scaled to [0, 1]. Every ant makes n_features // 2 steps, ever more often to the
    most attractive feature and ever less often by chance.

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    n_cycles : how often all ants walk.
    n_ants : ants, or one per feature if there are fewer features.
    decay : share of pheromone that is lost per cycle, in [0, 1].
    beta : weight of dissimilarity, in [0, 10].
    random_state : seed, or numpy's RandomState; None draws anew each time.

    Complexity: O(n d^2 + n_cycles n_ants d^2).
    """

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        n_cycles: int = 40,
        n_ants: int = 25,
        decay: float = 0.1,
        beta: float = 1.0,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_features_to_select)
        self.n_cycles = n_cycles
        self.n_ants = n_ants
        self.decay = decay
        self.beta = beta
        self.random_state = random_state

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_count("MLACO", "n_cycles", self.n_cycles)
        check_count("MLACO", "n_ants", self.n_ants)
        check_number("MLACO", "decay", self.decay, "a number in [0, 1]", lambda decay: 0 <= decay <= 1)
        beta_rule = f"a number in [0, {LARGEST_BETA:g}]"
        check_number("MLACO", "beta", self.beta, beta_rule, lambda beta: 0 <= beta <= LARGEST_BETA)
        rng = check_random_state(self.random_state)
        n_features = X.shape[1]
        n_ants, n_steps = min(self.n_ants, n_features), n_features // 2
        similarity = np.abs(pearson(X, X))
        similarity[similarity == 0] = LEAST_SIMILARITY
        relevance = np.abs(pearson(X, Y)).max(axis=1)
        pull = (1.0 / similarity) ** self.beta * relevance
        pheromone = unit_scaled(np.abs(cosine(X, Y)).max(axis=1))
        for _ in range(self.n_cycles):
            starts = rng.permutation(n_features)[:n_ants]
            uniforms = rng.random_sample((n_ants, n_steps, 2))
            visits = count_visits(pheromone, pull, starts, uniforms)
            pheromone = (1.0 - self.decay) * pheromone + visits / max(visits.sum(), 1)
        return pheromone, ranked(pheromone)
