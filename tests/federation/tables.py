"""Tables for a federation of some sites, and what a run in one process finds in them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fedsieve.methods import SSFMLFSMethod
from fedsieve.protocol import Labeled
from fedsieve.protocol.influence import KeptReplies, influence, stretch
from fedsieve.selection_file import selection_record
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process

FEATURES = ("age", "weight [kg]", "dose", "code", "pulse", "noise", "length")
LABELS = ("label_a", "label_b", "label_c")
# What must not depend on the way messages traveled.
FOUND = (
    "selected",
    "order",
    "scores",
    "relevance",
    "radius",
    "n_iter",
    "residual",
    "n_rows",
    "n_clipped",
    "parameters",
)


@dataclass(frozen=True)
class Tables:
    server: pd.DataFrame
    sites: dict[str, pd.DataFrame]

    def write(self, folder: Path) -> None:
        self.server.to_csv(folder / "server.csv", index=False)
        for name, table in self.sites.items():
            table.to_csv(folder / f"{name}.csv", index=False)

    def in_one_process(self, plan: SSFMLFSMethod, without: tuple[str, ...] = ()) -> dict[str, Any]:
        """The record of a run in this process with all sites, or with those that remain.

        Rows in C order, as sites keep them: the order in memory decides the order of additions, and so the last bit.
        """
        X = np.ascontiguousarray(self.server[list(FEATURES)].to_numpy(float))
        labeled = Labeled(X, self.server[list(LABELS)].to_numpy().astype(float))
        sites = {
            name: ArrayTable(plan.features, np.ascontiguousarray(table[list(plan.features)].to_numpy(float)))
            for name, table in self.sites.items()
            if name not in without
        }
        kept = KeptReplies()
        outcome = in_process.select(plan, labeled, sites, kept=kept)
        moved = influence(plan, labeled, outcome.selection, kept)
        whole = {**selection_record(plan, outcome, list(LABELS)), "influence": moved, "stretch": stretch(kept)}
        record: dict[str, Any] = json.loads(json.dumps(whole))
        return record

    def texts_of_values(self) -> set[str]:
        """How values of rows would look in a log: plain, or as numpy prints large ones."""
        tables = [self.server, *self.sites.values()]
        values = np.concatenate([table[list(FEATURES)].to_numpy(float).ravel() for table in tables])
        return {f"{value:.2f}"[:-1] for value in values} | {f"{value:.5e}"[:7] + "e" for value in values}


def make_tables(names: tuple[str, ...], n_rows: int = 12) -> Tables:
    """Values have seven digits before the point, so that one is recognized wherever it turns up."""
    rng = np.random.default_rng(11)
    n_labeled = 20
    total = n_labeled + n_rows * len(names)
    one, two = rng.random(total), rng.random(total)
    columns = {
        "age": one,
        "weight [kg]": 0.5 * one + 0.5 * rng.random(total),
        "dose": two,
        "code": rng.integers(0, 9, total) / 9,
        "pulse": 0.8 * two + 0.2 * rng.random(total),
        "noise": rng.random(total),
        "length": one * two,
    }
    frame = pd.DataFrame({name: (1e6 + 8e6 * column).round(3) for name, column in columns.items()})
    labels = {"label_a": one > 0.5, "label_b": two > 0.4, "label_c": rng.random(total) < 0.3}
    server = frame[:n_labeled].assign(**{name: column[:n_labeled].astype(int) for name, column in labels.items()})
    sites = {}
    for number, name in enumerate(names):
        start = n_labeled + n_rows * number
        mixed = rng.permutation(FEATURES)
        sites[name] = frame[start : start + n_rows][list(mixed)]
    return Tables(server, sites)


OPERATORS = ("shift", "communication", "pairs", "timing", "command")


def given_to_sites(record: dict[str, Any]) -> dict[str, Any]:
    """What sites get of the operator's result: neither how unlike or far they are, nor what only a page shows."""
    return {key: value for key, value in record.items() if key not in OPERATORS}


def assert_same(record: dict[str, Any], expected: dict[str, Any], *more: str) -> None:
    """To the last bit: JSON keeps every float as it is."""
    for key in (*FOUND, *more):
        assert record[key] == expected[key], f"{key} differs:\n{record[key]}\n{expected[key]}"
