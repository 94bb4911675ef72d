"""What SSFMLFS finds besides scores: radii, distances, how PageRank ended, and how certain ranks are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.methods.sampling_error import certain_words
from fedsieve.protocol.outcome import DISTANCE, Selection


@dataclass(frozen=True, eq=False)
class GraphSelection(Selection):
    """Also the radius of each feature's relation, the distances, and how PageRank ended."""

    radius: Float
    distance: Float | None  # (n_features, n_features), 0 for features that are no vertices; None under "vectors"
    selected_distance: Float | None  # (k, k) among the selected, best first
    n_iter: int
    residual: float
    n_clipped: dict[str, int] | None  # per site, the server included, where single replies are seen
    score_error: Float  # standard errors at most, where sites compare a sample of their row pairs; else 0
    rank_error: Int  # by how many places each rank may be off, for the same reason

    @property
    def is_sampled(self) -> bool:
        """Whether some site may have compared a sample."""
        return bool(self.score_error.any())

    def columns(self) -> dict[str, Float]:
        """With the radius, and what a sample leaves uncertain."""
        found = {**super().columns(), "radius": self.radius}
        if self.is_sampled:
            found |= {"score_error": self.score_error, "rank_error": self.rank_error.astype(np.float64)}
        return found

    def why(self, names: Sequence[str], labels: Sequence[str]) -> dict[str, str]:  # noqa: ARG002
        """How certain each rank is, where sites compared a sample."""
        return certain_words(names, self.rank_error) if self.is_sampled else {}

    def pairs(self) -> tuple[str, Float] | None:
        """By their distance in the graph, where anybody holds it."""
        return None if self.selected_distance is None else (DISTANCE, self.selected_distance)

    def facts(self) -> dict[str, Any]:
        """How PageRank ended, and what was clipped."""
        return {"n_iter": self.n_iter, "residual": self.residual, "n_clipped": self.n_clipped}
