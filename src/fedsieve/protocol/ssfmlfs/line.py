"""Whether a relation matrix can be that of one column: related rows fix their values up to shift and mirror."""

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.fuzzy.relation import SIMILARITY_CAP

ROOM = 1e-9  # for rounding along a chain of rows


def unlike_a_line(matrix: Float, radius: float, kind: str, nominal: bool, *, may_miss: bool) -> str | None:
    """Why no column of values has this symmetric, reflexive relation; `None` where one has, or it cannot be told.

    >>> R = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, 0.7], [0.9, 0.7, 1.0]])
    >>> unlike_a_line(R, 0.3, "distance", False, may_miss=False)
    'its degrees contradict each other'
    """
    related, apart = matrix > 0, 1.0 - matrix
    reach = 0.0 if nominal else _reach(radius, kind)
    if np.any(apart[related] > reach + ROOM):
        return "it has degrees between 0 and the least that the radius allows"
    places = chain_positions(related, apart)
    if places is None:
        return None
    widths, singles = 0.0, 0
    for chain, place in places:
        gaps = np.abs(place[:, None] - place[None, :])
        known = related[np.ix_(chain, chain)]
        too_near = ~known & (nominal | (gaps < reach - ROOM))
        if np.any(too_near) or np.any(known & (np.abs(gaps - apart[np.ix_(chain, chain)]) > ROOM)):
            return "its degrees contradict each other"
        singles += may_miss and len(chain) == 1  # its value may be missing
        widths += float(np.ptp(place))
    n_gaps = max(len(places) - singles - 1, 0)
    if not nominal and widths + n_gaps * reach > 1 + ROOM * len(matrix):
        return "its values would not fit into [0, 1]"
    return None


def _reach(radius: float, kind: str) -> float:
    """How far apart related rows can be, and unrelated ones must be; at a distance of 1 the degree is 0 anyway."""
    return 1.0 - min(radius, SIMILARITY_CAP) if kind == "similarity" else min(radius, 1.0)


def chain_positions(related: Bool, apart: Float) -> list[tuple[np.ndarray, Float]] | None:
    """Rows that are linked by related pairs, and where they lie on a line; `None` where rounding hides a side.

    A row that is unrelated to the farthest row known from here lies on the other side: on this side it would be nearer
    than one of the two.
    """
    position = np.full(len(related), np.nan)
    chains = []
    for start in range(len(related)):
        if not np.isnan(position[start]):
            continue
        position[start], chain = 0.0, [start]
        for row in chain:  # grows while it is walked through
            new = np.flatnonzero(related[row] & np.isnan(position))
            if not len(new):
                continue
            old = np.array(chain)[related[row, chain]]
            far = old[np.argmax(np.abs(position[old] - position[row]))]
            if position[far] == position[row]:
                if np.any(position[chain] != position[row]):
                    return None
                far = new[np.argmax(apart[row, new])]
                position[far] = position[row] + apart[row, far]
            side = np.sign(position[far] - position[row])
            same, other = position[row] + side * apart[row, new], position[row] - side * apart[row, new]
            misfit = [np.abs(np.abs(place - position[far]) - apart[far, new]) for place in (same, other)]
            position[new] = np.where(related[far, new] & (misfit[0] <= misfit[1]), same, other)
            chain.extend(int(one) for one in new)
        chains.append((np.array(chain), position[chain]))
    return chains
