"""What makes sums and products believable: they belong to an L1 metric of relations with 1 on the diagonal."""

from collections.abc import Iterator

import numpy as np

from fedsieve.arrays import Float
from fedsieve.fuzzy.relation import SIMILARITY_CAP
from fedsieve.protocol import messages as m

SLACK = 1e-9  # relative room for rounding in sums that were taken in another order
ROUNDED = 1e-6  # the same where degrees count that the kernels round to whole numbers
MAX_VIA = 16  # features through which triangles are checked, evenly spread: enough to catch, cheap beside the sums


def pair_sum_complaints(sums: Float, n_rows: int, relation: m.Relation, max_sites: int = 1) -> Iterator[str]:
    """The rules that the sums of min(r_p, r_b) over all pairs of rows keep, whatever the rows."""
    own = np.diagonal(sums)
    if np.any(own < n_rows * (1 - SLACK)) or np.any(own > n_rows**2 * (1 + SLACK)):
        yield f"sent sums S_p outside [n, n²] = [{n_rows}, {n_rows**2}]."
    # Rows of different sites are unrelated: the squares of their sites' sizes add up to n² / sites or more.
    if np.any(own < _least_own_sum(n_rows, relation) / max_sites * (1 - ROUNDED)):
        yield "sent sums S_p too small for its radius: so many values in [0, 1] lie nearer to each other."
    if np.any(sums < 0):
        yield "sent pair sums below 0."
    if np.any(sums < n_rows * (1 - SLACK)):
        yield f"sent pair sums S_pb below n = {n_rows}; each row is related to itself in every feature."
    if np.any(sums > np.minimum(own[:, None], own[None, :]) * (1 + SLACK)):
        yield "sent pair sums S_pb above min(S_p, S_b)."
    # min(r, s) >= r + s - 1 for each pair of rows, and the distances S_p + S_b - 2 S_pb are an L1 metric.
    if np.any(sums < own[:, None] + own[None, :] - n_rows**2 * (1 + SLACK)):
        yield "sent pair sums S_pb below S_p + S_b - n²."
    for via in range(0, len(sums), -(-len(sums) // MAX_VIA)):
        if np.any(sums < sums[:, [via]] + sums[via] - own[via] - SLACK * n_rows**2):
            yield "sent pair sums whose distances break the triangle inequality, S_pb < S_pc + S_cb - S_c."


def product_complaints(reply: m.Products, vector: Float) -> Iterator[str]:
    """The rules that n² times distances, times a vector, keep."""
    n_pairs, total = reply.n_rows * (reply.n_rows - 1), float(vector.sum())
    most = n_pairs * (total - vector)  # a distance times n² is at most n² - n, and 0 from a feature to itself
    room = SLACK * n_pairs * total
    if np.any(reply.values < -room) or np.any(reply.values > most + room):
        yield f"sent products outside [0, {n_pairs * total:.6g}], the bounds for {reply.n_rows} rows."
    # The triangle inequality: y_b <= y_p + D_pb (Σv - 2 v_b), and D_pb v_b <= y_p.
    weighty = vector > SLACK * total
    ratio = np.maximum((total - vector[weighty]) / vector[weighty], 1.0)
    if np.any(reply.values[weighty] > (reply.values.min() + room) * ratio):
        yield "sent products too far apart for one metric."


def _least_own_sum(n_rows: int, relation: m.Relation) -> Float:
    """[0, 1] falls into K cells no wider than the radius; rows of one cell are related, at worst half at each end.

    m rows of a cell have degrees of at least m² (1 - 1 / 2K) together, and the cells' m² at least n² / K.
    """
    columns = relation.columns
    if columns.missing == "unrelated":
        return np.zeros(len(columns.features))
    reach = 1.0 - np.minimum(relation.radius, SIMILARITY_CAP) if relation.kind == "similarity" else relation.radius
    n_cells = np.floor(1.0 / np.maximum(reach, 1e-12)) + 1
    least: Float = n_rows**2 / n_cells * (1 - 0.5 / n_cells)
    return np.where(np.isin(columns.features, columns.nominal), 0.0, least)
