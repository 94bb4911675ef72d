"""The totals of a run: what all sites said together, kept so that the method can run again and ask nobody.

Sums over sites only. A method that needs single sites' replies leaves none: those are not kept beyond a run.
"""

from typing import Any

from fedsieve.messages import Request
from fedsieve.protocol.cohort import Cohort

MAX_KEPT = 1 << 28  # bytes of totals that are kept


class KeptTotals:
    """Keeps the totals of a run's last attempt, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._told: list[tuple[Request, Any]] = []
        self._n_bytes = 0
        self._why_none = "no run has begun"
        self.unseen, self.noise_shares = "", 1

    def begin(self, cohort: Cohort) -> None:
        """A new attempt: forget the one before."""
        self._told, self._n_bytes, self._why_none = [], 0, ""
        self.unseen, self.noise_shares = cohort.unseen, cohort.noise_shares

    def keep(self, request: Request, total: Any) -> None:
        """Keep a total, the server's own part included."""
        self._n_bytes += sum(getattr(value, "nbytes", 0) for value in vars(total).values())
        if self._n_bytes > MAX_KEPT:
            self.give_up(f"they are above {MAX_KEPT} bytes")
        elif not self._why_none:
            self._told.append((request, total))

    def give_up(self, why: str) -> None:
        """Keep nothing of this attempt."""
        self._told, self._why_none = [], why

    @property
    def why_none(self) -> str:
        """Why no totals are kept; empty where they are."""
        return self._why_none

    @property
    def told(self) -> tuple[tuple[Request, Any], ...]:
        """Each request with the total of the replies to it."""
        return tuple(self._told)
