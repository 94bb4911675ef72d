"""`fedsieve federation init`: make a federation's folder, with keys and one folder per site."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fedsieve.checks import check_choice
from fedsieve.cli.console import say, warn
from fedsieve.cli.options import (
    K_HELP,
    NOMINAL_HELP,
    Dates,
    Drop,
    Keep,
    categories_file,
    choices_help,
    declared_ranges,
    how_many,
    ranges_file,
    split_names,
)
from fedsieve.cli.reading import AS_FOUND, FORMATS, reads_tables
from fedsieve.cli.tables import ColumnOptions, OneTable, read_one
from fedsieve.datasets.coding import Coding
from fedsieve.datasets.dialect import Reading
from fedsieve.deployment import membership
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.edge_agreement import check_below, edge_agreement_text
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.place import check_place
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import ParameterError, listed
from fedsieve.messages.columns import ROBUST
from fedsieve.methods import DEFAULT_METHOD, METHODS, Method, SieveMethod
from fedsieve.methods.compared_columns import why_refused
from fedsieve.methods.follow_ups import FOLLOW_UPS
from fedsieve.privacy import SITE
from fedsieve.protocol.method import least_sites
from fedsieve.text import counted

MAX_ROWS = 1_000_000
SUPERVISED = " or ".join(name for name, method in METHODS.items() if method.sites_hold_labels)
OTHERS = ", ".join(name for name, method in METHODS.items() if not method.sites_hold_labels)
KEEP = "--keep NAME (of 'federation try': --keep-columns NAME)"  # whose --keep is a folder
AFTER_HELP = f"What may follow a run, if sites consent to that too: {', '.join(FOLLOW_UPS)}."
METHODS_HELP = f"{OTHERS}, or {SUPERVISED}, whose sites hold labels too."


@reads_tables
def init(
    output: Annotated[Path, typer.Option("--out", help="The new folder.")],
    sites: Annotated[str, typer.Option(help="The sites' names: siteA,siteB,siteC.")],
    schema: Annotated[
        Path | None, typer.Option(help=f"A table with the columns, the server's labeled rows: {FORMATS}.")
    ] = None,
    labels: Annotated[
        str, typer.Option(help='Label columns of it: "y1,y2", "prefix:label_" or a Mulan XML file.')
    ] = "",
    address: Annotated[str, typer.Option(help="host:port where sites reach the server.")] = "127.0.0.1:9443",
    method: Annotated[str, typer.Option(help=METHODS_HELP)] = DEFAULT_METHOD,
    k: Annotated[str | None, typer.Option("-k", help=K_HELP)] = None,
    wire: Annotated[str | None, typer.Option(help=choices_help("wire"))] = None,
    ranges: Annotated[
        str, typer.Option(help="robust, federated (exact extremes), local, or a CSV file: feature,low,high.")
    ] = "robust",
    bounds: Annotated[
        Path | None, typer.Option(help="Between which robust ranges are looked for: a CSV file: feature,low,high.")
    ] = None,
    drop: Drop = "",
    nominal: Annotated[list[str] | None, typer.Option(help=NOMINAL_HELP)] = None,
    categories: Annotated[
        Path | None, typer.Option(help='Words of columns of text, a TOML file: sex = ["f", "m"]; others from --schema.')
    ] = None,
    dates: Dates = "",
    keep: Keep = "",
    missing: Annotated[str | None, typer.Option(help=choices_help("missing"))] = None,
    center: Annotated[str | None, typer.Option(help=choices_help("center"))] = None,
    fdr: Annotated[
        float | None, typer.Option(help="Sieve: select at this false discovery rate, in place of -k; 0.2.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Sieve: sites answer with noise, under differential privacy of this epsilon.")
    ] = None,
    delta: Annotated[float | None, typer.Option(help="With --epsilon: by how little that may fail; 1e-6.")] = None,
    min_clients: Annotated[int, typer.Option(help="How many sites must remain for a result.")] = SITE.min_cohort,
    min_rows: Annotated[int, typer.Option(help="How many rows a site must have to take part.")] = SITE.min_rows,
    secure: Annotated[
        bool,
        typer.Option(
            "--secure",
            help="Secure sums: the server sees totals over at least three sites, never a single site's reply.",
        ),
    ] = False,
    after: Annotated[str, typer.Option(help=AFTER_HELP)] = "",
    max_rows: Annotated[
        int, typer.Option(help="How many rows a site may claim, so that none outweighs all others.")
    ] = MAX_ROWS,
    timeout: Annotated[int, typer.Option(help="Seconds that a site has for an answer.")] = 300,
    days: Annotated[int, typer.Option(help="How long the certificates are valid.")] = 730,
    max_sites_per_client: Annotated[
        int, typer.Option(help="For how many sites a member may answer: more than 1 where it is an edge server.")
    ] = 1,
    above: Annotated[
        Path | None,
        typer.Option(
            help="For an edge server's own sites: its folder as a site above, whose agreement says columns and method."
        ),
    ] = None,
    with_keys: Annotated[
        bool,
        typer.Option("--with-keys", help="Make all sites' keys here, for trials: you could answer in their names."),
    ] = False,
    reading: Reading = AS_FOUND,
) -> None:
    """Make a federation: certificates, the operator's key, federation.toml. Each site makes its own key.

    [bold]Example[/bold]: fedsieve federation init --out fed/ --sites siteA,siteB,siteC \\
    --schema server.parquet --labels prefix:label_

    Without --schema, federation.toml is a template with marked places; fill them in, then run 'pack'.
    Text in the schema becomes categories, whose words all sites see; ids are left out.
    """
    check_place(output)
    names = split_names(sites)
    least = least_sites(min_clients, secure=secure)
    if len(names) < least:
        rule = "--min-clients" if least == min_clients else "--secure"
        raise ParameterError(
            f"--sites names {counted(len(names), 'site')}; a federation needs {least} or more ({rule}). "
            f"Sites answer in runs of {SITE.min_cohort} or more, unless their own policy.toml says less (min_cohort)."
        )
    allowed = split_names(after)
    for what in allowed:
        check_choice("", "--after", what, FOLLOW_UPS)
    if above is not None:
        columns_too = (schema, labels, drop, nominal, categories, dates, keep, bounds)
        method_too = (k, wire, missing, center, epsilon, delta, secure, after)
        defaults_too = ((method, DEFAULT_METHOD), (ranges, ROBUST), (max_rows, MAX_ROWS))
        if any((*columns_too, *method_too)) or any(given != usual for given, usual in defaults_too):
            raise ParameterError(
                "--above takes columns, method, parameters and max_rows from the agreement there: leave all options of "
                "these out (--schema, --labels, --method, ...). To change them, change that agreement."
            )
        own = {"min_clients": min_clients, "timeout_seconds": timeout, "min_rows": min_rows}
        own["max_sites_per_client"] = max_sites_per_client
        text = edge_agreement_text(SiteFolder(above), output.name, address, names, own)
        check_below(SiteFolder(above), parse_agreement(text), output)
        folder = membership.create(output, text, list(names), address, days=days, with_keys=with_keys)
        say(f"Made {folder.path} for {counted(len(names), 'site')}. Private keys are readable by you only.")
        _say_who_is_next(folder, names, f"edge {above} --below {folder.path}", with_keys=with_keys)
        return
    chosen = next((known for known in METHODS if known.lower() == method.lower()), method)
    words = {} if categories is None else categories_file(categories)
    said = ColumnOptions(drop, nominal or (), dates, keep, words)
    columns = _columns(schema, labels, reading, said, METHODS.get(chosen))
    coding = Coding(words) if columns is None else columns.coding
    features, label_names = (None, None) if columns is None else (columns.features, columns.labels)
    declared = said.declared(features or ())
    parameters: dict[str, object] = {
        "n_features_to_select": how_many(k),
        "wire": wire,
        "missing": missing,
        "center": center,
        "fdr": fdr,
        "epsilon": epsilon,
        "delta": delta,
    }
    in_ranges, between = declared_ranges(ranges), {} if bounds is None else ranges_file(str(bounds))
    codes = [name for name in coding.nominal(declared.nominal) if name not in coding.categories]
    text = agreement_text(
        output.name,
        address,
        names,
        features,
        label_names,
        ranges=in_ranges,
        bounds=between or None,
        nominal=codes,
        dates=declared.dates,
        categories=coding.categories,
        method=chosen,
        parameters={key: value for key, value in parameters.items() if value is not None},
        rounds={
            "min_clients": min_clients,
            "max_sites_per_client": max_sites_per_client,
            "max_rows": max_rows,
            "timeout_seconds": timeout,
        },
        privacy={"min_rows": min_rows, "secure": secure},
        after=allowed,
    )
    agreed = None if features is None else parse_agreement(text).method
    folder = membership.create(output, text, list(names), address, days=days, with_keys=with_keys)
    say(f"Made {folder.path} for {counted(len(names), 'site')}. Private keys are readable by you only.")
    if isinstance(agreed, SieveMethod) and (refusal := why_refused(agreed, len(agreed.features))):
        warn(f"a run would be refused. {refusal}")
    open_codes = [name for name in codes if name not in between]
    if open_codes and in_ranges == ROBUST and chosen in METHODS and METHODS[chosen].encodes_codes:
        warn(
            f"the codes of {listed(open_codes)} are those of the labeled rows; a site with a code beyond them is "
            "refused in a run. If there may be others, declare them with --bounds FILE: feature,low,high."
        )
    if features is None:
        warn(f"{folder.path / AGREEMENT} is a template: fill in the marked places, then 'fedsieve federation pack'.")
    _say_who_is_next(folder, names, f"serve {folder.path} --labeled FILE", with_keys=with_keys)


def _say_who_is_next(folder: ServerFolder, names: Sequence[str], command: str, *, with_keys: bool) -> None:
    if with_keys:
        _say_whose_keys(folder, names)
    else:
        _say_what_sites_do(folder, names)
    say(f"Then: fedsieve federation {command}")


def _say_whose_keys(folder: ServerFolder, names: Sequence[str]) -> None:
    warn(
        "--with-keys: you made all sites' keys, so you could answer in any site's name, and no site can tell. "
        "For trials; without it each site makes its own."
    )
    for name in names:
        say(f"  hand over on a safe channel, it holds a private key: {folder.sites / name}.tar")


def _say_what_sites_do(folder: ServerFolder, names: Sequence[str]) -> None:
    say("Each site makes its own key, sends you NAME.request, and reads you the fingerprint by phone:")
    for name in names:
        say(f"  fedsieve federation request --name {name} --out {name}/")
    say(f"You approve each: fedsieve federation site {folder.path} --approve NAME.request")


def _columns(
    schema: Path | None, labels: str, reading: Reading, columns: ColumnOptions, method: type[Method] | None
) -> OneTable | None:
    if schema is None:
        if labels or columns.drop:
            option = "--labels" if labels else "--drop"
            raise ParameterError(f"{option} are columns of the table that --schema names; give both or none.")
        return None
    if not labels:
        raise ParameterError("--schema needs --labels, to tell labels from features.")
    takes_text = method is None or method.takes_nominal  # one that there is not is named later
    partly = method is None or method.takes_unknown_labels
    return read_one(schema, labels, reading, columns, takes_text=takes_text, partly=partly, keep=KEEP)
