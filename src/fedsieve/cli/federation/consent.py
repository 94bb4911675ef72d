"""What a site's person sees before consenting: what leaves, under which rules; and the record of the answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from fedsieve.cli.console import can_ask, out, say, warn
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.consent import ConsentRecord, Limits
from fedsieve.deployment.members import fingerprint
from fedsieve.deployment.policy_file import (
    FILE,
    RULES,
    check_agreement,
    policy_digest,
    read_policy,
    value_words,
    write_policy,
)
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.spent_noise import SpentNoise
from fedsieve.deployment.what_may_leave import what_may_leave
from fedsieve.errors import DataError, FedSieveError, ProtocolError, listed
from fedsieve.methods.follow_ups import FOLLOW_UPS
from fedsieve.privacy import SITE, Policy, rows_leave
from fedsieve.text import counted


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
        record = ConsentRecord(folder)
        table = {"file": self.data.name, "rows": self.n_rows, "columns": len(self.agreement.method.features)}
        record.join(self.agreement, self.policy, table, by=self.by, limits=self.limits, asked=self.asked)
        with leaving_recorded(record):
            yield


@contextmanager
def leaving_recorded(record: ConsentRecord) -> Iterator[None]:
    """Record how taking part ended, when the block ends."""
    how = "ended by this site"
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


def make_policy(site: SiteFolder) -> dict[str, str]:
    """Write `policy.toml` with the defaults and what each rule is for; returns where, as a document."""
    site.agreement()  # says what is wrong if this is no site's folder
    file = write_policy(site)
    say(f"Wrote {file}. Change what you need; it holds from the next answer on, and 'join' shows it.")
    return {"site": site.name, "policy": str(file)}


def policy_for(site: SiteFolder, agreement: Agreement) -> Policy:
    """The site's rules, once the agreement asks for nothing that they never allow."""
    policy = read_policy(site)
    check_agreement(policy, agreement, site.name)
    n_sites = len(agreement.sites)  # an edge server counts as one, for however many it stands
    if n_sites < policy.min_cohort:
        warn(
            f"the agreement names {counted(n_sites, 'site')}; a run needs {policy.min_cohort} "
            f"(min_cohort in {FILE}), or {site.name} refuses."
        )
    return policy


def check_rows(n_rows: int, agreement: Agreement, policy: Policy, data: Path) -> None:
    """Refuse a table of fewer rows than the policy asks for, before anything else happens to it.

    In secure sums it asks that of all sites together, once it is told.
    """
    if not agreement.method.secure and n_rows < policy.min_rows:
        raise DataError(
            f"{data}: has {counted(n_rows, 'row')}; this site's policy asks for at least {policy.min_rows} "
            f"(min_rows in {FILE}): sums of few rows hide little. Wait for more rows, or change the rule and give that "
            "up."
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
    out.print(leaving_table(agreement, f"What leaves {site.name} ({counted(n_rows, 'row')} of {data})"))
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
    if asked_later := [what for what, allowed in agreement.after.items() if allowed]:
        for what in asked_later:
            say(f"After a run the agreement also allows {what!r}: {FOLLOW_UPS[what].allows}.")
        rows += " in a run" * ("collect" in asked_later)
    say(f"To: {agreement.address}, federation {agreement.name!r}. {rows}.")
    if agreement.above is not None:
        say(
            f"{agreement.name!r} is an edge server: it sees this site's own answers, and totals over all its sites go "
            f"on to {agreement.above.words}."
        )
    consent = Consent(agreement, policy, data, n_rows, by, limits, asked=not yes)
    if limits.words:
        say(f"This consent is {limits.words}.")
    ask(site, yes=yes)
    return consent


def ask(site: SiteFolder, *, yes: bool) -> None:
    """Ask the person at this site, unless consent was given on the command line; refused where nobody consents."""
    if yes:
        return
    if not can_ask():
        raise ProtocolError(f"{site.name} did not consent: nobody is there to ask. Give --yes to consent unattended.")
    if not typer.confirm("Take part?", default=False):
        raise ProtocolError(f"{site.name} did not consent. Nothing was sent.")


def leaving_table(agreement: Agreement, title: str) -> Table:
    """Each message that is sent, and what it tells."""
    table = Table(title=title, title_justify="left")
    table.add_column("message", no_wrap=True)
    table.add_column("what it tells, and can give away", overflow="fold")
    for kind, meaning in what_may_leave(agreement):
        table.add_row(kind, meaning)
    return table


def consent_document(site: SiteFolder, agreement: Agreement, policy: Policy) -> dict[str, Any]:
    """The same as a document: who may speak, what leaves, under which rules."""
    return {
        "site": site.name,
        "federation": agreement.name,
        "address": agreement.address,
        "agreement": agreement.fingerprint,
        "members": {name: fingerprint(key) if key else None for name, key in agreement.members.items()},
        "may_leave": dict(what_may_leave(agreement)),
        "rules": asdict(policy),
    }


def rules_table(policy: Policy) -> Table:
    """Every rule of the site's own, its value, and which values are not the defaults."""
    table = Table(title=f"This site's own rules ({FILE})", title_justify="left")
    table.add_column("rule", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("default", overflow="fold")
    for name in RULES:
        value, default = getattr(policy, name), getattr(SITE, name)
        table.add_row(name, value_words(value), "yes" if value == default else f"no: {value_words(default)}")
    return table
