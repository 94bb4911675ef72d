"""Tables that may be larger than memory: the size of batches changes nothing, and no more than a batch is held."""

import numpy as np
import pyarrow as arrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet

from fedsieve import Sieve, kernels, tables
from fedsieve import messages as m
from fedsieve.datasets.streamed_file import open_table
from fedsieve.deployment.stored_rows import StoredRows, write_columns
from fedsieve.errors import DataError
from fedsieve.measures.binning import bin_counts
from fedsieve.messages.columns import Bins
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.moments import AskMoments
from fedsieve.messages.projections import AskProjections
from fedsieve.messages.tall_sums import BLOCK_ROWS, TALL_BLOCKS
from fedsieve.privacy import GuardedTable, HeldBack
from fedsieve.tables import ArrayTable, ChosenColumns, ChosenRows, SideBySide, StreamedTable

NAMES = ("a", "b", "c", "d")
COLUMNS = m.Columns(NAMES, (), "mean")
SCALING = m.Scaling(np.full(4, -9.0), np.full(4, 9.0))
BINS = Bins.of([np.linspace(-2, 2, 9)] * 4)
REQUESTS = (
    m.AskRanges(COLUMNS),
    AskHistograms(COLUMNS, BINS),
    AskMoments(COLUMNS, SCALING),
    m.AskRangesAndMoments(COLUMNS),
    AskCovariances(COLUMNS, SCALING),
    AskProjections(COLUMNS, SCALING, np.array([[1.0], [0.5], [0.0], [-1.0]])),
)


class Parts(StreamedTable):
    """Rows that come in parts of the sizes given, over and over."""

    def __init__(self, X, sizes, batch_rows=None):
        self.names, self.n_rows, self.batch_rows = NAMES, len(X), batch_rows
        self.X, self.sizes, self.largest = X, sizes, 0

    def parts(self, columns, size):  # noqa: ARG002
        start, turn = 0, 0
        while start < len(self.X):
            stop = start + self.sizes[turn % len(self.sizes)]
            yield self.X[start:stop][:, [NAMES.index(name) for name in columns]]
            start, turn = stop, turn + 1

    def batches(self, columns, size=None):
        for batch in super().batches(columns, size):
            self.largest = max(self.largest, len(batch))
            yield batch


def some_rows(seed, n_rows):
    X = np.random.default_rng(seed).normal(size=(n_rows, 4))
    X[::5, 2] = np.nan
    return X


def assert_same(first, second):
    for name, value in vars(first).items():
        if isinstance(value, np.ndarray):
            assert_allclose(getattr(second, name), value, rtol=1e-12, atol=1e-12 * max(1, first.n_rows), err_msg=name)
        else:
            assert getattr(second, name) == value


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 60),
    st.lists(st.integers(1, 30), min_size=1, max_size=4),
    st.integers(1, 70),
)
def test_the_size_of_batches_changes_nothing(seed, n_rows, sizes, batch_rows):
    X = some_rows(seed, n_rows)
    for request in REQUESTS:
        assert_same(request.answer(ArrayTable(NAMES, X)), request.answer(Parts(X, sizes, batch_rows)))


@pytest.mark.parametrize("n_rows", [TALL_BLOCKS * BLOCK_ROWS - 1, TALL_BLOCKS * BLOCK_ROWS, 5 * BLOCK_ROWS + 7])
def test_a_tall_table_has_the_sums_of_a_short_one(n_rows):
    """The blocked passes beside the sum of short parts, which they are never used for; with a constant, and clipped."""
    X = np.random.default_rng(1).normal(size=(n_rows, 4)) * [1, 1e3, 1, 20]
    X[:, 2] = 0.1 + 1 / 3
    clipped = m.Scaling(np.array([-9.0, -9e3, -9, -9]), np.array([9.0, 9e3, 9, 9]), "declared")
    exact = m.Scaling(np.array([-9.0, -9e3, 0, -900]), np.array([9.0, 9e3, 9, 900]))
    weights = np.array([[1.0, 0.0], [0.5, 0.25], [-1.0, 1.0], [0.0, 2.0]])
    covariances, projections = AskCovariances(COLUMNS, clipped), AskProjections(COLUMNS, clipped, weights)
    coded = m.Columns(NAMES, ("c",), "error")
    for request in (covariances, projections, AskMoments(COLUMNS, exact), AskMoments(coded, exact)):
        first, *others = (request.answer(ArrayTable(NAMES, part)) for part in np.array_split(X, 17))
        assert_same(sum(others, first), request.answer(Parts(X, [n_rows // 3, 11])))
    assert covariances.answer(ArrayTable(NAMES, X)).deviations()[2, 2] == 0
    assert projections.answer(Parts(X, [999])).spreads()[2] == 0
    assert AskMoments(COLUMNS, exact).answer(Parts(X, [999])).m2[2] == 0


def test_no_batch_is_larger_than_asked_for(monkeypatch):
    monkeypatch.setattr(tables, "STREAMED_VALUES", 40)
    table = Parts(some_rows(0, 500), [200])
    for request in REQUESTS:
        request.answer(table)
    assert table.largest == 10


def test_rows_that_come_or_go_between_passes_are_noticed():
    table = Parts(some_rows(0, 30), [7])
    table.n_rows = 29
    with pytest.raises(DataError, match="the table has 30 rows now, and had 29"):
        list(table.batches(NAMES))


@given(st.integers(0, 2**32 - 1), st.lists(st.floats(-3, 3), min_size=2, max_size=40, unique=True))
@settings(max_examples=25, deadline=None)
def test_bins_are_counted_as_the_slow_twin_counts(seed, edges):
    edges = np.sort(edges)
    column = np.concatenate([np.random.default_rng(seed).normal(size=50), edges, [np.nan, -1e300, 1e300]])
    assert_array_equal(kernels.counts_in_bins(column[:, None], [edges]), bin_counts(column, edges))


def test_a_parquet_file_is_a_client(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 4)), rng.integers(0, 2, (50, 2))
    rows = {"a": rng.normal(size=(300, 4)), "b": rng.normal(size=(200, 4))}
    for name, values in rows.items():
        frame = arrow.table({f"x{place}": values[:, place] for place in range(4)})
        parquet.write_table(frame, tmp_path / f"{name}.parquet", row_group_size=37)
    files = {name: open_table(tmp_path / f"{name}.parquet", batch_rows=11) for name in rows}
    whole, streamed = Sieve(2).fit(X, Y, clients=rows), Sieve(2).fit(X, Y, clients=files)
    assert_array_equal(whole.order_, streamed.order_)
    assert_allclose(whole.scores_, streamed.scores_, rtol=0, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 30))
@settings(max_examples=20, deadline=None)
def test_rows_are_stored_column_after_column(tmp_path_factory, seed, n_rows, batch_rows):
    X = some_rows(seed, n_rows)
    file = tmp_path_factory.mktemp("rows") / "rows.npy"
    write_columns(file, ArrayTable(NAMES, X, batch_rows=batch_rows))
    stored = StoredRows(file, NAMES)
    assert_array_equal(stored.whole(("c", "a")), X[:, [2, 0]])
    assert_array_equal(np.load(file), X)
    chosen = np.random.default_rng(seed).random(n_rows) < 0.5
    assert_array_equal(stored.rows_at(np.flatnonzero(chosen), ("c", "a")), X[chosen][:, [2, 0]])
    assert_array_equal(ChosenRows(stored, chosen).whole(NAMES), X[chosen])
    assert_array_equal(np.concatenate(list(ChosenRows(stored, chosen).batches(NAMES, 7))), X[chosen])


def test_stored_rows_that_are_cut_are_refused(tmp_path):
    file = tmp_path / "rows.npy"
    write_columns(file, ArrayTable(NAMES, some_rows(0, 9)))
    stored = StoredRows(file, NAMES)
    file.write_bytes(file.read_bytes()[:-8])
    for read in (lambda: stored.read(NAMES, 0, 9), lambda: stored.rows_at(np.array([0, 8]), NAMES)):
        with pytest.raises(DataError, match="is cut, and had all rows when it was opened"):
            read()
    with pytest.raises(DataError, match="is cut or damaged"):
        StoredRows(file, NAMES)


def test_the_rows_that_are_compared_are_drawn_from_a_secret_and_stay_the_same(monkeypatch):
    """Whoever knows the number of rows must not know which of them are compared."""
    monkeypatch.setattr(tables, "MOST_COMPARED", 40)
    X = some_rows(0, 200)
    own = Parts(X, [33]).drawing_from(b"one secret")
    chosen = tables.compared_rows(own)
    assert_array_equal(chosen, tables.compared_rows(Parts(X, [7, 50]).drawing_from(b"one secret")))
    for other in (Parts(X, [33]), Parts(X, [33]).drawing_from(b"another secret")):
        assert len(np.setdiff1d(tables.compared_rows(other), chosen)) > 10
    all_rows = ChosenRows(own, np.ones(200, dtype=bool))
    beside = SideBySide(own, ArrayTable(("y",), X[:, :1]))
    for wrapped in (GuardedTable(own, HeldBack()), ChosenColumns(own, NAMES), all_rows, beside):
        assert_array_equal(tables.compared_rows(wrapped), chosen)
        assert_array_equal(tables.rows_to_compare(wrapped, NAMES[:2]), X[chosen][:, :2])
    in_memory = ArrayTable(NAMES, X)
    assert in_memory.drawing_from(b"one secret") is in_memory  # of which all rows are compared
