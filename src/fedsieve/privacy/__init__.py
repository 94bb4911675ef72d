"""What stands between an answer and the wire: what a site agreed to, and its own rules."""

from fedsieve.privacy.policy import LIBRARY, SITE, Policy, SiteRules, preset, what_leaves

__all__ = ["LIBRARY", "SITE", "Policy", "SiteRules", "preset", "what_leaves"]
