"""What the commands of `fedsieve federation` take; each is carried out in its own file, loaded when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from fedsieve.cli.counts import number_or_auto
from fedsieve.errors import extra_needed

app = typer.Typer(
    help="Run a selection with real sites over a network: init, serve, join, run, status.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Folder = Annotated[Path, typer.Argument(help="The operator's folder, made by 'init'.", show_default=False)]
LogFile = Annotated[Path | None, typer.Option(help="Log file; default fedsieve.log in the folder.")]
LogLevel = Annotated[str, typer.Option(help="debug, info, warning or error.")]


@app.command()
def init(
    output: Annotated[Path, typer.Option("--out", help="The new folder.")],
    sites: Annotated[str, typer.Option(help="The sites' names: siteA,siteB,siteC.")],
    schema: Annotated[Path | None, typer.Option(help="A table with the columns: the server's labeled rows.")] = None,
    labels: Annotated[
        str, typer.Option(help='Label columns of it: "y1,y2", "prefix:label_" or a Mulan XML file.')
    ] = "",
    address: Annotated[str, typer.Option(help="host:port where sites reach the server.")] = "127.0.0.1:9443",
    method: Annotated[
        str, typer.Option(help="Sieve, SSFMLFS, or FMLFS or FedCMFS, whose sites hold labels too.")
    ] = "SSFMLFS",
    k: Annotated[
        str | None, typer.Option("-k", help='How many features to select; default by their number. Sieve: also "auto".')
    ] = None,
    wire: Annotated[
        str | None, typer.Option(help="SSFMLFS: auto, matrices, statistics, vectors. FedCMFS: statistics, tests.")
    ] = None,
    ranges: Annotated[str, typer.Option(help="federated, local, or a CSV file: feature,low,high.")] = "federated",
    nominal: Annotated[str, typer.Option(help="Features whose values are codes: a,b,c.")] = "",
    missing: Annotated[str | None, typer.Option(help="error (default) or unrelated; SSFMLFS.")] = None,
    min_clients: Annotated[int, typer.Option(help="How many sites must remain for a result.")] = 2,
    min_rows: Annotated[int, typer.Option(help="How many rows a site must have to take part.")] = 10,
    timeout: Annotated[int, typer.Option(help="Seconds that a site has for an answer.")] = 300,
    days: Annotated[int, typer.Option(help="How long the certificates are valid.")] = 730,
) -> None:
    """Make a federation: keys, certificates, federation.toml, and one folder per site to hand over.

    [bold]Example[/bold]: fedsieve federation init --out fed/ --sites siteA,siteB,siteC \\
    --schema server.parquet --labels prefix:label_

    Without --schema, federation.toml is a template with marked places; fill them in, then run 'pack'.
    """
    parameters = {"n_features_to_select": None if k is None else number_or_auto(k), "wire": wire, "missing": missing}
    rounds = {"min_clients": min_clients, "timeout_seconds": timeout}
    _room("founding").init(
        output,
        sites,
        schema,
        labels,
        address,
        method,
        ranges,
        nominal,
        parameters,
        rounds,
        {"min_rows": min_rows},
        days,
    )


@app.command()
def pack(folder: Folder) -> None:
    """Put the present federation.toml into all site folders and pack them again; keys stay.

    [bold]Example[/bold]: fedsieve federation pack fed/
    """
    _room("founding").pack(folder)


@app.command()
def site(
    folder: Folder,
    add: Annotated[str, typer.Option(help="A new site.")] = "",
    renew: Annotated[str, typer.Option(help="A site that gets a new key; its old one is refused from then on.")] = "",
    remove: Annotated[str, typer.Option(help="A site that belongs no longer; its key is refused from then on.")] = "",
) -> None:
    """Add a site, give one a new key, or remove one. A running server takes notice within seconds.

    [bold]Example[/bold]: fedsieve federation site fed/ --renew siteB
    """
    _room("founding").change(folder, add, renew, remove)


@app.command()
def certificate(
    folder: Folder, days: Annotated[int, typer.Option(help="How long the new certificate is valid.")] = 730
) -> None:
    """Give the server a new certificate of the same authority, before the old one expires.

    [bold]Example[/bold]: fedsieve federation certificate fed/
    """
    _room("founding").certificate(folder, days)


@app.command()
def serve(
    folder: Folder,
    labeled: Annotated[Path, typer.Option(help="The server's labeled rows, CSV or Parquet.")],
    host: Annotated[str, typer.Option(help="Where to listen; loopback unless you say otherwise.")] = "127.0.0.1",
    log_file: LogFile = None,
    log_level: LogLevel = "info",
) -> None:
    """Start the server and wait for sites; Ctrl-C ends it.

    [bold]Example[/bold]: fedsieve federation serve fed/ --labeled server.parquet
    """
    _room("serving").serve(folder, labeled, host, log_file, log_level)


@app.command()
def join(
    folder: Annotated[Path, typer.Argument(help="The site's folder, as the operator handed it over.")],
    data: Annotated[Path, typer.Option(help="This site's rows, CSV or Parquet.")],
    yes: Annotated[bool, typer.Option("--yes", help="Consent without being asked.")] = False,
    log_file: LogFile = None,
    log_level: LogLevel = "info",
) -> None:
    """Take part with this site's rows: checks them, shows what will leave, asks for consent, then answers the server.

    [bold]Example[/bold]: fedsieve federation join siteA/ --data rows.parquet
    """
    _room("joining").join(folder, data, yes, log_file, log_level)


@app.command()
def run(
    folder: Folder,
    output: Annotated[Path | None, typer.Option("--out", help="Folder for the result; default in the run's.")] = None,
    wait: Annotated[int, typer.Option(help="Seconds to wait for all sites to be online.")] = 60,
    resume: Annotated[str | None, typer.Option(help="Go on with a run: its id, or 'last'.")] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing result.")] = False,
) -> None:
    """Run the rounds with the sites that are online, and give all of them the result.

    [bold]Example[/bold]: fedsieve federation run fed/ --out result/
    """
    _room("running").run(folder, output, wait, resume, force)


@app.command()
def status(folder: Folder) -> None:
    """Show who is online, and how the latest run goes: round, bytes, elapsed time.

    [bold]Example[/bold]: fedsieve federation status fed/
    """
    _room("standing").status(folder)


@app.command()
def simulate(
    clients: Annotated[int, typer.Option(help="How many virtual sites.")] = 100,
    labeled: Annotated[Path | None, typer.Option(help="Labeled rows; default: the bundled digits.")] = None,
    labels: Annotated[str, typer.Option(help="Label columns of the labeled rows.")] = "",
    rows: Annotated[Path | None, typer.Option(help="Unlabeled rows to deal out among the sites.")] = None,
    output: Annotated[Path | None, typer.Option("--out", help="Folder for the result.")] = None,
    seed: Annotated[int, typer.Option(help="Decides how rows are dealt out.")] = 0,
) -> None:
    """Try a federation of many virtual sites on this machine, in Flower's simulation (Ray).

    [bold]Example[/bold]: fedsieve federation simulate --clients 100
    """
    _room("simulating").simulate(clients, labeled, labels, rows, output, seed)


def _room(name: str) -> Any:
    """The file that carries a command out; it brings the engine, which other commands need not load."""
    try:
        return import_module(f"fedsieve.cli.federation.{name}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = {"flwr": "flower", "cryptography": "flower", "ray": "simulation"}.get(package)
        if extra is None:
            raise
        raise extra_needed("fedsieve federation", package, extra) from None
