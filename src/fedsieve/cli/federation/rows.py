"""Which of a site's rows are answered for, and which columns are held back: told to the site, and to nobody else."""

from pathlib import Path

from fedsieve.arrays import Float
from fedsieve.cli.console import say, warn
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.ledger import Ledger
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.site_folder import HELD_BACK, SiteFolder
from fedsieve.errors import ProtocolError
from fedsieve.messages.site_view import AS_OF
from fedsieve.privacy import Policy, check_rows_needed, rows_needed
from fedsieve.tables import ChosenRows, Table
from fedsieve.text import counted

MOST_SHOWN = 10


def rows_to_answer_for(
    site: SiteFolder,
    agreement: Agreement,
    policy: Policy,
    rows: Table,
    known: Float | None = None,
    *,
    as_of: bool,
) -> tuple[Table, Float | None]:
    """All rows, or with `as_of` those of the last run; refuses a table that differs from it in a few rows.

    `known` are labels that are known besides.
    """
    ledger, way_out = Ledger(site.ledger, lambda: agreement.words), AS_OF
    if as_of:
        chosen = ledger.as_before(rows)
        say(f"Answering for {int(chosen.sum())} of {rows.n_rows} rows, those of the last run (--as-of).")
        rows, known = ChosenRows(rows, chosen), None if known is None else known[chosen]
        way_out = "Wait until more rows have changed"
    if agreement.method.private:  # the budget covers what answers about two tables tell together
        return rows, known
    reason = ledger.why_too_alike(rows, ledger.hashes(rows), policy)
    if reason:
        raise ProtocolError(f"{site.name}: {reason}")
    changed = ledger.changes(rows).least if policy.min_difference_rows > 1 else 0
    n_compared, needed = rows_needed(agreement.method, policy, rows)
    # In secure sums of few rows fewer columns are compared; a table alone of so many rows is enough for all.
    if 0 < changed < needed and not (agreement.method.secure and rows.n_rows < needed):
        # A run would begin, and these rows would count as answered for: --as-of would go back to them.
        raise ProtocolError(
            f"{site.name}: its rows differ from those it answered for before in {changed}; every run compares "
            f"{n_compared} columns, which need {needed} or none (rows_per_column = {policy.rows_per_column}): two "
            f"answers could give these rows away by subtraction. {way_out}."
        )
    if 0 < changed < policy.rows_per_column * len(rows.names):
        warn(
            f"these rows differ from some answered for before in {changed}; a request that compares more than "
            f"{counted(changed // policy.rows_per_column, 'column')} will be refused (rows_per_column). {way_out}."
        )
    return rows, known


def warn_of_few_rows(agreement: Agreement, policy: Policy, data: Path, rows: Table) -> None:
    """Say before consent what would be refused in every run."""
    try:
        check_rows_needed(agreement.method, policy, rows)
    except ProtocolError as error:
        warn(f"{data}: {error} Every run will go on without this site.")


def tell_what_is_held_back(site: SiteFolder) -> None:
    """Say which columns are answered as if they were constant, and why; nobody else is told."""
    if site.agreement().method.secure:
        say("Secure sums: a first total over all sites decides which columns are left out, at all sites alike.")
        return
    rows, policy = site.rows(), read_policy(site)
    new = (
        Ledger(site.ledger, lambda: site.agreement().words).changes(rows).new if policy.min_difference_rows > 1 else ()
    )
    held = site.held_back(rows, policy.min_cell, new=new)
    if held.reasons:
        held_back = "1 column is" if len(held.reasons) == 1 else f"{len(held.reasons)} columns are"
        warn(f"{held_back} held back (min_cell in policy.toml); the server is not told which:")
    for name, reason in list(held.reasons.items())[:MOST_SHOWN]:
        say(f"  {name}: {reason}")
    if len(held.reasons) > MOST_SHOWN:
        say(f"  and {len(held.reasons) - MOST_SHOWN} more; all of them: {site.prepared / HELD_BACK}")
