"""The paper's definitions and equations as pure functions on arrays: one function each, formula in its docstring.

| paper | function |
|---|---|
| Definition 1, Eq. 3 | `relation`, `membership`, `properties` |
| Definition 2, Eq. 1-2 | `lower_approximation`, `upper_approximation` |
| Definitions 3-6, Eq. 4-7 | `entropy`, `joint_entropy`, `conditional_entropy`, `mutual_information` |
| correlation distance | `correlation_distance` |
| Definition 7, Eq. 8 | `positive_region` |
| Definition 8, Eq. 9 | `label_similarity`, `least_similar` (DT), `most_similar` (ST), `soft_decisions` |
| Definition 9, Eq. 10-11 | `neighbor_lower_approximation`, `neighbor_upper_approximation` |
| Definition 10, Eq. 12 | `dependency` |
| Eq. 13 | `weighted_pagerank`, `order_by_score` |
"""

from fedsieve.fuzzy.graph import PageRank, correlation_distance, weighted_pagerank
from fedsieve.fuzzy.information import conditional_entropy, entropy, joint_entropy, mutual_information
from fedsieve.fuzzy.neighbors import (
    dependency,
    label_similarity,
    least_similar,
    most_similar,
    neighbor_lower_approximation,
    neighbor_upper_approximation,
    soft_decisions,
)
from fedsieve.fuzzy.relation import Properties, membership, properties, relation
from fedsieve.fuzzy.rough import lower_approximation, positive_region, upper_approximation
from fedsieve.ordering import default_n_features, order_by_score

__all__ = [
    "PageRank",
    "Properties",
    "conditional_entropy",
    "correlation_distance",
    "default_n_features",
    "dependency",
    "entropy",
    "joint_entropy",
    "label_similarity",
    "least_similar",
    "lower_approximation",
    "membership",
    "most_similar",
    "mutual_information",
    "neighbor_lower_approximation",
    "neighbor_upper_approximation",
    "order_by_score",
    "positive_region",
    "properties",
    "relation",
    "soft_decisions",
    "upper_approximation",
    "weighted_pagerank",
]
