"""What Sieve found of each feature, with the reasons, as results and files tell it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedsieve.arrays import Float, Int
from fedsieve.methods.missing import NOTHING, Missing
from fedsieve.protocol.outcome import Selection
from fedsieve.sieve import Choice


@dataclass(frozen=True, eq=False)
class SieveSelection(Selection):
    """Also the reasons, per feature; NaN (or -1) for features that were screened out before they were compared."""

    ranks: dict[str, Float]  # per view, 1 is best
    redundancy: Float  # with the chosen feature most like it
    redundant_with: Int  # which one that is; -1 where there is none
    stability: Float  # share of bootstraps in which it is chosen
    choice: Choice | None  # how the number of features was chosen, where it was
    privacy: Mapping[str, Any] | None = None  # what noise promised and cost, where there was any
    missing: Missing = NOTHING  # how many values, as far as it was told

    def columns(self) -> dict[str, Float]:
        """With the reasons, and the share of missing values where any are."""
        ranks = {f"rank_{name}": rank for name, rank in self.ranks.items()}
        gaps = {} if self.missing.share is None else {"missing": self.missing.share}
        return {**super().columns(), "redundancy": self.redundancy, "stability": self.stability, **ranks, **gaps}

    def links(self) -> dict[str, Int]:
        """With what a feature is redundant with."""
        return {"redundant_with": self.redundant_with}

    def facts(self) -> dict[str, Any]:
        """With the losses by which the number of features was chosen, what noise promised and cost, what is missing."""
        others: dict[str, Any] = {} if self.privacy is None else {"privacy": dict(self.privacy)}
        others |= {} if self.missing.by_site is None else {"missing_by_site": self.missing.by_site}
        if self.choice is None:
            return others
        tried = zip(self.choice.sizes.tolist(), self.choice.loss.tolist(), self.choice.error.tolist(), strict=True)
        return {"sizes_tried": [{"k": k, "ranking_loss": loss, "error": error} for k, loss, error in tried], **others}
