"""What a run found, whatever the method."""

from dataclasses import dataclass, field
from typing import Any

from fedsieve.arrays import Float, Int


@dataclass(frozen=True, eq=False)
class Selection:
    """Per feature score (larger is better) and relevance to the labels, and the order, best first.

    A method's own selection adds what else it found; `columns`, `links` and `facts` say what of it belongs in a record.
    """

    scores: Float
    order: Int
    relevance: Float
    n_rows: dict[str, int]  # per client
    dropped: dict[str, str] = field(default_factory=dict, kw_only=True)  # client -> why
    n_selected: int | None = field(default=None, kw_only=True)  # where the method says how many features are kept

    def columns(self) -> dict[str, Float]:
        """Numbers per feature, by name."""
        return {"scores": self.scores, "relevance": self.relevance}

    def links(self) -> dict[str, Int]:
        """Per feature another feature, by name; -1 for none."""
        return {}

    def facts(self) -> dict[str, Any]:
        """Plain values about the run, by name."""
        return {}
