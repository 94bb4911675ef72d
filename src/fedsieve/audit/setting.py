"""What is audited: a method with its parameters, a site's rules, and the rows; and the honest run of it, once."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.finding import Finding
from fedsieve.audit.parties import Parties, Rows
from fedsieve.audit.sites import Overheard, overheard_run
from fedsieve.messages.columns import LOCAL
from fedsieve.privacy import LIBRARY, SITE, Policy
from fedsieve.protocol import Method
from fedsieve.transport.site_state import TransientState

GUARDS = {"site": SITE, "none": LIBRARY}
QUICK: dict[str, Any] = {"n_trees": 5, "n_bootstraps": 0}  # what is done with answers does not change what they tell


@dataclass(frozen=True, eq=False)
class Setting:
    """One method under one set of rules on one set of rows."""

    method: Method
    parties: Parties
    policy: Policy
    guard: str
    seed: int = 0

    @classmethod
    def of(cls, method: Method, parties: Parties, guard: str, policy: Policy | None = None, seed: int = 0) -> "Setting":
        """With refusals that come out, and, in secure sums, the rules that all sites would agree on."""
        rules = policy or GUARDS[guard]
        changes: dict[str, Any] = {"on_bad_client": "raise"}
        if method.secure:
            changes |= {"min_cell": rules.min_cell, "rows_per_column": rules.rows_per_column}
        return cls(replace(method, **changes), parties, rules, guard, seed)

    @property
    def wire(self) -> str:
        """The wire form, where the method has several; and the ranges, where they are other than robust."""
        parts = [str(getattr(self.method, name)) for name in ("wire_form", "wire") if hasattr(self.method, name)][:1]
        if getattr(self.method, "combine", "") == "pooled":
            parts.append("pooled")
        if self.method.ranges == "federated" and not self.has_own_ranges:
            parts.append("exact ranges")
        return ", ".join(parts)

    @property
    def has_own_ranges(self) -> bool:
        """Whether each site scales its columns by its own ranges, which it keeps to itself."""
        return self.method.ranges == LOCAL or getattr(self.method, "combine", "pooled") != "pooled"

    @property
    def quick(self) -> Method:
        """The method without what the server does for quality's sake."""
        known = {part.name for part in fields(self.method)}
        return replace(self.method, **{name: value for name, value in QUICK.items() if name in known})

    @cached_property
    def overheard(self) -> Overheard:
        """What the server holds after an honest run."""
        return self.run(self.parties)

    def run(self, parties: Parties, states: dict[str, TransientState] | None = None, run: str = "run") -> Overheard:
        """What the server holds after an honest run with other rows, or with sites that remember other runs."""
        tables = parties.tables(self.method)
        return overheard_run(self.quick, parties.labeled, tables, self.policy, parties.attacked, states, run)

    def columns_of(self, rows: Rows, site: Rows | None = None) -> Float:
        """The rows as the attacks write them: with labels where sites hold any, in units of a site's own ranges.

        The site is the one under attack unless another is named; a column that is constant there is one half.
        """
        X = rows.X
        if self.has_own_ranges:
            own = (site or self.parties.members).X
            low, width = own.min(axis=0), np.ptp(own, axis=0)
            X = np.where(width > 0, (X - low) / np.where(width > 0, width, 1.0), 0.5)
        return np.hstack([X, rows.Y]) if self.method.sites_hold_labels else X

    def finding(self, attack: str, asked: str, unit: str, **what: Any) -> Finding:
        """What an attack came to in this setting."""
        epsilon = getattr(self.method, "epsilon", None)
        secure = self.method.secure
        return Finding(attack, asked, self.method.name, self.wire, self.guard, secure, epsilon, unit, **what)
