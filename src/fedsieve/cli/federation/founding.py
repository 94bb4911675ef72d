"""`init`, `pack` and `site`: making a federation and changing who belongs to it."""

from pathlib import Path
from typing import Any

from fedsieve.cli.console import say, warn
from fedsieve.cli.sites import declared_ranges
from fedsieve.datasets.files import read_table
from fedsieve.datasets.label_columns import label_columns
from fedsieve.deployment import membership
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_text import agreement_text
from fedsieve.deployment.folders import AGREEMENT, ServerFolder
from fedsieve.errors import ParameterError
from fedsieve.protocol.methods import METHODS


def init(
    output: Path,
    sites: str,
    schema: Path | None,
    labels: str,
    address: str,
    method: str,
    ranges: str,
    nominal: str,
    parameters: dict[str, Any],
    rounds: dict[str, Any],
    privacy: dict[str, Any],
    days: int,
) -> None:
    """Make the operator's folder."""
    names = _split(sites)
    if len(names) < rounds["min_clients"]:
        raise ParameterError(f"--sites names {len(names)} sites; a federation needs {rounds['min_clients']} or more.")
    features, label_names = _columns(schema, labels)
    text = agreement_text(
        output.name,
        address,
        names,
        features,
        label_names,
        ranges=declared_ranges(ranges),
        nominal=_split(nominal),
        method=next((known for known in METHODS if known.lower() == method.lower()), method),
        parameters={key: value for key, value in parameters.items() if value is not None},
        rounds=rounds,
        privacy=privacy,
    )
    if features is not None:
        parse_agreement(text)
    folder = membership.create(output, text, names, address, days=days)
    say(f"Made {folder.path} for {len(names)} sites. Private keys are readable by you only.")
    if features is None:
        warn(f"{folder.path / AGREEMENT} is a template: fill in the marked places, then 'fedsieve federation pack'.")
    for name in names:
        say(f"  hand over on a safe channel: {folder.sites / name}.tar")
    say(f"Then: fedsieve federation serve {folder.path} --labeled FILE")


def pack(path: Path) -> None:
    """Refresh the site folders."""
    folder = ServerFolder(path)
    for name in folder.agreement().sites:
        say(f"packed {membership.hand_over(folder, name)}")


def change(path: Path, add: str, renew: str, remove: str) -> None:
    """Add, renew or remove one site."""
    if sum(map(bool, (add, renew, remove))) != 1:
        raise ParameterError("give one of --add, --renew and --remove.")
    folder = ServerFolder(path)
    if remove:
        membership.remove_site(folder, remove)
        say(f"Removed {remove}; a running server refuses its key from now on.")
        return
    if add:
        membership.add_site(folder, add)
    else:
        membership.known_sites(folder, [renew])
        membership.renew_site(folder, renew)
    say(f"hand over on a safe channel: {folder.sites / (add or renew)}.tar")


def certificate(path: Path, days: int) -> None:
    """Renew the server's certificate."""
    membership.renew_certificate(ServerFolder(path), days)
    say(f"The server has a new certificate for {days} days; start 'serve' again to use it. Sites need nothing new.")


def _columns(schema: Path | None, labels: str) -> tuple[list[str] | None, list[str] | None]:
    if schema is None:
        if labels:
            raise ParameterError("--labels are columns of the table that --schema names; give both or none.")
        return None, None
    if not labels:
        raise ParameterError("--schema needs --labels, to tell labels from features.")
    columns = read_table(schema).column_names
    label_names = label_columns(labels, columns)
    return [name for name in columns if name not in label_names], list(label_names)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]
