"""Tables for Sieve with numbers and codes, its encoding by hand, and short ways to run it."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from fedsieve import messages as m
from fedsieve.methods import SieveMethod
from fedsieve.protocol import Labeled
from fedsieve.protocol.outcome import Outcome
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from sites_with_labels import dyadic

KINDS = ("number", "0/1", "few", "constant", "copy", "mirror", "code", "one code")
VARIED = ("number", "few", "code")  # no two columns alike, none constant: no ties
QUICK = {"n_trees": 6, "n_bootstraps": 2}  # where neither many trees nor stability matter


@dataclass(frozen=True, eq=False)
class SieveCase:
    """The server's rows, the rows of all clients, which columns are codes, and which are selected together."""

    X: np.ndarray
    Y: np.ndarray
    others: np.ndarray
    nominal: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] | None = None

    @property
    def features(self) -> tuple[str, ...]:
        return self.names or tuple(f"f{p}" for p in range(self.X.shape[1]))

    @property
    def rows(self) -> Labeled:
        return Labeled(self.X, self.Y)

    @property
    def all_rows(self) -> np.ndarray:
        return np.vstack([self.X, self.others])

    def plan(self, **parameters: object) -> SieveMethod:
        """With exact ranges, by which twins encode by hand."""
        usual = {"ranges": "federated", **QUICK}
        return SieveMethod(self.features, nominal=self.nominal, groups=self.groups, **{**usual, **parameters})

    def sites(self, tables: dict[str, np.ndarray]) -> dict[str, ArrayTable]:
        return {name: ArrayTable(self.features, table) for name, table in tables.items()}

    def run(self, tables: dict[str, np.ndarray], **parameters: object) -> Outcome:
        return in_process.select(self.plan(**parameters), self.rows, self.sites(tables))

    def select(self, tables: dict[str, np.ndarray], **parameters: object):
        return self.run(tables, **parameters).selection

    def pooled(self, **parameters: object):
        """All unlabeled rows at one client."""
        return self.select({"pool": self.others}, min_clients=1, **parameters)

    def with_columns(self, order: np.ndarray) -> "SieveCase":
        """The same columns, names along, in another order."""
        names = tuple(self.features[p] for p in order)
        return replace(self, X=self.X[:, order], others=self.others[:, order], names=names)


@st.composite
def sieve_cases(
    draw: st.DrawFn,
    kinds: tuple[str, ...] = KINDS,
    min_features: int = 3,
    max_features: int = 7,
    min_others: int = 4,
    groups: bool = True,
) -> SieveCase:
    """Columns of all kinds, some of them grouped; labels of which one follows a column, up to some noise."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_labeled, n_others = draw(st.integers(6, 16)), draw(st.integers(min_others, min_others + 30))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=min_features, max_size=max_features))
    table: list[np.ndarray] = []
    for kind in chosen:
        table.append(_column(rng, kind, table, n_labeled + n_others))
    X = np.stack(table, axis=1)
    Y = rng.integers(0, 2, (n_labeled, draw(st.integers(1, 3)))).astype(float)
    followed = X[:n_labeled, rng.integers(len(table))] + 0.1 * rng.random(n_labeled)
    Y[:, 0] = followed > np.median(followed)  # varies: there are two or more values
    names = [f"f{p}" for p in range(len(chosen))]
    coded = tuple(name for name, kind in zip(names, chosen, strict=True) if "code" in kind)
    drawn = rng.permutation(len(names))[: draw(st.integers(0, len(names))) if groups else 0]
    parts = [tuple(names[p] for p in part) for part in (drawn[::2], drawn[1::2])]
    return SieveCase(X[:n_labeled], Y, X[n_labeled:], coded, tuple(part for part in parts if part))


def _column(rng: np.random.Generator, kind: str, before: list[np.ndarray], n_rows: int) -> np.ndarray:
    earlier = [column for column in before if np.any(column != np.round(column))]  # copies of codes are no codes
    model = earlier[rng.integers(len(earlier))] if earlier else dyadic(rng.normal(size=n_rows))
    codes = rng.integers(0, rng.integers(2, 5), n_rows) + rng.integers(-2, 3)
    codes[rng.permutation(n_rows)[:2]] = codes.min(), codes.min() + 1  # two codes at least
    values = {
        "number": rng.normal(size=n_rows) * rng.choice([0.1, 1.0, 100.0]),
        "0/1": rng.random(n_rows) < 0.3,
        "few": rng.integers(0, 5, n_rows) / 4,
        "constant": np.full(n_rows, rng.choice([0.0, 0.1, -7.0])),
        "copy": model * rng.choice([1.0, 3.0]) + rng.choice([0.0, 1.0]),
        "mirror": -model,
        "code": codes,
        "one code": np.full(n_rows, rng.integers(-2, 3)),
    }[kind]
    return values.astype(float) if "co" in kind else dyadic(values.astype(float))


@st.composite
def partitions(draw: st.DrawFn, rows: np.ndarray, max_clients: int = 6) -> dict[str, np.ndarray]:
    """The rows dealt out to 2 or more clients of any names, as unevenly as 2 rows each allow."""
    n_clients = draw(st.integers(2, min(max_clients, len(rows) // 2)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spare = len(rows) - 2 * n_clients
    cuts = np.sort(draw(st.lists(st.integers(0, spare), min_size=n_clients - 1, max_size=n_clients - 1)))
    edges = [0, *(cuts + 2 * np.arange(1, n_clients)).tolist(), len(rows)]
    dealt, names = rng.permutation(len(rows)), rng.permutation(n_clients)
    return {f"c{name}": rows[dealt[a:b]] for name, a, b in zip(names, edges[:-1], edges[1:], strict=True)}


def encoded(table: np.ndarray, features: tuple[str, ...], nominal: tuple[str, ...], rows: np.ndarray):
    """The names and columns of Sieve's encoding of `rows` in the ranges of `table`, in plain loops."""
    names, columns = [], []
    for name, all_values, values in zip(features, table.T, rows.T, strict=True):
        low, high = all_values.min(), all_values.max()
        if name in nominal:
            for code in range(int(low), int(high) + 1):
                names.append(f"{name}={code}")
                columns.append((values == code).astype(float))
        else:
            names.append(name)
            columns.append((values - low) / (high - low) if high > low else np.zeros(len(values)))
    return tuple(names), np.stack(columns, axis=1)


def scaling_of(table: np.ndarray) -> m.Scaling:
    return m.Scaling(table.min(axis=0), table.max(axis=0))


def sieve_example(seed: int = 0) -> SieveCase:
    """Four numbers, one of them constant, and two columns of codes; two labels follow a number and a code."""
    rng = np.random.default_rng(seed)
    n_rows = 14 + 45
    X = rng.normal(size=(n_rows, 6))
    X[:, 2] = 5.0
    X[:, 3] = rng.integers(1, 4, n_rows)
    X[:, 5] = rng.integers(0, 2, n_rows)
    X = dyadic(X)
    Y = np.column_stack([X[:, 0] > 0, X[:, 3] == 2, rng.random(n_rows) < 0.5]).astype(float)
    return SieveCase(X[:14], Y[:14], X[14:], ("f3", "f5"))


def thirds(case: SieveCase) -> dict[str, np.ndarray]:
    """Clients site-0, site-1 and site-2, of 15 rows each or nearly so."""
    return {f"site-{i}": part for i, part in enumerate(np.array_split(case.others, 3))}
