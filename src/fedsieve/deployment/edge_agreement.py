"""The agreement of an edge server with its own sites: that of the federation above, with other members and rounds.

Its sites are asked what the edge server is asked, so nothing else may differ: neither columns nor method.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from fedsieve.deployment.above import SHORT, Above
from fedsieve.deployment.agreement import PRIVACY, ROUNDS, Agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.members import fingerprint
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, ParameterError, ProtocolError, listed
from fedsieve.protocol import SERVER
from fedsieve.reading import read_toml

OWN = {*ROUNDS, "min_rows"} - {"max_rows", "max_message_bytes"}  # what each level decides for itself
SHARE_OF_TIME = 0.8  # of the time that the edge server has for an answer, its sites' part


def edge_agreement_text(
    edge: SiteFolder,
    name: str,
    address: str,
    sites: Iterable[str],
    own: Mapping[str, Any],
    keys: Mapping[str, str] | None = None,
) -> str:
    """The agreement for the sites below; `own` are this level's rules, of the rounds and of privacy."""
    above = edge.agreement()
    check_can_be_between(above, edge.name)
    content = read_toml(edge.path / AGREEMENT)
    columns, rounds = content["columns"], {**ROUNDS, **content["rounds"]}
    rules = {key: value for key, value in own.items() if key in OWN}
    rounds.update({"max_sites_per_client": 1, **{key: value for key, value in rules.items() if key in ROUNDS}})
    rounds["timeout_seconds"] = min(rounds["timeout_seconds"], most_seconds(above))
    return agreement_text(
        name,
        address,
        sites,
        columns["features"],
        columns["labels"],
        ranges=content.get("ranges", columns["ranges"]),
        bounds=content.get("bounds"),
        nominal=columns.get("nominal", ()),
        dates=columns.get("dates", ()),
        categories=content.get("categories"),
        method=above.method.name,
        parameters=content["parameters"],
        rounds=rounds,
        privacy={key: value for key, value in rules.items() if key in PRIVACY},
        keys=keys,
        above=above_of(above, edge.name),
    )


def follow_above(edge: SiteFolder, below: ServerFolder) -> str:
    """The agreement below once more, after the one above changed: its members and own rules stay."""
    present = below.agreement()
    content = read_toml(below.path / AGREEMENT)
    own = {**content["rounds"], **content["privacy"]}
    sites, keys = [name for name in present.members if name != SERVER], present.members
    return edge_agreement_text(edge, present.name, present.address, sites, own, keys)


def above_of(agreement: Agreement, client: str) -> Above:
    """How an agreement is named to the sites below one of its clients."""
    in_all = len(agreement.sites) * agreement.method.max_sites_per_client
    return Above(
        agreement.name,
        client,
        fingerprint(agreement.members[SERVER]),
        agreement.fingerprint,
        max(in_all, 0 if agreement.above is None else agreement.above.max_sites),
    )


def most_seconds(above: Agreement) -> int:
    """How long sites below may take, so that the edge server can still say above who did not answer."""
    return max(1, int(SHARE_OF_TIME * above.timeout_seconds))


def check_can_be_between(above: Agreement, client: str) -> None:
    """Refuse an agreement above in which no edge server can take part."""
    method = above.method
    if reason := method.why_no_edge_server:
        raise ProtocolError(
            f"{client}: no edge server can take part in the federation {above.name!r}: {reason} Let each site join it "
            "itself, or agree there on sums that every server may add up"
            f"{' (secure = false)' * method.secure}."
        )


def check_member(edge: SiteFolder, own: Above, place: Path) -> None:
    """Refuse the sites of another edge server, `place`: a mix-up of folders would have them all consent anew."""
    above = edge.agreement()
    if (own.client, own.operator) != (edge.name, fingerprint(above.members[SERVER])):
        raise DataError(
            f"{place}: belongs to {own.client!r} of the federation {own.name!r} (operator's key {own.operator}), and "
            f"{edge.path} is that of {edge.name!r} in {above.name!r} (operator's key "
            f"{fingerprint(above.members[SERVER])}). Is one of them the wrong folder?"
        )


def check_below(edge: SiteFolder, own: Agreement, place: Path) -> None:
    """Refuse to ask the sites below for a federation whose agreement they did not consent to, or under other rules.

    `own` is the edge server's agreement with them, whose folder is `place`.
    """
    above, file = edge.agreement(), place / AGREEMENT
    check_can_be_between(above, edge.name)
    anew = f"fedsieve federation pack {place} --above {edge.path}; all its sites consent anew."
    if own.above is None:
        raise DataError(
            f"{file}: is no edge server's agreement: it has no section [above]. Make one with: "
            f"fedsieve federation init --above {edge.path} --out NEW --sites NAMES"
        )
    check_member(edge, own.above, place)
    if own.above != above_of(above, edge.name):
        raise DataError(
            f"{file}: its sites agreed to answer for {own.above.words}; {edge.path} holds the agreement "
            f"{above.fingerprint[:SHORT]} of {above.name!r}. Take that over: {anew}"
        )
    if different := _different(above, own):
        raise DataError(f"{file}: differs from the agreement above in {listed(different)}. Take that over: {anew}")
    n_sites = len(own.sites) * own.method.max_sites_per_client
    if n_sites > above.method.max_sites_per_client:
        raise ParameterError(
            f"{file}: is of {n_sites} sites; the federation {above.name!r} lets a client stand for "
            f"{above.method.max_sites_per_client} (max_sites_per_client in its [rounds]). Its operator sets it with "
            "'init --max-sites-per-client'."
        )
    if own.timeout_seconds > most_seconds(above):
        raise ParameterError(
            f"{file}: sites have {own.timeout_seconds} s for an answer (timeout_seconds), {edge.name} itself has "
            f"{above.timeout_seconds} s above; {most_seconds(above)} s or less leave time to say who did not answer."
        )


def refuse_edge_server(agreement: Agreement, folder: Path, command: str) -> None:
    """For commands of a server that has labeled rows and starts runs."""
    if agreement.above is not None:
        raise ParameterError(
            f"{folder}: is an edge server's, and '{command}' is for the server of {agreement.above.name!r} above it. "
            f"Start this one with: fedsieve federation edge FOLDER_OF_{agreement.above.client} --below {folder}"
        )


def _different(above: Agreement, below: Agreement) -> list[str]:
    """By their names, the parameters and columns that differ."""
    one, other = above.method, below.method
    names = [field.name for field in fields(one) if field.name not in OWN]
    found = (
        ["method"] if one.name != other.name else [name for name in names if getattr(one, name) != getattr(other, name)]
    )
    others = ("labels", "categories", "dates")
    return [*found, *(name for name in others if getattr(above, name) != getattr(below, name))]
