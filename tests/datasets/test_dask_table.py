"""A table partitioned over workers: the same result as from the rows in one place; a dead worker costs time only."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import SSFMLFS, Sieve, tables
from fedsieve import messages as m
from fedsieve.datasets.dask_table import DaskTable
from fedsieve.errors import DataError, FedSieveError, SiteShiftWarning
from fedsieve.privacy import GuardedTable, HeldBack
from fedsieve.tables import ArrayTable

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

NAMES = tuple(f"f{place}" for place in range(6))


def rows(n_rows, seed=0):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n_rows, len(NAMES))), columns=list(NAMES))


X = rows(60)
Y = np.column_stack([X["f0"] + X["f1"] > 0, X["f2"] > 0]).astype(int)


@pytest.fixture(autouse=True)
def here():
    with dask.config.set(scheduler="synchronous"):
        yield


def with_gaps(n_rows):
    frame = rows(n_rows, 1)
    frame.iloc[::7, 3] = np.nan
    return frame


@pytest.mark.parametrize(
    "selector", [Sieve(3), Sieve(3, center="sites"), Sieve(3, missing="indicator"), SSFMLFS(3, missing="unrelated")]
)
def test_a_selection_is_that_of_the_rows_in_one_place(selector):
    a, b = with_gaps(240), rows(90, 2)
    whole = selector.fit(X, Y, clients={"a": a, "b": b})
    scores, order = whole.scores_, whole.order_
    parts = selector.fit(X, Y, clients={"a": dd.from_pandas(a, npartitions=5), "b": b})
    assert_allclose(parts.scores_, scores, rtol=0, atol=1e-12)
    assert_array_equal(parts.order_, order)


def test_an_array_is_a_table_too():
    a, b = rows(240, 1).to_numpy(), rows(90, 2).to_numpy()
    whole = Sieve(3).fit(X.to_numpy(), Y, clients=[a, b]).scores_
    parts = Sieve(3).fit(X.to_numpy(), Y, clients=[da.from_array(a, chunks=(77, 4)), b]).scores_
    assert_allclose(parts, whole, rtol=0, atol=1e-12)


def test_partitions_answer_by_themselves_and_no_row_comes_here(monkeypatch):
    table = DaskTable(dd.from_pandas(with_gaps(200), npartitions=4))
    monkeypatch.setattr(DaskTable, "parts", lambda *_: pytest.fail("rows were fetched"))
    columns = m.Columns(NAMES, (), "mean")
    found, own = (
        m.AskRanges(columns).answer(table),
        m.AskRanges(columns).answer(ArrayTable(NAMES, with_gaps(200).to_numpy())),
    )
    assert_array_equal(found.low, own.low)
    assert (found.n_rows, found.n_missing) == (own.n_rows, own.n_missing) == (200, 29)


@pytest.mark.parametrize("selector", [Sieve(3), Sieve(3, ranges="federated")])
def test_a_whole_fit_fetches_no_row_and_still_finds_another_unit(selector, monkeypatch):
    monkeypatch.setattr(DaskTable, "parts", lambda *_: pytest.fail("rows were fetched"))
    monkeypatch.setattr(DaskTable, "rows_at", lambda *_: pytest.fail("rows were fetched"))
    odd = with_gaps(240).assign(f1=lambda frame: 1000 * frame["f1"])
    clients = {"a": dd.from_pandas(odd, npartitions=4), "b": rows(90, 2), "c": rows(90, 4)}
    with pytest.warns(SiteShiftWarning, match="'f1'"):
        selector.fit(X, Y, clients=clients)


def test_rows_are_sampled_across_partitions(monkeypatch):
    monkeypatch.setattr(tables, "MOST_COMPARED", 40)
    frame = rows(200, 3)
    table = DaskTable(dd.from_pandas(frame, npartitions=4))
    chosen = tables.compared_rows(table)
    assert_array_equal(tables.rows_to_compare(table, NAMES[:2]), frame.to_numpy()[chosen][:, :2])
    assert len({place // 50 for place in chosen}) == 4


def test_a_guarded_table_has_its_sample_from_where_the_rows_lie(monkeypatch):
    table = DaskTable(dd.from_pandas(rows(200, 3), npartitions=4))
    monkeypatch.setattr(DaskTable, "parts", lambda *_: pytest.fail("all rows were fetched"))
    guarded = GuardedTable(table, HeldBack({"f1": 7.0}))
    found = guarded.rows_at(np.array([3, 70, 199]), NAMES)
    assert_array_equal(found, rows(200, 3).assign(f1=7.0).to_numpy()[[3, 70, 199]])


def test_text_is_refused_by_its_column():
    frame = rows(20).assign(f3="a word")
    with pytest.raises(DataError, match="columns of a Dask table must hold numbers; 'f3' holds"):
        DaskTable(dd.from_pandas(frame, npartitions=2))


def numbered(frame):
    return frame.set_axis(range(len(NAMES)), axis=1)


def test_a_frame_that_only_numbers_its_columns_is_like_an_array():
    a, b = numbered(with_gaps(240)), numbered(rows(90, 2))
    table = DaskTable(dd.from_pandas(a, npartitions=3))
    assert_array_equal(table.whole(("x3", "x0")), a.to_numpy()[:, [3, 0]])
    whole = Sieve(3).fit(numbered(X), Y, clients=[a, b]).scores_
    parts = Sieve(3).fit(numbered(X), Y, clients=[dd.from_pandas(a, npartitions=5), b]).scores_
    assert_allclose(parts, whole, rtol=0, atol=1e-12)
    with pytest.raises(DataError, match="columns of a Dask table must hold numbers; 'x3' holds"):
        DaskTable(dd.from_pandas(numbered(rows(20).assign(f3="a word")), npartitions=2))


def slow_part(seed):
    """A partition that is made on its worker, slowly enough to be killed at it."""
    time.sleep(0.3)
    return rows(50, int(seed))


@pytest.mark.full
def test_a_worker_that_is_killed_costs_time_but_not_the_result():
    distributed = pytest.importorskip("distributed")
    whole = pd.concat([rows(50, seed) for seed in range(12)])
    expected = Sieve(3).fit(X, Y, clients={"a": whole, "b": rows(90, 2)}).scores_
    with (
        dask.config.set(scheduler="distributed"),
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        table = dd.from_map(slow_part, range(12), meta=rows(1))
        victim = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(3.0, os.kill, (victim, signal.SIGKILL))
        timer.start()
        found = Sieve(3).fit(X, Y, clients={"a": table, "b": rows(90, 2)}).scores_
        timer.cancel()
        with pytest.raises(ProcessLookupError):
            os.kill(victim, 0)
    assert_allclose(found, expected, rtol=0, atol=1e-12)


BLOCKS = da.from_array(rows(60, 2).to_numpy(), chunks=(20, 3))
REFUSED = {
    "series": (lambda: dd.from_pandas(rows(60), npartitions=2)["f1"], r"got Series\. Make one of it"),
    "scalar": (lambda: dd.from_pandas(rows(60), npartitions=2)["f1"].sum(), "arrays of two dimensions are tables; got"),
    "delayed": (lambda: dask.delayed(rows)(60), "arrays of two dimensions are tables; got Delayed"),
    "one dimension": (lambda: BLOCKS[:, 0], "arrays of two dimensions are tables; got Array"),
    "sparse blocks": (
        lambda: BLOCKS.rechunk((20, -1)).map_blocks(sparse.csr_array),
        "must be dense; these are csr_array",
    ),
    "masked": (lambda: da.ma.masked_greater(BLOCKS, 1), "must have no mask"),
    "text": (lambda: BLOCKS.astype(str), "must hold numbers; these hold <U"),
    "text as objects": (
        lambda: da.from_array(np.full((60, 6), "x", dtype=object), chunks=20),
        "must hold numbers; these hold object",
    ),
    "dates": (lambda: BLOCKS.astype("i8").astype("M8[D]"), "must hold numbers; these hold datetime64"),
    "complex": (lambda: BLOCKS + 1j, "must hold numbers; these hold complex128"),
    "names twice": (
        lambda: dd.from_pandas(rows(60).set_axis(["f0", "f1", "f2", "f3", "f4", "f1"], axis=1), npartitions=2),
        r"must have different names; 'f1' occurs twice\. Rename them",
    ),
}


@pytest.mark.parametrize(("made", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_table_of_numbers_is_refused_by_the_name_of_its_client(made, said):
    with pytest.raises(DataError, match=f"client 'a': .*{said}"):
        Sieve(3).fit(X.to_numpy(), Y, clients={"a": made(), "b": rows(90, 2).to_numpy()})


def from_parts(*parts):
    """A frame whose partitions Dask itself does not look at."""
    meta = parts[0].iloc[:0]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=meta, verify_meta=False)


@pytest.mark.parametrize("change", [lambda frame: frame, numbered], ids=["named", "numbered"])
def test_partitions_may_have_their_columns_in_any_order(change):
    whole, parts = rows(100, 3), []
    for place, order in enumerate([range(6), range(5, -1, -1), [3, 1, 0, 2, 5, 4]]):
        part = change(whole.iloc[30 * place : 30 * place + 30])
        parts.append(part[[part.columns[column] for column in order]])
    table = DaskTable(from_parts(*parts))
    assert_array_equal(table.whole(table.names), whole.to_numpy()[:90])
    assert_array_equal(table.rows_at(np.array([2, 40, 89]), table.names[1:]), whole.to_numpy()[[2, 40, 89], 1:])
    total = table.in_parts(lambda part: part.whole(part.names).sum(axis=0))
    assert_allclose(total, whole.to_numpy()[:90].sum(axis=0), rtol=0, atol=1e-12)


OTHER = {
    "one too few": (lambda frame: frame.drop(columns="f1"), "missing: 'f1'"),
    "one too many": (lambda frame: frame.assign(g=1.0), "extra: 'g'"),
    "another": (lambda frame: frame.rename(columns={"f1": "g"}), "missing: 'f1'; extra: 'g'"),
    "one twice": (lambda frame: frame.set_axis(["f0", "f1", "f2", "f3", "f4", "f1"], axis=1), "missing: 'f5'"),
    "one twice besides": (lambda frame: pd.concat([frame, frame[["f1"]]], axis=1), "extra: 'f1'"),
}


@pytest.mark.parametrize(("change", "said"), OTHER.values(), ids=OTHER)
def test_a_partition_of_other_columns_is_refused_by_their_names(change, said):
    table = from_parts(rows(30), change(rows(30, 1)))
    with pytest.raises(DataError, match=rf"client 'a': .*partition .*other columns than .* \(.*{said}.*\)\. "):
        Sieve(3).fit(X, Y, clients={"a": table, "b": rows(90, 2)})


def test_a_partition_of_words_is_refused_without_them():
    table = from_parts(rows(30), rows(30, 1).astype(object).assign(f1="a secret"))
    with pytest.raises(
        FedSieveError, match=r"client 'a': .*must hold numbers; in a partition 'f1' holds others"
    ) as said:
        Sieve(3).fit(X, Y, clients={"a": table, "b": rows(90, 2)})
    assert "secret" not in str(said.value)


def test_blocks_of_an_array_have_as_many_columns_as_it_says():
    blocks = [da.from_delayed(dask.delayed(np.ones((20, n))), (20, 6), dtype=float) for n in (6, 5)]
    with pytest.raises(DataError, match=r"client 'a': .*blocks .*must have 6 columns; one has 5"):
        Sieve(3).fit(X.to_numpy(), Y, clients={"a": da.concatenate(blocks), "b": rows(90, 2).to_numpy()})


@pytest.mark.parametrize("kind", [bool, object, "i4", "f4"])
def test_blocks_of_any_numbers_are_numbers(kind):
    numbers = (BLOCKS > 0).astype(kind)
    assert_array_equal(DaskTable(numbers).whole(("x0", "x3")), numbers.compute().astype(float)[:, [0, 3]])


@pytest.mark.parametrize("made", [lambda: dd.from_pandas(X, npartitions=2), lambda: da.from_array(X.to_numpy())])
def test_labeled_rows_must_be_in_memory(made):
    for clients in (None, [rows(90, 2), rows(90, 4)]):
        with pytest.raises(DataError, match=r"Sieve: X is a Dask .*must be in memory\. Call \.compute\(\)"):
            Sieve(3).fit(made(), Y, clients=clients)
