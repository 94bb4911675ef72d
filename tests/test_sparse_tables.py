"""A sparse table of any numbers: the same answers as the dense one, and never a dense copy of more than blocks."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import SSFMLFS, Sieve, kernels
from fedsieve.messages.base import View
from fedsieve.messages.columns import scaled, scaled_rows
from fedsieve.privacy import GuardedTable, held_back
from fedsieve.sparse_rows import SparseRows
from fedsieve.tables import ArrayTable
from kernels.twins import exact_pair_sums


@st.composite
def tables(draw):
    """Few-valued and continuous columns, most values 0, some missing, some stored in parts; ranges and radii."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(2, 40)), draw(st.integers(1, 12))
    values = np.where(
        rng.random(n_features) < 0.5, rng.integers(-1, 3, (n_rows, n_features)), rng.normal(size=(n_rows, n_features))
    )
    values = np.where(rng.random(values.shape) < draw(st.sampled_from([0.0, 0.1])), np.nan, values)
    X = np.where(rng.random(values.shape) < draw(st.sampled_from([0.0, 0.2, 0.9])), values, 0.0)
    low, high = -rng.random(n_features), rng.random(n_features)
    return X, low, high, rng.random(n_features) < 0.2, rng.random(n_features), rng


@given(tables())
def test_scaled_rows_are_those_of_the_dense_table_to_the_last_bit(case):
    X, low, high, nominal, _, rng = case
    rows, expected = scaled_rows(sparse.csr_array(X), low, high, nominal), scaled(X, low, high, nominal)[0]
    assert isinstance(rows, SparseRows)
    assert not np.any(rows.entries.data == rows.usual[rows.entries.indices])
    chosen, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    assert_array_equal(rows.at(chosen), expected[chosen])
    assert_array_equal(rows.columns(columns).head(2).at(slice(None)), expected[:2, columns])
    assert_array_equal(np.concatenate([block for _, block in rows.column_blocks()]), expected.T)


@given(tables(), st.sampled_from(["distance", "similarity"]), st.sampled_from([None, 3]))
def test_pair_sums_are_those_of_the_dense_table_to_the_last_bit(case, kind, n_next):
    X, low, high, nominal, radius, rng = case
    rows, full = scaled_rows(sparse.csr_array(X), low, high, nominal), scaled(X, low, high, nominal)[0]
    sample = None if n_next is None else kernels.PairSample(rng.permutation(len(X)), max(1, min(3, (len(X) - 1) // 2)))
    sums = kernels.pair_sums(rows, radius, kind, nominal=nominal, sample=sample)
    assert_array_equal(sums, kernels.pair_sums(full, radius, kind, nominal=nominal, sample=sample))
    if sample is None:
        assert_array_equal(sums, exact_pair_sums(full, radius, kind, nominal))
    assert kernels.n_compared(rows, radius, kind) == kernels.n_compared(full, radius, kind)


@given(tables(), st.sampled_from(["distance", "similarity"]))
def test_products_from_entries_are_those_of_the_pair_sums(case, kind):
    X, low, high, nominal, radius, rng = case
    rows, full, vector = (
        scaled_rows(sparse.csr_array(X), low, high, nominal),
        scaled(X, low, high, nominal)[0],
        rng.random(X.shape[1]),
    )
    product = kernels.product_from_rows(rows, radius, vector, kind, nominal=nominal)
    expected = kernels.distance_product(exact_pair_sums(full, radius, kind, nominal), vector)
    assert_allclose(product, expected, rtol=1e-12, atol=1e-9)


def test_blocks_of_rows_meet_every_pair_once(monkeypatch, rng):
    monkeypatch.setattr(kernels.continuous, "BLOCK_VALUES", 1)  # 32 rows in a block
    X = rng.random((100, 9)) * (rng.random((100, 9)) < 0.3)
    assert_array_equal(kernels.pair_sums(sparse.csr_array(X), 0.2), kernels.pair_sums(X, 0.2))


@pytest.mark.parametrize("selector", [SSFMLFS(wire="statistics"), SSFMLFS(wire="vectors"), Sieve()], ids=str)
def test_a_selection_is_that_of_the_dense_tables(selector, rng):
    X = rng.normal(size=(260, 30)) * (rng.random((260, 30)) < 0.3)
    Y = (X[:60, :3] > 0).astype(int)
    clients = [X[60:160], X[160:]]
    dense = selector.fit(X[:60], Y, clients=clients)
    order, scores = dense.order_, dense.scores_
    thin = selector.fit(X[:60], Y, clients=[sparse.csr_matrix(part) for part in clients])
    assert_array_equal(thin.order_, order)
    assert_allclose(thin.scores_, scores, rtol=1e-9, atol=1e-12)


ANSWERS = """
import json, sys, tracemalloc
import numpy as np
from scipy import sparse
from fedsieve import kernels, messages as m
from fedsieve.messages.columns import Bins
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.means import AskMeans
from fedsieve.messages.moments import AskMoments
from fedsieve.messages.pair_sums import AskPairSums
from fedsieve.messages.products import AskProducts
from fedsieve.messages.projections import AskProjections
from fedsieve.messages.relation import Relation
from fedsieve.protocol.parties import RunMemory
from fedsieve.tables import ArrayTable

n, d = map(int, sys.argv[1:])
X = sparse.random_array((n, d), density=0.01, rng=np.random.default_rng(0), format="csr")
names = tuple(f"x{place}" for place in range(d))
table, may, none = ArrayTable(names, X), m.Columns(names, (), "mean"), m.Columns(names, (), "error")
unit = m.Scaling(np.full(d, -0.5), np.full(d, 1.0))
relation = Relation(none, unit, np.full(d, 0.1), "distance", max_pairs=n)
asked = [
    m.AskRanges(may), AskHistograms(may, Bins.of([np.linspace(0, 1, 9)] * d)), AskMoments(none, unit),
    AskMeans(may, unit), AskProjections(may, unit, np.ones((d, 3))), AskProducts(relation, np.ones(d)),
]
if d <= 1000:
    asked += [AskCovariances(may, unit), AskPairSums(relation)]
peaks = {}
for request in asked:
    tracemalloc.start()
    request.answer_in_run(table, RunMemory())
    peaks[type(request).__name__] = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
print(json.dumps(peaks))
"""


def printed_by(code, shape):
    """What a process of its own says of its memory; with several threads, each of which has a block."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, shape)],
        env={**os.environ, "FEDSIEVE_THREADS": "2"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


@st.composite
def guarded_cases(draw):
    """Sparse columns, near copies of some, gaps, codes, bins, ranges that 0 lies beyond, labels, and new rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_columns = draw(st.integers(12, 50)), 7
    X = rng.choice([1.0, 2.0, -0.5, 3.25], (n_rows, n_columns)) * (
        rng.random((n_rows, n_columns)) < rng.choice([0.1, 0.3, 0.9, 1.0], n_columns)
    )
    for copy in range(2):
        X[:, 4 + copy] = draw(st.sampled_from([1.0, -2.0])) * X[:, copy] + draw(st.sampled_from([0.0, 3.0]))
        odd = rng.integers(0, n_rows, draw(st.integers(0, 6)))
        X[odd, 4 + copy] = draw(st.sampled_from([0.0, 7.0, np.nan]))
    X[rng.random(X.shape) < rng.choice([0.0, 0.0, 0.1, 0.6], n_columns)] = np.nan
    names = tuple("abcdefg")
    nominal = tuple(name for name in names if rng.random() < 0.2)
    views = {name: [View(-1.0, 4.0, draw(st.sampled_from([0, 3])))] for name in names if rng.random() < 0.3}
    ranges = {name: (0.5, 2.5) for name in names if rng.random() < 0.2}
    new = [rng.random(n_rows) < 0.5] if draw(st.booleans()) else []
    Y = (rng.random((n_rows, 1)) < 0.5).astype(float) if draw(st.booleans()) else None
    return names, X + 0.0, Y, nominal, draw(st.integers(2, 6)), ranges, views, new  # no -0, which is none if sparse


@given(guarded_cases())
@settings(deadline=None)
def test_of_a_sparse_table_the_same_is_held_back(case):
    names, X, Y, nominal, min_cell, ranges, views, new = case
    full, thin = (ArrayTable(names, rows, ("y",), Y) for rows in (X, sparse.csr_array(X)))
    held = held_back(full, nominal, min_cell, ranges, views, new)
    assert held_back(thin, nominal, min_cell, ranges, views, new) == held
    shown = GuardedTable(thin, held).whole(names)
    assert sparse.issparse(shown)
    assert_array_equal(shown.toarray(), GuardedTable(full, held).whole(names))


UNDER_RULES = """
import json, sys, tracemalloc
import numpy as np
from scipy import sparse
from fedsieve import kernels
from fedsieve.privacy import GuardedTable, held_back
from fedsieve.tables import ArrayTable

n, d = map(int, sys.argv[1:])
X = sparse.random_array((n, d), density=0.01, rng=np.random.default_rng(0), format="csr")
table = ArrayTable(tuple(f"x{place}" for place in range(d)), X)
few = ArrayTable(table.names[:20], X[:, :20])
GuardedTable(few, held_back(few, (), 5)).whole(few.names)  # loads what is compiled
tracemalloc.start()
held = held_back(table, (), 5)
GuardedTable(table, held).whole(table.names)
print(json.dumps([len(held.reasons), tracemalloc.get_traced_memory()[1]]))
"""


@pytest.mark.parametrize("shape", [(400, 5_000), pytest.param((20_000, 200), marks=pytest.mark.full)])
def test_what_a_site_looks_at_under_its_rules_is_no_dense_copy(shape):
    n_held, peak = printed_by(UNDER_RULES, shape)
    assert n_held > 0 or shape[0] > 1_000
    assert peak < 0.5 * 8 * shape[0] * shape[1]


@pytest.mark.parametrize("shape", [(1_500, 8_000), pytest.param((100_000, 300), marks=pytest.mark.full)])
def test_no_message_makes_a_dense_copy(shape):
    peaks = printed_by(ANSWERS, shape)
    dense = 8 * shape[0] * shape[1]
    assert len(peaks) >= 6
    assert {name: peak for name, peak in peaks.items() if peak > 0.5 * dense} == {}
