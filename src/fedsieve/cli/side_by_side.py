"""Two methods on the same tables: the one that was asked for, and the other beside it."""

from typing import Any

from fedsieve.errors import not_one_of
from fedsieve.protocol import SievePlan, SSFMLFSPlan

SIEVE, SSFMLFS = SievePlan.method, SSFMLFSPlan.method
MOST_COMPARED = 2000  # features; beyond, SSFMLFS takes long


def asked_and_other(method: str) -> tuple[str, str]:
    """The names of the method that was asked for and of the other one.

    >>> asked_and_other("sieve")
    ('Sieve', 'SSFMLFS')
    """
    names = {SIEVE.lower(): (SIEVE, SSFMLFS), SSFMLFS.lower(): (SSFMLFS, SIEVE)}
    if method.lower() not in names:
        raise not_one_of("fedsieve", "--method", names, method)
    return names[method.lower()]


def add_other_ranks(record: dict[str, Any], other: dict[str, Any]) -> None:
    """Put the ranks by the other method into a record, as one more number per feature."""
    column = f"rank_{other['method']}"
    record["columns"].append(column)
    record[column] = {name: rank for rank, name in enumerate(other["order"], start=1)}


def agreement_line(record: dict[str, Any], other: dict[str, Any]) -> str:
    """How far two methods agree."""
    both = len(set(record["selected"]) & set(other["selected"]))
    return f"{other['method']} selects {both} of the same {len(record['selected'])} features."
