"""A site's part of the feature graph, kept from one product to the next: its pair sums, or the rows they come from."""

import hashlib

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Rows
from fedsieve.kernels import costs
from fedsieve.messages.columns import scaled_rows
from fedsieve.messages.relation import Relation
from fedsieve.messages.site_view import Memory
from fedsieve.sparse_rows import SparseRows
from fedsieve.tables import Table
from fedsieve.values import is_sparse

SUMS = "pair sums"
# Kept instead of pair sums where those would cost too much:
RELATED, ROWS = "relation", "rows"
ENDS, PLACES, VALUES = "ends of rows", "places of entries", "entries"  # of sparse rows, instead of all values
ORDER, N_NEXT = "order of rows", "rows compared"  # of a sample of their pairs; empty where all are compared


def keep_graph(memory: Memory, relation: Relation, table: Table) -> None:
    """Keep what products need, in the form that is cheaper for this table."""
    (raw, low, high), nominal = relation.rows_and_ranges(table), relation.columns.nominal_mask
    rows = scaled_rows(raw, low, high, nominal)
    sample = relation.sample(rows.shape[0], memory.seed)
    if sums_pay(rows, relation):
        memory.keep(SUMS, kernels.pair_sums(rows, relation.radius, relation.kind, nominal=nominal, sample=sample))
        return
    order, n_next = ([], 0) if sample is None else (sample.order, sample.n_next)
    memory.keep(ORDER, np.asarray(order, dtype=np.float64))
    memory.keep(N_NEXT, np.array([float(n_next)]))
    by_similarity = np.full(len(nominal), relation.kind == "similarity")
    memory.keep(RELATED, np.array([relation.radius, nominal, by_similarity, low, high], dtype=np.float64))
    if is_sparse(raw):
        entries = SparseRows.of(raw).entries
        memory.keep(ENDS, entries.indptr)
        memory.keep(PLACES, entries.indices)
        memory.keep(VALUES, entries.data)
    else:
        memory.keep(ENDS, np.zeros(0))
        memory.keep(ROWS, raw)  # in one process the table itself, not a copy of it for every site
    memory.keep(SUMS, np.zeros((0, 0)))  # last: any that are left of before the run began anew are of other columns


def sums_pay(rows: Float | SparseRows, relation: Relation) -> bool:
    """Whether the pair sums fit into memory, and take less time than the products of a usual run from the rows."""
    n_features = rows.shape[1]
    if n_features <= costs.ALWAYS_SUMS:
        return True
    if costs.sums_bytes(n_features) > costs.MOST_SUMS:
        return False
    n_entries = rows.n_entries if isinstance(rows, SparseRows) else None
    n_compared = kernels.n_compared(rows, relation.radius, relation.kind, nominal=relation.columns.nominal_mask)
    shape = costs.Shape(rows.shape[0], n_features, relation.max_pairs, n_compared, n_entries)
    return costs.from_sums(shape).seconds <= costs.from_rows(shape).seconds


def graph_product(memory: Memory, vector: Float) -> Float | None:
    """n² times the kept distances, times the vector; `None` where nothing was kept."""
    sums = memory.recall(SUMS)
    if sums is None or sums.size:
        return None if sums is None else kernels.distance_product(sums, vector)
    radius, nominal, by_similarity, low, high = _kept(memory, RELATED)
    kind = "similarity" if by_similarity.any() else "distance"
    order, n_next = _kept(memory, ORDER), int(_kept(memory, N_NEXT)[0])
    sample = kernels.PairSample(order.astype(np.int64), n_next) if order.size else None
    rows = scaled_rows(_kept_rows(memory, len(radius)), low, high, nominal > 0)
    return kernels.product_from_rows(rows, radius, vector, kind, nominal=nominal > 0, sample=sample)


def graph_digest(memory: Memory) -> bytes:
    """What tells one kept graph from another; empty where nothing was kept."""
    if memory.recall(SUMS) is None:
        return b""
    digest = hashlib.sha256()
    for name in (SUMS, RELATED, ENDS, PLACES, VALUES, ROWS, ORDER, N_NEXT):
        values = memory.recall(name)
        if values is not None:
            digest.update(values.tobytes())
    return digest.digest()


def _kept_rows(memory: Memory, n_features: int) -> Rows:
    ends = _kept(memory, ENDS)
    if not ends.size:
        return _kept(memory, ROWS)
    from scipy import sparse  # a site with a dense table need not load it

    entries = (_kept(memory, VALUES), _kept(memory, PLACES), ends)
    return sparse.csr_array(entries, shape=(len(ends) - 1, n_features))


def _kept(memory: Memory, name: str) -> Float:
    values = memory.recall(name)
    if values is None:
        raise LookupError(name)  # it was kept before the empty pair sums
    return values
