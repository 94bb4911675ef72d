"""What a site's person sees before consenting: what leaves, under which rules; and the record of the answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.table import Table

from fedsieve.arrays import Float
from fedsieve.cli.console import out, say, warn
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.consent import ConsentRecord, Limits
from fedsieve.deployment.folders import SiteFolder
from fedsieve.deployment.policy_file import FILE, RULES, check_agreement, policy_digest, read_policy, write_policy
from fedsieve.deployment.spent_noise import SpentNoise
from fedsieve.errors import DataError, FedSieveError, ProtocolError, listed
from fedsieve.privacy import SITE, Policy, rows_leave, what_leaves


@dataclass(frozen=True)
class Consent:
    """What somebody agreed to let take part, and for how long."""

    agreement: Agreement
    policy: Policy
    data: Path
    n_rows: int
    by: str
    limits: Limits
    asked: bool

    @contextmanager
    def recorded(self, folder: Path) -> Iterator[None]:
        """Record that it begins, and, when the block ends, how it ended."""
        record, how = ConsentRecord(folder), "ended by this site"
        table = {"file": self.data.name, "rows": self.n_rows, "columns": len(self.agreement.method.features)}
        record.join(self.agreement, self.policy, table, by=self.by, limits=self.limits, asked=self.asked)
        try:
            yield
        except FedSieveError as error:
            how = str(error)
            raise
        except Exception as error:  # its text could hold data
            how = f"failed with {type(error).__name__}"
            raise
        finally:
            record.leave(how)


def make_policy(site: SiteFolder) -> None:
    """Write `policy.toml` with the defaults and what each rule is for."""
    site.agreement()  # says what is wrong if this is no site's folder
    file = write_policy(site)
    say(f"Wrote {file}. Change what you need; it holds from the next 'join' on, and 'join' shows it.")


def policy_for(site: SiteFolder, agreement: Agreement) -> Policy:
    """The site's rules, once the agreement asks for nothing that they never allow."""
    policy = read_policy(site)
    check_agreement(policy, agreement, site.name)
    n_sites = len(agreement.sites) * agreement.method.max_sites_per_client
    if n_sites < policy.min_cohort:
        warn(
            f"the agreement names {n_sites} sites; a run needs {policy.min_cohort} (min_cohort in {FILE}), or "
            f"{site.name} refuses."
        )
    return policy


def check_rows(X: Float, agreement: Agreement, policy: Policy, data: Path) -> None:
    """Refuse a table of fewer rows than the policy asks for, before anything else happens to it.

    In secure sums it asks that of all sites together, once it is told.
    """
    if not agreement.method.secure and len(X) < policy.min_rows:
        raise DataError(
            f"{data}: has {len(X)} rows; this site's policy asks for at least {policy.min_rows} (min_rows in {FILE}): "
            "sums of few rows hide little. Wait for more rows, or change the rule and give that up."
        )


def ask_for_consent(
    site: SiteFolder,
    agreement: Agreement,
    policy: Policy,
    data: Path,
    n_rows: int,
    *,
    by: str,
    limits: Limits,
    yes: bool,
) -> Consent:
    """Show what will leave this site and the rules in force, and ask."""
    out.print(_leaving(site, agreement, data, n_rows))
    out.print(rules_table(policy))
    before = ConsentRecord(site.path).last_policy()
    if before is not None and before[1] != policy_digest(policy):  # by hand, or by whoever made what was unpacked here
        warn(f"these rules are not those of this site's last consent ({before[0]}). Who changed them?")
    for name, words in agreement.categories.items():
        say(
            f"Text in {name!r} is read by the agreement's words: {listed(words, 20)}; any other word counts as 'other'."
        )
    if agreement.method.private:
        say(SpentNoise(site.ledger).words(policy))
    rows = "Rows themselves leave too" if rows_leave(agreement.method) else "Rows themselves never leave"
    say(f"To: {agreement.address}, federation {agreement.name!r}. {rows}.")
    consent = Consent(agreement, policy, data, n_rows, by, limits, asked=not yes)
    if limits.words:
        say(f"This consent is {limits.words}.")
    if yes:
        return consent
    if not out.is_terminal:
        raise ProtocolError(f"{site.name} did not consent: nobody is there to ask. Give --yes to consent unattended.")
    if not typer.confirm("Take part?", default=False):
        raise ProtocolError(f"{site.name} did not consent. Nothing was sent.")
    return consent


def _leaving(site: SiteFolder, agreement: Agreement, data: Path, n_rows: int) -> Table:
    table = Table(title=f"What leaves {site.name} ({n_rows} rows of {data})", title_justify="left")
    table.add_column("message", no_wrap=True)
    table.add_column("what it tells, and can give away", overflow="fold")
    for kind, meaning in what_leaves(agreement.method):
        table.add_row(kind, meaning)
    return table


def rules_table(policy: Policy) -> Table:
    """Every rule of the site's own, its value, and which values are not the defaults."""
    table = Table(title=f"This site's own rules ({FILE})", title_justify="left")
    table.add_column("rule", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("default", overflow="fold")
    for name in RULES:
        value, default = getattr(policy, name), getattr(SITE, name)
        table.add_row(name, _shown(value), "yes" if value == default else f"no: {_shown(default)}")
    return table


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    return str(value)
