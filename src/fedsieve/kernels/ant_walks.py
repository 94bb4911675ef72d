"""The walks of MLACO's ants in one cycle, compiled."""

import math

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.kernels.compiled import compiled
from fedsieve.ordering import DECIMALS

EXPONENT = 0.7  # of the falling share of steps by chance
UNITS = 10.0**DECIMALS


@compiled
def count_visits(pheromone: Float, pull: Float, starts: Int, uniforms: Float) -> Int:
    """How often each feature was stepped on, (n_features,); where an ant starts does not count.

    `pull[c, f]` is what feature f has for an ant on c, besides pheromone; `uniforms` is (n_ants, n_steps, 2).

    The order of random numbers: the caller draws, per cycle, first `starts = permutation(n_features)[:n_ants]`, then
    `uniforms` as one array. Ants walk one after the other on the same pheromone. In step i = 1, 2, ... of ant k let
    u, v = uniforms[k, i - 1] and q = (1 - i / n_steps)^0.7. Attractions are pheromone * pull, 0 for visited features.
    - All attractions 0: the unvisited feature number floor(v * how many there are), in index order.
    - u > q: the largest attraction, rounded as in `ordering`, ties to the smaller index.
    - else: the first feature at which the running sum of attractions, in index order, exceeds v * their sum.
    """
    n_ants, n_steps = uniforms.shape[:2]
    n_features = len(pheromone)
    visits = np.zeros(n_features, dtype=np.int64)
    visited = np.empty(n_features, dtype=np.bool_)
    attractions = np.empty(n_features)
    for ant in range(n_ants):
        visited[:] = False
        at = starts[ant]
        visited[at] = True
        for i in range(n_steps):
            total = 0.0
            for f in range(n_features):
                attractions[f] = 0.0 if visited[f] else pheromone[f] * pull[at, f]
                total += attractions[f]
            by_choice = uniforms[ant, i, 0] > (1.0 - (i + 1) / n_steps) ** EXPONENT
            if total == 0.0:
                at = _unvisited(visited, int(uniforms[ant, i, 1] * (n_features - 1 - i)))
            elif by_choice:
                at = _largest(attractions)
            else:
                at = _by_chance(attractions, uniforms[ant, i, 1] * total)
            visited[at] = True
            visits[at] += 1
    return visits


@compiled
def _unvisited(visited: Bool, number: int) -> int:
    for f in range(len(visited)):
        if not visited[f]:
            if number == 0:
                return f
            number -= 1
    return -1


@compiled
def _largest(attractions: Float) -> int:
    largest = attractions.max()
    scale = 10.0 ** math.floor(math.log10(largest))
    best = np.rint(largest / scale * UNITS)
    for f in range(len(attractions)):
        if np.rint(attractions[f] / scale * UNITS) == best:
            return f
    return -1


@compiled
def _by_chance(attractions: Float, threshold: float) -> int:
    running, last = 0.0, -1
    for f in range(len(attractions)):
        if attractions[f] > 0.0:
            running, last = running + attractions[f], f
            if running > threshold:
                return f
    return last
