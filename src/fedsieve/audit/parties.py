"""Whose rows are whose in an audit: a server, sites, the one under attack, and rows that are nowhere.

Rows are dealt out at random, so that a row of the site differs from one that is nowhere in nothing but being there.
"""

from dataclasses import dataclass, replace

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_choice
from fedsieve.datasets import available, partition
from fedsieve.errors import DataError, ParameterError
from fedsieve.experiments.config import BUNDLED
from fedsieve.experiments.selection import load_by_name
from fedsieve.protocol import Labeled
from fedsieve.protocol.method import Method
from fedsieve.tables import ArrayTable, Table
from fedsieve.values import dense

INK = "ink"  # the bundled digits, each pixel 1 where there is ink
LABELED, OUTSIDE = 0.2, 0.2  # shares of the rows that the server has, and that nobody has
OF_ONE = (0.7, 0.2)  # of one site's own table: the share that it answers for, and that nobody has; the rest are labeled
MOST_ROWS = 20_000  # of a table; an audit of more would take long and say the same
LEAST_ROWS = 20


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows and their labels, made-up ones where there are none."""

    X: Float
    Y: Float

    def __len__(self) -> int:
        return len(self.X)

    def only(self, rows: Int) -> "Rows":
        """Some of them."""
        return Rows(self.X[rows], self.Y[rows])


@dataclass(frozen=True, eq=False)
class Parties:
    """The server's rows, each site's, and rows of the same source that nobody has."""

    source: str  # in words
    features: tuple[str, ...]
    labels: tuple[str, ...]
    server: Rows
    sites: dict[str, Rows]
    attacked: str
    outside: Rows

    @property
    def members(self) -> Rows:
        """The rows of the site under attack."""
        return self.sites[self.attacked]

    @property
    def labeled(self) -> Labeled:
        """The server's rows as a method takes them."""
        return Labeled(self.server.X, self.server.Y)

    def table(self, rows: Rows, method: Method) -> ArrayTable:
        """Rows as a site holds them: with labels where the method wants them there."""
        if method.sites_hold_labels:
            return ArrayTable(self.features, rows.X, self.labels, rows.Y)
        return ArrayTable(self.features, rows.X)

    def tables(self, method: Method) -> dict[str, Table]:
        """Those of all sites."""
        return {name: self.table(rows, method) for name, rows in self.sites.items()}

    def with_site(self, rows: Rows) -> "Parties":
        """The same, with other rows at the site under attack."""
        return replace(self, sites={**self.sites, self.attacked: rows})


def of_dataset(name: str, n_sites: int, seed: int) -> Parties:
    """The bundled digits, in grey or in black and white, or a known dataset, dealt out."""
    check_choice("fedsieve audit", "--dataset", name, (BUNDLED, INK, *available()))
    data = load_by_name(BUNDLED if name == INK else name)
    X = np.asarray(dense(data.X), dtype=np.float64)
    X = (X.max() / 4 < X).astype(np.float64) if name == INK else X
    return dealt_out(name, data.feature_names, data.label_names, Rows(X, data.Y.astype(np.float64)), n_sites, seed)


def dealt_out(
    source: str, features: tuple[str, ...], labels: tuple[str, ...], rows: Rows, n_sites: int, seed: int
) -> Parties:
    """A whole dataset: a fifth to the server, a fifth to nobody, the rest evenly to the sites."""
    _check(source, rows, n_sites)
    labeled, others = partition.labeled_split(rows.Y.astype(np.int64), LABELED, [seed, 0])
    others = np.random.default_rng([seed, 1]).permutation(others)
    n_outside = round(OUTSIDE * len(rows))
    outside, dealt = others[:n_outside], np.array_split(others[n_outside:], n_sites)
    if min(map(len, dealt)) < 2:
        raise ParameterError(f"fedsieve audit: {source} has {len(rows)} rows, too few for {n_sites} sites (--sites).")
    sites = {f"site-{number:02d}": rows.only(part) for number, part in enumerate(dealt, start=1)}
    return Parties(source, features, labels, rows.only(labeled), sites, "site-01", rows.only(outside))


def of_one_site(
    source: str, features: tuple[str, ...], labels: tuple[str, ...], rows: Rows, n_sites: int, seed: int
) -> Parties:
    """One site's own table: most of it is under attack, some is nowhere, some stands for the server's rows.

    Other sites' rows are not here: values drawn column by column from this table stand for them.
    """
    _check(source, rows, n_sites)
    rng = np.random.default_rng([seed, 0])
    shuffled = rng.permutation(len(rows))[:MOST_ROWS]
    n_site, n_outside = (round(share * len(shuffled)) for share in OF_ONE)
    member, outside, labeled = np.split(shuffled, [n_site, n_site + n_outside])
    sites = {"site-01": rows.only(member)}
    for number in range(2, n_sites + 1):
        X = np.column_stack([rng.choice(column, n_site) for column in rows.X.T])
        sites[f"site-{number:02d}"] = Rows(X, rows.Y[rng.integers(0, len(rows), n_site)])
    return Parties(source, features, labels, rows.only(labeled), sites, "site-01", rows.only(outside))


def made_up_labels(n_rows: int, n_labels: int, seed: int) -> Float:
    """Labels by chance that all vary, where a table has none."""
    labels = np.random.default_rng([seed, 7]).integers(0, 2, (n_rows, n_labels)).astype(np.float64)
    labels[::7], labels[1::7] = 0.0, 1.0
    return labels


def _check(source: str, rows: Rows, n_sites: int) -> None:
    if n_sites < 2:
        raise ParameterError(f"fedsieve audit: --sites must be at least 2; got {n_sites}.")
    if len(rows) < LEAST_ROWS:
        raise DataError(
            f"{source}: has {len(rows)} rows; an audit needs at least {LEAST_ROWS}, of which it sets some aside."
        )
