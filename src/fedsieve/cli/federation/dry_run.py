"""`fedsieve federation join --dry-run`: the numbers that would leave a site, as files to read, without a server."""

import json
import secrets
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.cli.console import say
from fedsieve.cli.progress import prepare_kernels
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.folders import make_private
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.what_may_leave import what_may_leave
from fedsieve.errors import DataError
from fedsieve.privacy import HeldBack, Policy, held_back
from fedsieve.protocol import Labeled
from fedsieve.selectors.labels import read_labels
from fedsieve.tables import Table
from fedsieve.text import size
from fedsieve.transport.rehearsal import Rehearsal, rehearse
from fedsieve.values import dense

SUMMARY = "what-would-leave.txt"
MAX_LABELED = 200  # rows that stand for the server's
DEPENDS = "depends on what the server asks"
HONEST = """\
What would leave {site}, computed from its {n_rows} rows by its own software under its own rules. Nothing was sent.

The server's labeled rows are not here. Rows of this site with labels made up by chance stand for them, and this site's
rows stand for every other site's. A message marked "{depends}" holds the right kind and
amount of numbers; the numbers themselves will differ with the ranges, columns or directions that the server sends.
"""
SECURE = (
    "Secure sums: a first total over all sites (Cells) decides which columns are left out. Here none is: these are the "
    "numbers behind the masks."
)


def show_what_would_leave(
    site: SiteFolder, agreement: Agreement, policy: Policy, table: Table, output: Path
) -> dict[str, Any]:
    """Rehearse a run and write one file per message, and a summary; returns that as a document."""
    if output.exists() and not (output / SUMMARY).is_file():
        raise DataError(f"{output}: exists and is no earlier dry run. Choose another --out, or move it away.")
    prepare_kernels()
    method, table = agreement.method, table.drawing_from(site.rows_seed())
    rehearsal = rehearse(method, _labeled(agreement, table), table, policy)
    held = held_back(table, method.nominal, policy.min_cell)
    part = make_private(output.with_name(f".{output.name}.{secrets.token_hex(4)}.part"))
    try:
        files = _write_messages(rehearsal, part)
        summary = _summary(site, agreement, policy, rehearsal, held, files, table.n_rows)
        (part / SUMMARY).write_text(summary, encoding="utf-8")
        if output.exists():
            shutil.rmtree(output)
        part.rename(output)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    say(summary)
    say(f"Written to {output}.")
    return {
        "site": site.name,
        "n_rows": table.n_rows,
        "out": str(output),
        "messages": [
            {"file": file, "message": type(said.reply).__name__, "bytes": said.n_bytes, "depends": said.depends}
            for file, said in zip(files, rehearsal.said, strict=True)
        ],
        "may_leave": dict(what_may_leave(agreement)),
        "held_back": {} if method.secure else dict(held.reasons),
        "ended": rehearsal.ended or None,
    }


def _labeled(agreement: Agreement, table: Table) -> Labeled:
    """Some rows of this site in the server's place, with its own labels or made-up ones that all vary."""
    n_rows = min(table.n_rows, MAX_LABELED)
    rows = dense(table.read(agreement.method.features, 0, n_rows))
    if agreement.method.sites_hold_labels:
        return Labeled(rows, dense(table.read(agreement.labels, 0, n_rows)))
    made_up = np.random.default_rng(0).integers(0, 2, (len(rows), len(agreement.labels)))
    made_up[0], made_up[1] = 0, 1
    return Labeled(rows, read_labels(made_up)[0])


def _write_messages(rehearsal: Rehearsal, folder: Path) -> list[str]:
    files = []
    for number, said in enumerate(rehearsal.said, start=1):
        kind = type(said.reply).__name__
        content = {
            "message": kind,
            "answers": type(said.request).__name__,
            "bytes": said.n_bytes,
            "numbers": DEPENDS if said.depends else "follow from the rows and the agreement alone",
            **said.readable(),
        }
        files.append(f"{number:02d}-{kind}.json")
        (folder / files[-1]).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return files


def _summary(
    site: SiteFolder,
    agreement: Agreement,
    policy: Policy,
    rehearsal: Rehearsal,
    held: HeldBack,
    files: list[str],
    n_rows: int,
) -> str:
    lines = [HONEST.format(site=site.name, n_rows=n_rows, depends=DEPENDS)]
    for file, said in zip(files, rehearsal.said, strict=True):
        lines.append(f"{file}: {size(said.n_bytes)}{f', {DEPENDS}' if said.depends else ''}")
    lines += ["", "What each message can give away:"]
    lines += [f"  {kind}: {meaning}" for kind, meaning in what_may_leave(agreement)]
    if agreement.method.secure:
        lines += ["", SECURE]
    elif held.reasons:
        lines += ["", f"Columns held back as if they were constant (min_cell = {policy.min_cell}):"]
        lines += [f"  {name}: {reason}" for name, reason in held.reasons.items()]
    if rehearsal.ended:
        lines += ["", f"The rehearsal ended here: {rehearsal.ended}"]
    return "\n".join(lines)
