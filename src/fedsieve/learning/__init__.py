"""What judges a selection: the classifier ML-kNN, its neighbor search, and the multi-label metrics."""

from fedsieve.learning import metrics
from fedsieve.learning.mlknn import MLkNN
from fedsieve.learning.neighbors import nearest

__all__ = ["MLkNN", "metrics", "nearest"]
