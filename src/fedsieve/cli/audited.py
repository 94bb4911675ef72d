"""What `fedsieve audit` is asked to audit: a method by name on a dataset or a table, or what an agreement says."""

from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit import GUARDS, Setting
from fedsieve.audit.parties import Parties, Rows, made_up_labels, of_dataset, of_one_site
from fedsieve.checks import check_choice
from fedsieve.cli.agreed_tables import read_rows
from fedsieve.cli.audit import OWNER
from fedsieve.cli.tables import ColumnOptions, OneTable, read_one
from fedsieve.datasets.dialect import Reading
from fedsieve.deployment.agreement import Agreement, read_agreement
from fedsieve.errors import DataError, ParameterError, extra_needed
from fedsieve.methods import METHODS, Method
from fedsieve.privacy import Policy
from fedsieve.tables import ArrayTable
from fedsieve.values import check_values

N_LABELS = 3  # that are made up where a table has none
FOLDER_FILE = "federation.toml"


class Agreed(NamedTuple):
    """What a folder or file says: the agreement, the rules of the site whose folder it is, and rows that lie there."""

    agreement: Agreement
    policy: Policy | None
    rows: Rows | None


def setting_by_name(
    method: str,
    given: dict[str, Any],
    *,
    dataset: str,
    table: Path | None,
    labels: str,
    columns: ColumnOptions,
    reading: Reading,
    guard: str,
    n_sites: int,
    seed: int,
) -> Setting:
    """A method by name with some parameters, on a dataset or on somebody's own table."""
    check_choice(OWNER, "--guard", guard, tuple(GUARDS))
    names = {name.lower(): name for name in METHODS}
    if method.lower() not in names:
        check_choice(OWNER, "--method", method, tuple(names))
    of_method: Any = METHODS[names[method.lower()]]
    _check_parameters(of_method, given)
    if table is None:
        parties = of_dataset(dataset, n_sites, seed)
    else:
        found = read_one(table, labels, reading, columns, takes_text=of_method.takes_nominal)
        parties = _of_table(table, found, n_sites, seed)
        nominal, own = found.coding.nominal(), ArrayTable(found.features, found.X)
        ranges = found.coding.ranges(given["ranges"], nominal, [own], encodes_codes=of_method.encodes_codes)
        given = {**given, "nominal": nominal, **ranges}
    held = {"labels": parties.labels} if of_method.sites_hold_labels else {}
    return Setting.of(of_method(parties.features, **held, **given), parties, guard, seed=seed)


def setting_of_agreement(
    place: Path, table: Path | None, guard: str, n_sites: int | None, seed: int, reading: Reading
) -> Setting:
    """What an agreement says, on a site's own table or on the rows that lie in the operator's folder."""
    check_choice(OWNER, "--guard", guard, tuple(GUARDS))
    agreement, policy, rows = _agreed(place)
    method = agreement.method
    if table is not None:
        X, Y = read_rows(table, agreement, reading)
        rows = Rows(X, made_up_labels(len(X), len(agreement.labels), seed) if Y is None else Y)
    if rows is None:
        raise ParameterError(f"{OWNER}: {place} holds no rows. Give some in the agreement's columns: --table FILE.")
    _check_no_gaps(rows.X, method.features, str(table or place))
    _check_all_known(rows.Y, str(table or place))
    parties = of_one_site(
        str(table or place), method.features, agreement.labels, rows, n_sites or max(len(agreement.sites), 2), seed
    )
    return Setting.of(method, parties, guard, policy if guard == "site" else None, seed)


def _check_parameters(method: type[Method], given: dict[str, Any]) -> None:
    known = {part.name for part in fields(method)}
    for name, value in given.items():
        if name not in known:
            with_it = [other.name for other in METHODS.values() if name in {part.name for part in fields(other)}]
            way_out = f"Take --method {' or '.join(with_it).lower()}, or leave it out." if with_it else "Leave it out."
            raise ParameterError(f"{OWNER}: {method.name} has no parameter {name!r}; got --{name} {value}. {way_out}")


def _of_table(file: Path, table: OneTable, n_sites: int, seed: int) -> Parties:
    _check_no_gaps(table.X, table.features, str(file))
    _check_all_known(table.Y, str(file))
    Y = table.Y if table.labels else made_up_labels(len(table.X), N_LABELS, seed)
    names = table.labels or [f"made-up label {number}" for number in range(1, N_LABELS + 1)]
    return of_one_site(str(file), tuple(table.features), tuple(names), Rows(table.X, Y), n_sites, seed)


def _check_no_gaps(X: Float, features: Any, owner: str) -> None:
    """Attacks read values; rows that miss some are none of their business yet."""
    try:
        check_values(X, tuple(features), "error", "Fill them in, or leave these rows out: attacks read whole rows.")
    except DataError as error:
        raise DataError(f"{owner}: {error}") from None


def _check_all_known(Y: Float, owner: str) -> None:
    if np.isnan(Y).any():
        raise DataError(f"{owner}: labels are unknown. Fill them in, or leave these rows out: attacks read whole rows.")


def _agreed(place: Path) -> Agreed:
    if place.is_file():
        return Agreed(read_agreement(place), None, None)
    if not (place / FOLDER_FILE).is_file():
        raise DataError(
            f"{place}: is no agreement, and no folder of an operator or a site ({FOLDER_FILE} is not there). "
            "Give one, or audit a method by name: --method."
        )
    try:
        from fedsieve.deployment.policy_file import read_policy
        from fedsieve.deployment.server_folder import ServerFolder
        from fedsieve.deployment.site_folder import SiteFolder
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "cryptography":
            raise
        raise extra_needed(f"{OWNER} of a folder", "cryptography", "flower") from None
    if (place / "site.json").is_file():
        site = SiteFolder(place)
        return Agreed(site.agreement(), read_policy(site), None)
    server = ServerFolder(place)
    has_rows = (server.server / "labeled.npz").is_file()
    labeled = server.labeled() if has_rows else None
    return Agreed(server.agreement(), None, None if labeled is None else Rows(labeled.X, labeled.Y))
