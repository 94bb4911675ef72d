"""How unlike the others a site's rows are: for the site alone, from the total over all that it is told.

In secure sums nobody else can tell, since single sites' replies are seen by no one.
"""

from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Int
from fedsieve.deployment.folders import make_private, write_json
from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import DataError, listed
from fedsieve.measures.converted_rows import ELSEWHERE, conversion_of
from fedsieve.measures.shift import HARDLY, finding_words
from fedsieve.measures.unlikeness import by_chance, distance, is_unlike
from fedsieve.messages.binned import counts_of
from fedsieve.messages.columns import Bins, Columns
from fedsieve.reading import read_json
from fedsieve.tables import Table
from fedsieve.values import dense

FILE = "shift.json"
AGAIN = "It is written anew in the next run."


def compared(rows: Table, answered: Table, columns: Columns, bins: Bins, total: Int) -> list[dict[str, Any]]:
    """A site's rows beside those of all others, column by column, the most unlike first.

    The others' counts are what is left of the total without those that the site `answered`, without what it holds back.
    """
    own, others = counts_of(rows, columns, bins), np.maximum(total - counts_of(answered, columns, bins), 0)
    found, edges, nominal = [], bins.by_column(), columns.nominal_mask
    counts = zip(columns.features, bins.split(own), bins.split(others), strict=True)
    for place, (name, here, there) in enumerate(counts):
        apart, (mean, deviation) = float(distance(here, there)), by_chance(here, there)
        unlike = is_unlike(apart, mean, deviation)
        entry = {"column": name, "distance": apart, "by_chance": mean, "unlike": unlike}
        if unlike and apart >= ELSEWHERE and not nominal[place]:
            conversion = conversion_of(dense(rows.whole((name,)))[:, 0], edges[place], there)
            if conversion is not None or apart >= 1 - HARDLY:
                entry["looks"] = finding_words(conversion)
        found.append(entry)
    return sorted(found, key=lambda one: (-one["unlike"], -one["distance"]))


def words(columns: list[dict[str, Any]]) -> str:
    """For people, in one sentence."""
    unlike = [found["column"] for found in columns if found["unlike"]]
    how_many = f"{len(unlike) or 'none'} of {len(columns)} columns"
    which = f": {listed(unlike)}" if unlike else ""
    looks = "".join(f"; {words}" for words in looks_wrong(columns))
    return f"in {how_many} this site's rows are unlike those of the others{which}{looks}"


def looks_wrong(columns: list[dict[str, Any]]) -> list[str]:
    """What looks like another unit, or lies apart; one sentence for each column."""
    return [f"column {found['column']!r}: its values {found['looks']}" for found in columns if found.get("looks")]


def write_shift(folder: Path, columns: list[dict[str, Any]]) -> None:
    """Beside the run's result, for the site's own eyes."""
    write_json(make_private(folder) / FILE, {"words": words(columns), "columns": columns}, mode=PRIVATE)


def read_shift(folder: Path) -> list[dict[str, Any]]:
    """Read it again."""
    file = folder / FILE
    columns = read_json(file, {}, way_out=AGAIN).get("columns")
    if not isinstance(columns, list) or not all(_is_found(found) for found in columns):
        raise DataError(f"{file}: is no comparison with other sites. {AGAIN}")
    return columns


def _is_found(found: Any) -> bool:
    kinds = {"column": str, "distance": float, "by_chance": float, "unlike": bool}
    known = isinstance(found, dict) and all(isinstance(found.get(name), kind) for name, kind in kinds.items())
    return known and isinstance(found.get("looks", ""), str)  # told where something does
