"""What a curious server could learn: real attacks on real answers, each beside chance and beside its own rows.

`attacks/` has the attacks, functions from what a server holds to a guess; `trials/` tries each in a `Setting` through a
site's real endpoint and makes a `Finding`. Nothing here is part of a federation.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from fedsieve.audit.finding import Finding
from fedsieve.audit.setting import GUARDS, Setting
from fedsieve.audit.trials.chosen_requests import chosen_requests
from fedsieve.audit.trials.differencing import difference_of_two_runs
from fedsieve.audit.trials.lone_values import lone_columns_to_rows
from fedsieve.audit.trials.membership import membership
from fedsieve.audit.trials.poisoning import poisoning
from fedsieve.audit.trials.relations import relations_to_values
from fedsieve.audit.trials.small_sites import small_site_to_rows

ATTACKS: dict[str, Callable[[Setting], Finding]] = {
    "relations": relations_to_values,
    "lone columns": lone_columns_to_rows,
    "small sites": small_site_to_rows,
    "differencing": difference_of_two_runs,
    "chosen requests": chosen_requests,
    "membership": membership,
    "poisoning": poisoning,
}
"""Every attack by name, in the order in which they are told."""


def audit(
    setting: Setting, only: Iterable[str] | None = None, watch: Callable[[str], None] | None = None
) -> list[Finding]:
    """Try all attacks, or some; `watch` is told of each before it begins."""
    chosen = set(ATTACKS if only is None else only)
    findings = []
    for name, attack in ATTACKS.items():
        if name in chosen:
            if watch is not None:
                watch(name)
            start = time.perf_counter()
            found = attack(setting)
            findings.append(replace(found, seconds=round(time.perf_counter() - start, 2)))
    return findings


__all__ = ["ATTACKS", "GUARDS", "Finding", "Setting", "audit"]
