"""`fedsieve audit`: attacks a method as it would run, and prints what a curious server could learn."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from fedsieve.checks import check_choice
from fedsieve.cli.console import err, out, say
from fedsieve.cli.options import Dates, Drop, Keep, choices_help, declared_ranges
from fedsieve.cli.progress import prepare_kernels
from fedsieve.cli.reading import AS_FOUND, FORMATS, reads_tables
from fedsieve.cli.speech import AsJson, document
from fedsieve.cli.tables import ColumnOptions
from fedsieve.datasets.dialect import Reading
from fedsieve.errors import DataError, ParameterError
from fedsieve.files import write_atomically
from fedsieve.methods import METHODS
from fedsieve.text import counted
from fedsieve.versions import versions

if TYPE_CHECKING:
    from fedsieve.audit import Finding, Setting

OWNER = "fedsieve audit"
N_SITES = 10
ENDINGS = (".json", ".md")


@reads_tables
def audit(
    agreement: Annotated[
        Path | None, typer.Argument(help="A federation.toml, or the folder of an operator or a site that holds one.")
    ] = None,
    table: Annotated[Path | None, typer.Option(help=f"A site's own rows, {FORMATS}, in place of --dataset.")] = None,
    drop: Drop = "",
    dates: Dates = "",
    keep: Keep = "",
    labels: Annotated[str, typer.Option(help="Label columns of --table, as for select; else some are made up.")] = "",
    method: Annotated[str | None, typer.Option(help=f"{', '.join(METHODS).lower()}; default sieve.")] = None,
    wire: Annotated[str | None, typer.Option(help=choices_help("wire"))] = None,
    combine: Annotated[str | None, typer.Option(help=choices_help("combine"))] = None,
    ranges: Annotated[
        str | None, typer.Option(help="robust (default), federated, or a CSV file: feature,low,high.")
    ] = None,
    secure: Annotated[bool, typer.Option("--secure", help="Secure sums: the attacker sees totals only.")] = False,
    epsilon: Annotated[float | None, typer.Option(help="Noise: the promise of differential privacy.")] = None,
    delta: Annotated[float | None, typer.Option(help="With --epsilon: how seldom it may fail.")] = None,
    guard: Annotated[str, typer.Option(help="site: all rules of a site that joined; none: no rules.")] = "site",
    dataset: Annotated[
        str | None, typer.Option(help="digits (bundled, default), ink (the same in black and white), or a known one.")
    ] = None,
    sites: Annotated[int | None, typer.Option(help=f"How many sites; default {N_SITES}, or the agreement's.")] = None,
    seed: Annotated[int, typer.Option(help="Of the split of the rows, and of chance.")] = 0,
    only: Annotated[list[str] | None, typer.Option(help="Only this attack; may be given again.")] = None,
    output: Annotated[
        list[Path] | None, typer.Option("--out", "-o", help="Write findings.json or section.md; may be given again.")
    ] = None,
    as_json: AsJson = False,
    reading: Reading = AS_FOUND,
) -> None:
    """Attack a method's real answers, and say what a curious server could learn from them.

    [bold]Example[/bold]: fedsieve audit --method ssfmlfs --wire statistics --guard none -o audit.json

    [bold]Example[/bold]: fedsieve audit siteA/ --table rows.csv

    Seven attacks through a site's real endpoint, each beside chance and beside
    what the server's own rows tell: relations, lone columns, small sites,
    differencing, chosen requests, membership, poisoning. Nothing is sent. With
    --table, rows drawn from it stand for the server's and the other sites'.
    """
    from fedsieve.audit import ATTACKS
    from fedsieve.audit import audit as audited
    from fedsieve.cli.audited import setting_by_name, setting_of_agreement
    from fedsieve.report.audit_section import as_markdown, audit_section

    for name in only or ():
        check_choice(OWNER, "--only", name, tuple(ATTACKS))
    for file in output or ():
        _check_output(file)
    given: dict[str, Any] = {
        "method": method,
        "wire": wire,
        "combine": combine,
        "ranges": ranges,
        "secure": secure or None,
        "epsilon": epsilon,
        "delta": delta,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    if agreement is not None:
        of_columns = {"labels": labels, "drop": drop, "dates": dates, "keep": keep}
        _refuse_beside_agreement({**chosen, "dataset": dataset, **of_columns})
        setting = setting_of_agreement(agreement, table, guard, sites, seed, reading)
    else:
        if table is not None and dataset is not None:
            raise ParameterError(f"{OWNER}: takes --table or --dataset, not both; got {table} and {dataset}.")
        chosen["ranges"] = declared_ranges(ranges or "robust")
        setting = setting_by_name(
            chosen.pop("method", "sieve"),
            chosen,
            dataset=dataset or "digits",
            table=table,
            labels=labels,
            columns=ColumnOptions(drop, (), dates, keep),
            reading=reading,
            guard=guard,
            n_sites=sites or N_SITES,
            seed=seed,
        )
    about = _about(setting)
    say(about)
    prepare_kernels()
    start = time.perf_counter()
    with err.status("Attacking ...") as status:
        findings = audited(setting, only or None, lambda name: status.update(f"Attack: {name} ..."))
    section = audit_section(findings, about)
    out.print(_table(findings))
    for words in section["words"][1:]:
        say(words)
    say(f"{counted(len(findings), 'attack')} in {time.perf_counter() - start:.0f} s.")
    record = {
        "about": about,
        "method": setting.method.name,
        "features": list(setting.method.features),
        "parameters": _plain(setting.method.parameters()),
        "versions": versions(),
        "findings": [one.as_record() for one in findings],
        "section": section,
    }
    for file in output or ():
        text = as_markdown(section) if file.suffix == ".md" else json.dumps(record, indent=1) + "\n"
        write_atomically(file, lambda path, text=text: path.write_text(text, encoding="utf-8"))  # type: ignore[misc]
        say(f"Written to {file}.")
    if as_json:
        document(record)


def _about(setting: "Setting") -> str:
    """One paragraph: what is audited, on whose rows."""
    parties, method = setting.parties, setting.method
    form = f", {setting.wire}" if setting.wire else ""
    rules = "with all rules of a site that joined" if setting.guard == "site" else "without rules"
    seen = "The attacker sees totals over all sites." if method.secure else "The attacker sees every site's answers."
    return (
        f"{method.name}{form}, {'secure sums, ' * method.secure}{rules}. Rows: {parties.source}, "
        f"{len(parties.features)} columns; the site under attack has {len(parties.members)} of them, the server "
        f"{len(parties.server)}, {len(parties.sites) - 1} other sites about as many each, {len(parties.outside)} are "
        f"nowhere. {seen}"
    )


def _table(findings: "list[Finding]") -> Table:
    from fedsieve.report.audit_section import TITLE

    table = Table(title=TITLE, title_justify="left")
    table.add_column("attack", no_wrap=True)
    table.add_column("what came of it", overflow="fold")
    for finding in findings:
        table.add_row(finding.attack, finding.verdict, style="bold" if finding.beyond_control else "")
    return table


def _refuse_beside_agreement(chosen: dict[str, Any]) -> None:
    for name, value in chosen.items():
        if not value:
            continue
        raise ParameterError(
            f"{OWNER}: the agreement decides what --{name} says; got {value!r}. Leave it out, or audit without the "
            "agreement."
        )


def _check_output(file: Path) -> None:
    if file.suffix not in ENDINGS:
        raise ParameterError(f"{OWNER}: --out must end in {' or '.join(ENDINGS)}; got {str(file)!r}.")
    if not file.absolute().parent.is_dir():
        raise DataError(f"{file}: its folder is not there. Make it, or choose another --out.")


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """As JSON can hold them."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}
