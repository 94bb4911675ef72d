"""Two selections beside each other: what both choose, what entered and left, and how ranks moved, as plain values."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fedsieve.errors import DataError


def compare_selections(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Compare two records on the features that both rank; ranks and selections are counted among these.

    >>> one = {"method": "Sieve", "order": ["a", "b", "c"], "selected": ["a", "b"]}
    >>> other = {"method": "SSFMLFS", "order": ["b", "c", "d"], "selected": ["b"]}
    >>> found = compare_selections(one, other)
    >>> found["n_common"], found["overlap"], found["left"], found["only_in_first"]
    (2, 1, [], ['a'])
    """
    from scipy.stats import kendalltau, spearmanr  # here: commands that compare nothing need not load it

    orders = [_common(record, other) for record, other in ((first, second), (second, first))]
    n_common = len(orders[0])
    if not n_common:
        raise DataError("the two selections rank no feature in common; there is nothing to compare.")
    chosen = [
        [name for name in order if name in set(record["selected"])]
        for order, record in zip(orders, (first, second), strict=True)
    ]
    ranks = [{name: rank for rank, name in enumerate(order, start=1)} for order in orders]
    both, either = set(chosen[0]) & set(chosen[1]), set(chosen[0]) | set(chosen[1])
    return {
        "methods": [first["method"], second["method"]],
        "n_features": [len(first["order"]), len(second["order"])],
        "n_common": n_common,
        "only_in_first": [name for name in first["order"] if name not in ranks[0]],
        "only_in_second": [name for name in second["order"] if name not in ranks[1]],
        "n_selected": [len(names) for names in chosen],
        "overlap": len(both),
        "overlap_by_chance": len(chosen[0]) * len(chosen[1]) / n_common,
        "jaccard": len(both) / len(either) if either else None,
        "overlap_at": [_overlap(orders, k) for k in _sizes(n_common, [len(names) for names in chosen])],
        "kendall": _agreement(kendalltau, ranks),
        "spearman": _agreement(spearmanr, ranks),
        "entered": [name for name in chosen[1] if name not in both],
        "left": [name for name in chosen[0] if name not in both],
        "features": [
            {
                "feature": name,
                "first": ranks[0][name],
                "second": ranks[1][name],
                "moved": ranks[0][name] - ranks[1][name],
            }
            for name in orders[0]
        ],
    }


def _common(record: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    known = set(other["order"])
    return [name for name in record["order"] if name in known]


def _sizes(n_common: int, n_selected: list[int]) -> list[int]:
    """Numbers of features to look at: 1, 2, 5, 10, ... and those that were selected."""
    steps = (digit * 10**power for power in range(len(str(n_common))) for digit in (1, 2, 5))
    return sorted({size for size in (*steps, *n_selected) if 0 < size <= n_common})


def _overlap(orders: list[list[str]], k: int) -> dict[str, Any]:
    both = len(set(orders[0][:k]) & set(orders[1][:k]))
    return {"k": k, "overlap": both, "jaccard": both / (2 * k - both)}


def _agreement(measure: Any, ranks: list[dict[str, int]]) -> float | None:
    """A rank correlation of the common features; none of a single one."""
    if len(ranks[0]) < 2:
        return None
    values = np.array([[of_one[name] for name in ranks[0]] for of_one in ranks])
    return float(measure(values[0], values[1]).statistic)
