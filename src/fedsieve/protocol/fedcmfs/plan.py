"""The parameters of FedCMFS, checked."""

from dataclasses import dataclass
from typing import ClassVar

from fedsieve.errors import ParameterError
from fedsieve.protocol.labeled_sites import LabeledSitesPlan

MAX_CONDITIONING = 5  # the work of a test grows by 3 with each given variable
MANY_ROWS = 5000  # above, chance is judged more strictly unless the plan says how


@dataclass(frozen=True, eq=False)
class FedCMFSPlan(LabeledSitesPlan):
    """The parameters of one selection by FedCMFS (our reading)."""

    method: ClassVar[str] = "FedCMFS"

    alpha: float | None = None
    max_conditioning: int = 2
    max_pool: int = 10
    combine: str = "p-values"
    wire: str = "statistics"

    def __post_init__(self) -> None:
        """Check what is FedCMFS's own after what all methods share."""
        super().__post_init__()
        if self.alpha is not None:
            self.check_number("alpha", 0.0, 1.0, "in [0, 1]")
        self.check_count("max_conditioning", 0, MAX_CONDITIONING)
        self.check_count("max_pool", 1)
        self.check_choice("combine", ("p-values", "pooled"))
        self.check_choice("wire", ("statistics", "tests"))
        if self.combine == "pooled" and self.wire == "tests":
            raise ParameterError(
                f"{self.method}: combine='pooled' adds up the sites' statistics, which wire='tests' does not send. "
                "Use wire='statistics'."
            )

    @property
    def smaller_messages(self) -> str:
        """The wire form that sends less at a time, for few features; pooled statistics have no other."""
        has_other = self.wire == "statistics" and self.combine == "p-values"
        return "Use wire='tests' or fewer features" if has_other else super().smaller_messages

    def level(self, n_rows: int) -> float:
        """The p-value above which two variables count as independent."""
        return self.alpha if self.alpha is not None else 0.01 if n_rows > MANY_ROWS else 0.05
