"""0/1 rows from FMLFS's information: entropies of few rows have few possible values, so that they tell the counts.

H(f, g) and the like are sums of c log c over counts c of rows. For every pair of features all possible counts are tried
that give the distance which was sent; a feature's count must fit all its pairs. What stays open is which value of a
column is called 1: columns are taken to be 1 in most rows.
"""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.gram import Gram
from fedsieve.audit.attacks.signs import settled
from fedsieve.messages.columns import square
from fedsieve.messages.information import Information

DECIMALS = 9

Counts = dict[float, set[tuple[int, int, int]]]


def gram_of_information(reply: Information) -> Gram | None:
    """The Gram matrix of the features, each turned to be 1 in most rows; `None` where some counts stay open."""
    n, d = reply.n_rows, len(reply.features)
    table = _possible(n)
    apart = np.round(square(reply.apart, d, 1), DECIMALS) + 0.0
    options = {(f, g): table.get(float(apart[f, g]), set()) for f in range(d) for g in range(f + 1, d)}
    ones = [set(range((n + 1) // 2, n + 1)) for _ in range(d)]
    for _ in range(d):
        before = [len(some) for some in ones]
        for (f, g), triples in options.items():
            fitting = {t for t in triples if t[0] in ones[f] and t[1] in ones[g]}
            options[f, g] = fitting
            ones[f] &= {t[0] for t in fitting}
            ones[g] &= {t[1] for t in fitting}
        if [len(some) for some in ones] == before:
            break
    if any(len(some) != 1 for some in ones):
        return None
    sums = np.array([2.0 * next(iter(some)) - n for some in ones])
    sizes = np.full((d, d), float(n))
    for (f, g), triples in options.items():
        sizes[f, g] = sizes[g, f] = min(abs(n - 2 * (a + b - 2 * both)) for a, b, both in triples)
    return settled(n, sums, sizes)


def _possible(n: int) -> Counts:
    """Every distance of two 0/1 columns of n rows, and the (ones, ones, both) that give it, ones being half or more."""
    terms = np.arange(n + 1) * np.log2(np.maximum(np.arange(n + 1), 1.0))

    def entropy(*counts: int) -> Float:
        total: Float = (terms[n] - sum(terms[count] for count in counts)) / n
        return total

    found: Counts = {}
    for a in range((n + 1) // 2, n + 1):
        for b in range((n + 1) // 2, n + 1):
            single = entropy(a, n - a) + entropy(b, n - b)
            for both in range(a + b - n, min(a, b) + 1):
                joint = entropy(both, a - both, b - both, n - a - b + both)
                value = float(np.round(np.maximum(2 * joint - single, 0.0), DECIMALS)) + 0.0
                found.setdefault(value, set()).add((a, b, both))
    return found
