"""What stands between an answer and the wire: what a site agreed to, and its own rules."""

from fedsieve.privacy.guarded_table import GuardedTable
from fedsieve.privacy.held_back import HeldBack, held_back, held_back_in_total
from fedsieve.privacy.policy import (
    LEAST_ROWS,
    LIBRARY,
    SITE,
    Pins,
    Policy,
    SiteRules,
    Told,
    preset,
    rows_leave,
    what_leaves,
    why_forbidden,
)
from fedsieve.privacy.rows_needed import check_rows_needed, rows_needed
from fedsieve.privacy.story import Story
from fedsieve.privacy.views import Views, with_views

__all__ = [
    "LEAST_ROWS",
    "LIBRARY",
    "SITE",
    "GuardedTable",
    "HeldBack",
    "Pins",
    "Policy",
    "SiteRules",
    "Story",
    "Told",
    "Views",
    "check_rows_needed",
    "held_back",
    "held_back_in_total",
    "preset",
    "rows_leave",
    "rows_needed",
    "what_leaves",
    "why_forbidden",
    "with_views",
]
