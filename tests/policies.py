"""The policy of a site that has no rules of its own, for tests of what an agreement alone allows and refuses."""

from dataclasses import replace
from pathlib import Path

from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.policy_file import policy_text, read_policy
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.privacy import LIBRARY, Policy

LENIENT = replace(LIBRARY, keeps_story=True, hides_defects=True)
"""Every limit off and every permission given; but a run is one story, and defects stay at the site."""


def write_rules(folder: Path, policy: Policy = LENIENT) -> None:
    """Give a site's folder a policy.toml of its own."""
    file = folder / "policy.toml"
    file.write_text(policy_text(policy), encoding="utf-8")
    file.chmod(0o600)


def take_part(site: SiteFolder) -> None:
    """Consent to the agreement in a site's folder, as `join` does."""
    ConsentRecord(site.path).join(site.agreement(), read_policy(site), {"file": "rows.csv"}, by="test", asked=False)
