"""`fedsieve select`: files in, a selection out."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from fedsieve.cli.communication import rows_cost_line
from fedsieve.cli.console import (
    add_other_ranks,
    agreement_line,
    chance_line,
    cost_line,
    n_shown,
    out,
    ranking_table,
    say,
    say_error_rate,
    say_what_is_missing,
    warn,
)
from fedsieve.cli.options import (
    K_HELP,
    NOMINAL_HELP,
    SIEVE,
    Dates,
    Drop,
    Force,
    Keep,
    asked_and_other,
    choices_help,
    declared_ranges,
    how_many,
    missing_in,
    names_among,
    own_parameters,
)
from fedsieve.cli.plan import explain
from fedsieve.cli.progress import Rounds, prepare_kernels
from fedsieve.cli.reading import AS_FOUND, FORMATS, reads_tables
from fedsieve.cli.reporting import command_again, result_document, write_report_of
from fedsieve.cli.speech import AsJson, document
from fedsieve.cli.tables import ColumnOptions, FederationTables, leaks, read_sites
from fedsieve.datasets.dialect import Reading
from fedsieve.errors import DataError, FedSieveError, ParameterError
from fedsieve.kernels import USUAL_PAIRS
from fedsieve.messages.columns import ERROR
from fedsieve.methods import METHODS, Method
from fedsieve.protocol.shift import shift_of_tables, shift_record, shift_words
from fedsieve.protocol.totals import KeptTotals
from fedsieve.selection_file import pairs_record, refuse_to_overwrite, selection_record, write_selection
from fedsieve.tables import ArrayTable, Table
from fedsieve.text import counted
from fedsieve.transport import in_process
from fedsieve.transport.totals_file import TOTALS, Totals, Words, write_totals
from fedsieve.values import LET_THE_METHOD, check_batches

MOST_COMPARED = 2000  # features; with more, SSFMLFS takes long


@reads_tables
def select(
    labeled: Annotated[Path, typer.Option(help=f"The server's labeled rows: {FORMATS}.")],
    labels: Annotated[str, typer.Option(help='Label columns: "y1,y2", "prefix:label_" or a Mulan XML file.')],
    client: Annotated[list[str], typer.Option(help="A client's rows: FILE, or NAME=FILE. Give at least two.")],
    output: Annotated[
        Path | None, typer.Option("--out", help="Folder for the result; only --explain-plan needs none.")
    ] = None,
    method: Annotated[str, typer.Option(help="sieve, or ssfmlfs (the paper's method).")] = "sieve",
    k: Annotated[str | None, typer.Option("-k", help=K_HELP)] = None,
    alone: Annotated[bool, typer.Option(help="Run the method asked for only, not the other one beside it.")] = False,
    shared: Annotated[bool, typer.Option(help="Use the features that all files share instead of refusing.")] = False,
    drop: Drop = "",
    nominal: Annotated[list[str] | None, typer.Option(help=NOMINAL_HELP)] = None,
    dates: Dates = "",
    keep: Keep = "",
    group: Annotated[
        list[str] | None, typer.Option(help="Sieve: features selected together, a,b,c. May be given again.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Sieve: of its trees, folds and bootstraps. SSFMLFS: of samples.")] = 0,
    wire: Annotated[str, typer.Option(help=choices_help("wire", supervised=False))] = "auto",
    relation: Annotated[str, typer.Option(help=choices_help("relation", supervised=False))] = "distance",
    irrelevant: Annotated[str, typer.Option(help=choices_help("irrelevant", supervised=False))] = "least",
    decisions: Annotated[str, typer.Option(help=choices_help("decisions", supervised=False))] = "crisp",
    ranges: Annotated[
        str | None,
        typer.Option(
            help="robust (Sieve), federated (SSFMLFS), a CSV file: feature,low,high, or (SSFMLFS) local.",
            show_default="the method's own",
        ),
    ] = None,
    spread: Annotated[str, typer.Option(help=choices_help("spread", supervised=False))] = "pooled",
    aggregation: Annotated[str, typer.Option(help=choices_help("aggregation", supervised=False))] = "blocks",
    missing: Annotated[str | None, typer.Option(help=choices_help("missing", supervised=False))] = None,
    center: Annotated[str | None, typer.Option(help=choices_help("center", supervised=False))] = None,
    constant: Annotated[str, typer.Option(help=choices_help("constant", supervised=False))] = "last",
    lam: Annotated[float, typer.Option(help="SSFMLFS: radius = deviation / lam; 0.4 to 2.")] = 1.2,
    neighbors: Annotated[int, typer.Option(help="SSFMLFS: rows with unlike labels per labeled row.")] = 3,
    damping: Annotated[float, typer.Option(help="SSFMLFS: share of a score that comes along the edges.")] = 0.85,
    on_bad_client: Annotated[str, typer.Option(help=choices_help("on_bad_client", supervised=False))] = "raise",
    fdr: Annotated[
        float | None, typer.Option(help="Sieve: select at this false discovery rate, in place of -k; 0.2.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Sieve: clients answer with noise, differentially private; try what it costs.")
    ] = None,
    delta: Annotated[float, typer.Option(help="With --epsilon: by how little that may fail.")] = 1e-6,
    max_pairs: Annotated[
        int, typer.Option(help="SSFMLFS: a client with more pairs of rows compares a sample of so many.")
    ] = USUAL_PAIRS,
    explain_plan: Annotated[
        bool, typer.Option("--explain-plan", help="Print what a run would cost, in which form, and stop.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    reading: Reading = AS_FOUND,
) -> None:
    """Rank features from files: one with labeled rows, two or more with unlabeled rows.

    [bold]Example[/bold]: fedsieve select --labeled server.csv --labels prefix:label_ \\
    --client siteA.parquet --client siteB.csv -k 30 --out result/

    Columns are matched by name. Text is read as categories, an id is left out,
    dates are refused unless --dates names them. Writes ranking.csv and selection.json (order,
    scores, relevance, reasons, parameters, versions, transcript) of the method
    asked for, with the ranks by the other one beside them; report.html, a page to
    look at; and totals.bin, from which 'fedsieve rerank' selects another number of
    features.
    """
    asked, other = asked_and_other(method)
    if epsilon is not None and asked != SIEVE:
        raise ParameterError(f"--epsilon: {asked} knows no noise; Sieve does. Leave it out, or choose --method sieve.")
    if fdr is not None and asked != SIEVE:
        raise ParameterError(f"--fdr: {asked} knows no error rate; Sieve does. Leave it out, or choose --method sieve.")
    if not explain_plan:
        output = _folder(output, force=force)
    columns = ColumnOptions(drop, nominal or (), dates, keep)
    partly = METHODS[asked].takes_unknown_labels
    data = read_sites(labeled, labels, client, shared=shared, reading=reading, columns=columns, partly=partly)
    for feature, label in leaks(data):
        warn(f"feature {feature!r} is identical to label {label!r} on the labeled rows: a label among the features?")
    given: dict[str, Any] = {
        **({} if missing is None else {"missing": missing}),
        **({} if center is None else {"center": center}),
        "nominal": data.nominal,
        "on_bad_client": on_bad_client,
        "groups": tuple(names_among([names], data.features) for names in group or ()),
        "seed": seed,
        "lam": lam,
        "n_neighbors": neighbors,
        "damping": damping,
        "relation": relation,
        "irrelevant": irrelevant,
        "decisions": decisions,
        "spread": spread,
        "aggregation": aggregation,
        "wire": wire,
        "constant": constant,
        "max_pairs": max_pairs,
        "fdr": fdr,
        "epsilon": epsilon,
        "delta": delta,
    }

    def chosen(name: str, n_features: float | str | None) -> Method:
        of_method: Any = METHODS[name]
        how = given if name == asked else {**given, **missing_in(name, missing)}
        in_ranges = of_method.ranges if ranges is None else declared_ranges(ranges)
        tables = (ArrayTable(data.features, data.labeled.X), *data.sites.values())
        scaling = data.coding.ranges(in_ranges, data.nominal, tables, encodes_codes=of_method.encodes_codes)
        method: Method = of_method(
            data.features, n_features_to_select=n_features, **own_parameters(name, how), **scaling
        )
        return method

    main = chosen(asked, how_many(k))
    if explain_plan:
        plan = explain(main, data)
        if as_json:
            document(plan)
        return
    assert output is not None
    _check_gaps(main, data)
    prepare_kernels()
    totals = KeptTotals()
    record = _run(main, data, seed, totals)
    # What has no noise would tell what noise hides; and with nothing there is nothing to compare.
    alone = alone or epsilon is not None or not record["selected"]
    beside = None if alone else _beside(other, lambda: chosen(other, _as_many(record, len(data.features))), data, seed)
    if beside is not None:
        add_other_ranks(record, beside)
    record |= {"n_labeled": len(data.labeled.X), "command": command_again()}
    write_selection(record, output)
    if totals.why_none:
        (output / TOTALS).unlink(missing_ok=True)  # those of a result that was replaced
    else:
        words = Words(data.coding.categories, data.coding.dates)
        write_totals(Totals.of(main, data.labeled, totals, record, words), output / TOTALS)
    page = write_report_of(output)
    _show(record, beside, output, page)
    if as_json:
        document(result_document(record, output, page))


def _folder(output: Path | None, *, force: bool) -> Path:
    if output is None:
        raise ParameterError("select needs --out, the folder for the result; only --explain-plan does without.")
    refuse_to_overwrite(output, force=force)
    return output


def _check_gaps(method: Method, data: FederationTables) -> None:
    """Where a method takes no gaps as it was asked for, name the option by which it would."""
    if method.missing != ERROR:
        return
    rows: dict[str, Table] = {"the labeled rows have ": ArrayTable(data.features, data.labeled.X)}
    if method.on_bad_client == "raise":
        rows |= {f"client {name!r}: ": table for name, table in data.sites.items()}
    way_out = f"{LET_THE_METHOD} Here: --missing {method.choices['missing'][1]}."
    for owner, table in rows.items():
        try:
            check_batches(table.batches(data.features), data.features, method.missing, way_out)
        except DataError as error:
            raise DataError(f"{owner}{error}") from None


def _run(method: Method, data: FederationTables, seed: int, totals: KeptTotals | None = None) -> dict[str, Any]:
    if method.costly:
        warn(method.costly)
    start = time.perf_counter()
    with Rounds() as rounds:
        outcome = in_process.select(method, data.labeled, data.sites, rounds.watch, totals=totals, seed=seed)
    seconds = time.perf_counter() - start
    there = {name: table for name, table in data.sites.items() if name not in outcome.selection.dropped}
    return {
        **selection_record(method, outcome, list(data.labels)),
        "shift": shift_record(shift_of_tables(method, data.labeled, there)),
        "pairs": pairs_record(method, outcome.selection),
        "timing": {"seconds": round(seconds, 3)},
    }


def _beside(name: str, method: Callable[[], Method], data: FederationTables, seed: int) -> dict[str, Any] | None:
    """What the other method finds, for comparison; if it fails, the selection stands without it."""
    if len(data.features) > MOST_COMPARED:
        say(f"Not compared with {name}: more than {MOST_COMPARED} features.")
        return None
    try:
        return _run(method(), data, seed)
    except FedSieveError as error:
        warn(f"not compared with {name}: {error}")
        return None


def _as_many(record: dict[str, Any], n_features: int) -> int:
    """How many features the other method is to select: as many, though Sieve may count a group of them once."""
    return min(len(record["selected"]), n_features)


def _show(record: dict[str, Any], beside: dict[str, Any] | None, output: Path, page: Path | None) -> None:
    for name, reason in record["dropped"].items():
        warn(f"went on without client {name!r}: {reason}")
    for site, n_clipped in (record.get("n_clipped") or {}).items():
        if n_clipped:
            warn(f"{site!r}: {counted(n_clipped, 'value')} outside the ranges, clipped.")
    for words in shift_words(record["shift"]):
        warn(words)
    out.print(ranking_table(record, n_shown(record)))
    if line := chance_line(record):
        say(line)
    if beside is not None:
        say(agreement_line(record, beside))
    say_error_rate(record)
    if "privacy" in record:
        say(record["privacy"]["words"])
    say_what_is_missing(record)
    say(cost_line(record))
    if line := rows_cost_line(record):
        say(line)
    say(f"Selected {counted(len(record['selected']), 'feature')} by {record['method']}; the result is in {output}.")
    if page is not None:
        say(f"To look at it: {page}")
