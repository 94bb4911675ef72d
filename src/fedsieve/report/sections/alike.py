"""How like the chosen features are to each other: a map in which like ones are neighbors, and a graph."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.measures.arrangement import clustered, laid_out
from fedsieve.protocol.outcome import CORRELATION
from fedsieve.report.sections.features import plain
from fedsieve.selection_file import pairs_of
from fedsieve.text import visible

MOST_PAIRS = 10  # that are told in words
NEAREST = 2  # features that each one is linked with in the graph
MOST_DRAWN = 100
PLACE_DECIMALS = 3


def alike_section(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The map, the graph and the pairs most alike, where the record tells of pairs; else nothing."""
    pairs = pairs_of(record)
    if pairs is None or len(pairs[1]) < 2:
        return None
    is_correlation = pairs[0] == CORRELATION
    names, values = pairs[1][:MOST_DRAWN], pairs[2][:MOST_DRAWN, :MOST_DRAWN]
    distance = 1.0 - values if is_correlation else values
    order = clustered(distance)
    return {
        "measure": "absolute correlation" if is_correlation else "distance",
        "near_is_high": is_correlation,
        "most": 1.0 if is_correlation else plain(float(values.max())),
        "n_chosen": len(record["selected"]),
        "map": {
            "features": [visible(names[i]) for i in order],
            "values": [[plain(value) for value in values[i, order]] for i in order],
        },
        "closest": _closest(names, values, distance),
        "graph": _graph(record, names, values, distance),
    }


def _closest(names: list[str], values: Float, distance: Float) -> list[dict[str, Any]]:
    rows, columns = np.tril_indices(len(names), -1)
    nearest = np.argsort(distance[rows, columns], kind="stable")[:MOST_PAIRS]
    return [
        {
            "first": visible(names[columns[i]]),
            "second": visible(names[rows[i]]),
            "value": plain(float(values[rows[i], columns[i]])),
        }
        for i in nearest
    ]


def _graph(record: Mapping[str, Any], names: list[str], values: Float, distance: Float) -> dict[str, Any]:
    """Features as points, near where they are alike, and each linked with those nearest to it."""
    points = np.round(laid_out(distance), PLACE_DECIMALS)
    apart = distance + np.diag(np.full(len(names), np.inf))
    nearest = np.argsort(apart, axis=1, kind="stable")[:, : min(NEAREST, len(names) - 1)]
    links = sorted({(min(i, int(j)), max(i, int(j))) for i in range(len(names)) for j in nearest[i]})
    return {
        "nodes": [
            {
                "feature": visible(name),
                "rank": rank,
                "score": plain(record["scores"][name]),
                "x": float(points[rank - 1, 0]),
                "y": float(points[rank - 1, 1]),
            }
            for rank, name in enumerate(names, start=1)
        ],
        "links": [{"from": i, "to": j, "value": plain(float(values[i, j]))} for i, j in links],
        "n_nearest": NEAREST,
    }
