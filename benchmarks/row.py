"""One figure of a benchmark: what was measured, which way is better, and what it should be."""

from dataclasses import asdict, dataclass
from typing import Literal

# A run on a busy machine differs by this much from a quiet one, even in ratios.
NOISE, OF_EXPONENTS = 1.25, 0.1


@dataclass(frozen=True)
class Row:
    """A figure; `better` tells whether more of it is better (speed-ups) or less (seconds, exponents)."""

    what: str
    value: float
    unit: str  # "x", "CPU s", "MB", "exponent", ...
    better: Literal["more", "less"]
    target: float | None = None

    @property
    def sign(self) -> str:
        return ">=" if self.better == "more" else "<="

    @property
    def is_met(self) -> bool:
        if self.target is None:
            return True
        return self.value >= self.target if self.better == "more" else self.value <= self.target

    def is_worse_than(self, committed: float) -> bool:
        """Whether it is worse than the committed value by more than noise."""
        if self.unit == "exponent":  # which may be 0
            return self.value > committed + OF_EXPONENTS
        if self.better == "more":
            return self.value * NOISE < committed
        return self.value > committed * NOISE

    def as_dict(self) -> dict:
        return asdict(self)
