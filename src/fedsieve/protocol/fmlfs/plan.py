"""The parameters of FMLFS, checked."""

from dataclasses import dataclass
from typing import ClassVar

from fedsieve.protocol.labeled_sites import LabeledSitesPlan


@dataclass(frozen=True, eq=False)
class FMLFSPlan(LabeledSitesPlan):
    """The parameters of one selection by FMLFS (our reading)."""

    method: ClassVar[str] = "FMLFS"

    n_bins: int = 3
    weighting: str = "rows"
    relevance: str = "mean"

    def __post_init__(self) -> None:
        """Check what is FMLFS's own after what all methods share."""
        super().__post_init__()
        self.check_count("n_bins", 2)
        self.check_choice("weighting", ("rows", "plain"))
        self.check_choice("relevance", ("mean", "max"))
