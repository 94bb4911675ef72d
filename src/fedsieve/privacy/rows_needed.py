"""How many rows every run of a method takes at one site, known before anything is told.

A site whose rows are too few for what is compared in the end would be refused then, when its histograms, averages and
spreads have left already; and these tell of few rows a lot. So it looks first.
"""

from fedsieve.errors import ProtocolError
from fedsieve.privacy.column_looks import ColumnLook, look_at
from fedsieve.privacy.policy import Policy
from fedsieve.protocol.method import Method
from fedsieve.tables import ChosenColumns, Table


def rows_needed(method: Method, policy: Policy, table: Table) -> tuple[int, int]:
    """How many columns every run compares at least, as far as a site can know, and how many rows that takes.

    Other sites may have more codes, and other columns that vary; what few rows have is not told.
    """
    least = max(policy.min_cell, 1)
    looks = [ColumnLook(least, coded=bool(nominal)) for nominal in method.columns.nominal_mask]
    look_at(ChosenColumns(table, method.features), looks)
    n_varying = sum(look.others.is_known for look in looks)
    # other than the first, each code is a column of its own, and so is which values are missing
    n_codes = sum(max(sum(n_rows >= least for n_rows in look.codes.values()) - 1, 0) for look in looks)
    if method.columns.fills:
        n_codes += sum(least <= look.n_missing <= table.n_rows - least for look in looks)
    n_compared = sum(terms.n_compared(n_varying, n_codes) for terms in method.terms())
    return n_compared, policy.rows_per_column * n_compared


def check_rows_needed(method: Method, policy: Policy, table: Table) -> None:
    """Raise `ProtocolError` where a site's rows are too few for any run; in secure sums the rows of all sites count."""
    if method.secure or not policy.rows_per_column:
        return
    n_compared, needed = rows_needed(method, policy, table)
    labels = method.sites_hold_labels
    if table.n_rows < needed:
        raise ProtocolError(
            f"has {table.n_rows} rows; every run compares {n_compared} columns, which need {needed} rows at one site "
            f"(rows_per_column = {policy.rows_per_column}), or they could give rows away. "
            f"Wait for more rows, {'or ' * labels}agree on fewer columns{'' if labels else ', or on secure sums'}."
        )
