"""Tables: what is computed of them does not depend on their kind, nor on how many rows are read at a time."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import messages as m
from fedsieve import tables, values
from fedsieve.errors import DataError
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable, ChosenColumns, FrameTable, SideBySide
from sites_with_labels import dyadic

FEATURES, LABELS = ("number", "large", "few", "code", "constant"), ("y", "z")
CODED = ("code",)


@dataclass(frozen=True, eq=False)
class Rows:
    """A site's rows, features and labels."""

    X: np.ndarray
    Y: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.X)

    def frame(self):
        return pd.DataFrame(np.hstack([self.X, self.Y]), columns=[*FEATURES, *LABELS])


def _nullable(rows, size):
    frame = rows.frame().astype("Float64")
    return FrameTable(frame.mask(rows.frame().isna()), batch_rows=size)


KINDS = {
    "dense": lambda rows, size: ArrayTable(FEATURES, rows.X, LABELS, rows.Y, batch_rows=size),
    "columns first": lambda rows, size: ArrayTable(
        FEATURES, np.asfortranarray(rows.X), LABELS, np.asfortranarray(rows.Y), batch_rows=size
    ),
    "sparse": lambda rows, size: ArrayTable(FEATURES, sparse.csr_array(rows.X), LABELS, rows.Y, batch_rows=size),
    "side by side": lambda rows, size: SideBySide(
        ArrayTable(FEATURES, rows.X, batch_rows=size), ArrayTable(LABELS, rows.Y)
    ),
    "chosen columns": lambda rows, size: ChosenColumns(
        ArrayTable(("more", *FEATURES), np.column_stack([rows.Y[:, 0], rows.X]), LABELS, rows.Y, batch_rows=size),
        (*FEATURES, *LABELS),
    ),
    "pandas": lambda rows, size: FrameTable(rows.frame(), batch_rows=size),
    "pandas, other rows' index": lambda rows, size: FrameTable(
        rows.frame().set_index(pd.Index(np.arange(rows.n_rows)[::-1])), batch_rows=size
    ),
    "pandas, nullable": _nullable,
    "polars": lambda rows, size: FrameTable(pl.from_pandas(rows.frame()), batch_rows=size),
}
kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


@st.composite
def site_rows(draw: st.DrawFn, min_rows: int = 1, max_rows: int = 12, gaps: bool = False) -> Rows:
    """Numbers of all sizes, codes and labels; with `gaps`, values are missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(min_rows, max_rows))
    values = [rng.normal(size=n), 1000 + 50 * rng.normal(size=n), rng.integers(0, 4, n) / 4]
    X = dyadic(np.column_stack([*values, rng.integers(-1, 3, n), np.full(n, 0.1)]))
    X[:, 4] = 0.1
    if gaps:
        X[rng.random(X.shape) < 0.2] = np.nan
    return Rows(X, rng.integers(0, 2, (n, 2)).astype(float))


def columns(missing="error"):
    return m.Columns(FEATURES, CODED, missing)


def wider(rows):
    """Ranges of a federation with this site: wider than its own, in whole codes."""
    below, above = np.array([0.5, 3, 0, 1, 0.25]), np.array([0, 40, 0.25, 1, 0])
    return m.Scaling(rows.X.min(axis=0) - below, rows.X.max(axis=0) + above)


def ask_projections(rows):
    n_codes = int(np.ptp(rows.X[:, 3])) + 3
    weights = np.random.default_rng(len(rows.X)).normal(size=(4 + n_codes, 3))
    return m.AskProjections(columns(), wider(rows), weights)


def ask_partial_correlations(_rows):
    first, second = (np.array(pair) for pair in zip((0, 1), (0, 5), (2, 6), (3, 0), (4, 5), (5, 6), strict=True))
    given = np.array([[2], [1], [0], [2], [3], [1]])
    numbers = m.Columns(FEATURES, (), "error")
    return m.AskPartialCorrelations(numbers, LABELS, first, second, given)


REQUESTS = {
    "ranges": lambda _: m.AskRanges(columns()),
    "ranges and moments": lambda _: m.AskRangesAndMoments(columns()),
    "moments": lambda rows: m.AskMoments(columns(), wider(rows)),
    "moments in its own ranges": lambda _: m.AskMoments(columns(), m.Scaling(None, None)),
    "covariances": lambda rows: m.AskCovariances(columns(), wider(rows)),
    "covariances with labels": lambda rows: m.AskCovariances(columns(), wider(rows), LABELS),
    "projections": ask_projections,
    "information": lambda rows: m.AskInformation(m.Columns(FEATURES, (), "error"), LABELS, wider(rows), 3),
    "partial correlations": ask_partial_correlations,
}
MISSING = {
    "ranges": lambda _: m.AskRanges(columns("unrelated")),
    "ranges and moments": lambda _: m.AskRangesAndMoments(columns("unrelated")),
    "moments": lambda _: m.AskMoments(
        columns("unrelated"), m.Scaling(np.array([-9.0, 500, 0, -1, 0]), np.array([9.0, 1500, 1, 2, 0.5]))
    ),
    "moments in its own ranges": lambda _: m.AskMoments(columns("unrelated"), m.Scaling(None, None)),
}


def assert_same(found, expected):
    """To 1e-12, and ranges exactly."""
    assert type(found) is type(expected)
    for name, value in vars(expected).items():
        if not isinstance(value, np.ndarray):
            assert getattr(found, name) == value, name
        elif isinstance(expected, m.Ranges) or value.dtype == np.int64:
            assert_array_equal(getattr(found, name), value, err_msg=name)
        else:
            assert_allclose(getattr(found, name), value, rtol=1e-12, atol=1e-12, err_msg=name)


def watched(table):
    """The table, and how many rows were read at a time, of some columns of a table from that."""
    source = table._table if isinstance(table, ChosenColumns) else table
    sizes, read = [], source.read
    source.read = lambda names, start, stop: sizes.append(stop - start) or read(names, start, stop)
    return table, sizes


def assert_the_same_in_all_batches(make, rows, request):
    expected = request.answer(ArrayTable(FEATURES, rows.X, LABELS, rows.Y))
    for size in range(1, rows.n_rows + 1):
        table, sizes = watched(make(rows, size))
        assert_same(request.answer(table), expected)
        assert max(sizes) == size
        assert sum(sizes) % rows.n_rows == 0


def assume_no_pair_is_nearly_determined(rows):
    """There rounding is magnified; what is determined is told from it."""
    assume(rows.n_rows > 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = 1 - np.corrcoef(np.hstack([rows.X, rows.Y]), rowvar=False) ** 2
    assume(not np.any((np.abs(left) > 1e-12) & (left < 1e-3)))


@kinds
@pytest.mark.parametrize("ask", REQUESTS.values(), ids=REQUESTS)
@settings(max_examples=12)
@given(rows=site_rows())
def test_the_size_of_batches_and_the_kind_of_table_do_not_matter(make, ask, rows):
    request = ask(rows)
    if isinstance(request, m.AskPartialCorrelations):
        assume_no_pair_is_nearly_determined(rows)
    assert_the_same_in_all_batches(make, rows, request)


@kinds
@pytest.mark.parametrize("ask", MISSING.values(), ids=MISSING)
@settings(max_examples=12)
@given(rows=site_rows(gaps=True))
def test_nor_where_values_are_missing(make, ask, rows):
    assert_the_same_in_all_batches(make, rows, ask(rows))


def wide_example():
    rng = np.random.default_rng(1)
    return Rows(np.column_stack([rng.random((7, 3)), rng.integers(0, 3, 7), rng.random(7)]), np.eye(7, 2))


def as_dense(batch):
    return values.dense(batch)


@kinds
@pytest.mark.parametrize("names", [FEATURES, ("few", "number"), ("z", "large", "y"), LABELS, (*FEATURES, *LABELS)])
def test_batches_have_all_rows_in_order_and_the_columns_that_were_asked_for(make, names):
    """Labels are columns too."""
    rows = wide_example()
    expected = rows.frame()[list(names)].to_numpy()
    table = make(rows, None)
    assert (table.names, table.n_rows) == ((*FEATURES, *LABELS), 7)
    assert_array_equal(as_dense(table.whole(names)), expected)
    for size in (1, 2, 7, 100):
        parts = [as_dense(batch) for batch in table.batches(names, size)]
        assert [len(part) for part in parts] == [size] * (7 // size) + [7 % size] * (7 % size > 0)
        assert_array_equal(np.vstack(parts), expected)


@kinds
def test_a_batch_has_as_many_rows_as_the_caller_the_table_or_the_memory_says(make, monkeypatch):
    _batches_of(monkeypatch, 11)
    rows = wide_example()

    def sizes(batch_rows, size=None):
        return [batch.shape[0] for batch in make(rows, batch_rows).batches(FEATURES[:2], size)]

    assert sizes(None) == [5, 2]
    assert sizes(3) == [3, 3, 1]
    assert sizes(3, 4) == [4, 3]
    _batches_of(monkeypatch, 1)
    assert sizes(None) == [1] * 7


def _batches_of(monkeypatch, n_values):
    for kind in ("BATCH_VALUES", "SPARSE_VALUES"):
        monkeypatch.setattr(tables, kind, n_values)


@kinds
def test_a_column_that_a_table_lacks_is_named(make):
    table = make(wide_example(), None)
    says = r"^no column 'height', 'x' here\. Check this site's columns against the plan's list\.$"
    with pytest.raises(DataError, match=says):
        table.whole(("few", "height", "x"))
    with pytest.raises(DataError, match=says):
        next(table.batches(("few", "height", "x")))
    lacking = Client(table).answer(m.AskRanges(m.Columns(("few", "height"), (), "error")))
    assert lacking.reason == "no column 'height' here. Check this site's columns against the plan's list."


def test_a_table_without_labels_says_which_it_lacks():
    rows = wide_example()
    without = ArrayTable(FEATURES, rows.X, LABELS, None), FrameTable(rows.frame()[list(FEATURES)])
    for table in without:
        assert table.names == FEATURES
        for name in ("covariances with labels", "information", "partial correlations"):
            reply = Client(table).answer(REQUESTS[name](rows))
            assert reply.reason == "no label 'y', 'z' here. This method needs sites that hold labels."
    one = FrameTable(rows.frame().drop(columns="y"))
    reply = Client(one).answer(REQUESTS["information"](rows))
    assert reply.reason == "no label 'y' here. This method needs sites that hold labels."


@kinds
@pytest.mark.parametrize("size", [None, 1, 5])
def test_a_table_without_rows_is_one_empty_batch_and_its_answers_are_refused(make, size):
    table = make(Rows(np.empty((0, 5)), np.empty((0, 2))), size)
    assert table.n_rows == 0
    assert [batch.shape for batch in table.batches(("few", "y"))] == [(0, 2)]
    request = m.AskRanges(columns())
    ranges = request.answer(table)
    assert_array_equal(ranges.low, np.inf)
    assert_array_equal(ranges.high, -np.inf)
    says = "has 0 rows; a client needs at least 2, since a single row has no spread."
    assert request.why_refused(ranges, m.Known()) == says
    rows = wide_example()
    for name in ("moments", "moments in its own ranges", "covariances", "covariances with labels", "projections"):
        request = REQUESTS[name](rows)
        reply = request.answer(table)
        assert reply.n_rows == 0
        assert request.why_refused(reply, m.Known()) == says
    assert isinstance(Client(table).answer(ask_partial_correlations(rows)), m.Refusal)


@kinds
@pytest.mark.parametrize("size", [None, 1, 2, 3])
def test_bad_values_are_counted_in_all_rows_whatever_the_batches(make, size):
    rows = wide_example()
    rows.X[[0, 4, 6], 2] = np.inf, -np.inf, 1e301
    rows.X[5, 1] = np.nan
    table = make(rows, size)
    for ask in (m.AskRanges(columns()), m.AskMoments(columns(), m.Scaling(None, None))):
        says = "2 infinite (inf) values in column 'few'. Replace them; they have no place in a range."
        assert Client(table).answer(ask).reason == says
    rows.X[[0, 4], 2] = 0.5
    assert Client(make(rows, size)).answer(m.AskRanges(columns())).reason == (
        "1 too large (beyond ±1e+300) value in column 'few'. "
        "Numbers so large overflow; replace them, or give the column in other units."
    )
    rows.X[:, 2] = 0.5
    rows.X[[1, 6], 3] = np.nan
    assert Client(make(rows, size)).answer(m.AskRanges(columns())).reason == (
        "1 missing (NaN) value in column 'large' and 1 more column. "
        "Fill them in, or let the method: Sieve with missing='mean', SSFMLFS with missing='unrelated'."
    )
