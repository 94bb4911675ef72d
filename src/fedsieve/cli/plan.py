"""`fedsieve select --explain-plan`: what a run would cost, by the cost model, in each form that it could take."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.table import Table as Grid

from fedsieve.cli.console import out, say, warn
from fedsieve.cli.tables import FederationTables
from fedsieve.kernels.row_pairs import pairs_looked_at
from fedsieve.methods import Method, SieveMethod
from fedsieve.methods.compared_columns import most_compared, why_refused
from fedsieve.methods.run_costs import BYTES_PER_SECOND, ROUND_SECONDS, FederationSize, FormCost, first_done
from fedsieve.protocol.method import readable_size
from fedsieve.tables import Table, n_surely_compared
from fedsieve.text import counted
from fedsieve.values import dense, is_sparse

HEAD = 1024  # rows by which a column is seen to have many values
FEW_VALUES = 16
CELLS: dict[str, Callable[[FormCost], str]] = {
    "rounds": lambda form: f"{form.about} {form.n_rounds}".strip(),
    "bytes per site": lambda form: readable_size(form.n_bytes),
    "CPU s of a site": lambda form: f"{form.seconds:,.2f}",
    "site holds": lambda form: readable_size(form.site_bytes),
    "server holds": lambda form: readable_size(form.server_bytes),
    "done after": lambda form: f"{form.done_after:,.1f} s",
}


def explain(method: Method, data: FederationTables) -> dict[str, Any]:
    """Print the plan, and return it as a document; nothing runs."""
    federation = federation_of(data)
    forms = method.forms(federation)  # type: ignore[attr-defined] # of the two methods that `select` knows
    taken = getattr(method, "wire_form", forms[0].form)
    table = Grid("", *(f"{form.form} (taken)" if form.form == taken else form.form for form in forms))
    for what, cell in CELLS.items():
        counted_apart = what == "rounds" and hasattr(method, "wire_form")  # the same in every form
        table.add_row(f"{what} besides ranges and moments" if counted_apart else what, *(cell(form) for form in forms))
    out.print(table)
    for form in forms:
        until = "; rounds until PageRank stands still" if form.about else ""
        say(f"{form.form}: {form.how}{until}{f'; not by auto: {form.why_not}' if form.why_not else ''}.")
    largest = max(data.sites.values(), key=lambda site: site.n_rows)
    say(
        f"{method.name}: {counted(len(data.sites), 'client')}, the largest with {largest.n_rows:,} rows of "
        f"{len(data.features):,} columns. {_what_decided(method, forms, taken)}"
    )
    limits: dict[str, int] = {}
    if isinstance(method, SieveMethod):
        limits = _limits(method)
    if hasattr(method, "max_pairs") and taken != "matrices":
        n_related = federation.n_related or 0
        n_pairs = pairs_looked_at(n_related, method.max_pairs)
        drawn = f", of {n_related:,} rows that it draws" if n_related < largest.n_rows else ""
        say(f"Row pairs that a client compares at most: {n_pairs:,} (max_pairs={method.max_pairs:,}){drawn}.")
        limits = {"n_pairs": n_pairs, "max_pairs": method.max_pairs}
    say(
        f"By the model of docs/scaling.md: {ROUND_SECONDS} s a round, {BYTES_PER_SECOND / 1e6:g} MB/s for all clients, "
        "one thread. Nothing was run."
    )
    return {
        "method": method.name,
        "n_sites": len(data.sites),
        "largest_n_rows": largest.n_rows,
        "n_features": len(data.features),
        "taken": taken,
        "forms": [{**asdict(form), "done_after": form.done_after} for form in forms],
        **limits,
    }


def _limits(method: SieveMethod) -> dict[str, int]:
    """Say how many columns can be compared, and what is wrong with more; the limits as a document."""
    most, limit = most_compared(method), method.max_message_bytes
    say(f"Columns that can be compared at most: {most:,} (max_message_bytes={limit:,}); to select: {most // 2:,}.")
    if words := why_refused(method, len(method.features)):
        warn(f"a run would be refused. {words}")
    elif method.costly:
        warn(method.costly)
    return {"most_compared": most, "max_message_bytes": limit}


def federation_of(data: FederationTables) -> FederationSize:
    """What costs depend on."""
    largest = max(data.sites.values(), key=lambda site: site.n_rows)
    head = dense(largest.read(data.features, 0, min(HEAD, largest.n_rows)))
    n_compared = sum(len(np.unique(column[~np.isnan(column)])) > FEW_VALUES for column in head.T)
    here = bool(np.isnan(data.labeled.X).any())
    gaps = here or any(_has_gaps(site, data.features) for site in data.sites.values())
    n_related = max(n_surely_compared(site.n_rows) if site.streamed else site.n_rows for site in data.sites.values())
    return FederationSize(len(data.sites), largest.n_rows, len(data.features), n_compared, gaps, here, n_related)


def _has_gaps(table: Table, features: Sequence[str]) -> bool:
    """Reads up to the first batch with a missing value."""
    batches = table.batches(features)
    return any(bool(np.isnan(batch.data if is_sparse(batch) else batch).any()) for batch in batches)


def _what_decided(method: Method, forms: list[FormCost], taken: str) -> str:
    if getattr(method, "wire", "auto") != "auto":
        return f"wire={taken!r} was asked for; by costs it would be {first_done(forms).form!r}."
    if len(forms) == 1:
        return f"It has one form: {forms[0].how}."
    return f"wire='auto' takes {taken!r}: done first in ten sites of 200 rows, by which an agreement decides."
