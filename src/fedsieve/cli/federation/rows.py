"""Which of a site's rows are answered for, and which columns are held back: told to the site, and to nobody else."""

from fedsieve.arrays import Float
from fedsieve.cli.console import say, warn
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.folders import HELD_BACK, SiteFolder
from fedsieve.deployment.ledger import Ledger
from fedsieve.deployment.policy_file import read_policy
from fedsieve.errors import ProtocolError
from fedsieve.messages.site_view import AS_OF
from fedsieve.privacy import Policy
from fedsieve.tables import ArrayTable

MOST_SHOWN = 10


def rows_to_answer_for(
    site: SiteFolder, agreement: Agreement, policy: Policy, X: Float, Y: Float | None, *, as_of: bool
) -> tuple[Float, Float | None]:
    """All rows, or with `as_of` those of the last run; refuses a table that differs from it in a few rows."""
    ledger, features = Ledger(site.ledger), agreement.method.features
    table = ArrayTable(features, X) if Y is None else ArrayTable(features, X, agreement.labels, Y)
    if as_of:
        chosen = ledger.as_before(table)
        say(f"Answering for {int(chosen.sum())} of {len(X)} rows, those of the last run (--as-of).")
        return X[chosen], None if Y is None else Y[chosen]
    if agreement.method.private:  # the budget covers what answers about two tables tell together
        return X, Y
    reason = ledger.why_too_alike(table, ledger.hashes(table), policy)
    if reason:
        raise ProtocolError(f"{site.name}: {reason}")
    changed = ledger.changes(table).least if policy.min_difference_rows > 1 else 0
    if 0 < changed < policy.rows_per_column * len(table.names):
        warn(
            f"these rows differ from some answered for before in {changed}; a request that compares more than "
            f"{changed // policy.rows_per_column} columns will be refused (rows_per_column). {AS_OF}."
        )
    return X, Y


def tell_what_is_held_back(site: SiteFolder) -> None:
    """Say which columns are answered as if they were constant, and why; nobody else is told."""
    if site.agreement().method.secure:
        say("Secure sums: a first total over all sites decides which columns are left out, at all sites alike.")
        return
    rows, policy = site.rows(), read_policy(site)
    new = Ledger(site.ledger).changes(rows).new if policy.min_difference_rows > 1 else ()
    held = site.held_back(rows, policy.min_cell, new=new)
    if held.reasons:
        warn(f"{len(held.reasons)} columns are held back (min_cell in policy.toml); the server is not told which:")
    for name, reason in list(held.reasons.items())[:MOST_SHOWN]:
        say(f"  {name}: {reason}")
    if len(held.reasons) > MOST_SHOWN:
        say(f"  and {len(held.reasons) - MOST_SHOWN} more; all of them: {site.prepared / HELD_BACK}")
