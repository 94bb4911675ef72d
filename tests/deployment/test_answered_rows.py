"""Tables answered for, compared block by block: as if counted row by row, in little memory."""

import hashlib
import tracemalloc
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve.deployment import answered_rows
from fedsieve.deployment.answered_rows import AnsweredRows, digest_of, hashes_of
from fedsieve.deployment.ledger import Ledger
from fedsieve.privacy import SITE
from fedsieve.tables import ArrayTable

ROWS = st.lists(st.integers(0, 40), max_size=60)


def hashes(rows):
    """Numbers as hashes that begin with all kinds of bytes; the first ones end in zeros."""
    return hashes_of(b"".join(hashlib.sha256(bytes([row])).digest()[:15] + bytes([row // 8]) for row in rows))


def first_ones(rows, wanted):
    """Which rows are wanted, each as often, the first ones first."""
    left = Counter(wanted)
    chosen = []
    for row in rows:
        chosen.append(left[row] > 0)
        left[row] -= 1
    return chosen


@settings(max_examples=60, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=4), ROWS, st.sampled_from([1, 7, 1000]))
def test_tables_differ_as_if_rows_were_counted_one_by_one(tmp_path_factory, answered, rows, block):
    file = AnsweredRows(tmp_path_factory.mktemp("ledger") / "some.rows")
    usual, answered_rows.BLOCK = answered_rows.BLOCK, block
    try:
        tables = []
        for table in answered:
            file.add(hashes(table))
            if not tables or Counter(tables[-1]) != Counter(table):  # the same again is no step
                tables.append(table)
        more = [Counter(rows) - Counter(table) for table in reversed(tables)]
        less = [Counter(table) - Counter(rows) for table in reversed(tables)]
        assert list(file.numbers()) == [len(table) for table in tables]
        expected = [max(a.total(), b.total()) for a, b in zip(more, less, strict=True)]
        assert file.n_different(hashes(rows)) == expected
        new = [first_ones(rows, some) for some in more if some]
        assert [mask.tolist() for mask in file.new_rows(hashes(rows))] == new
        chosen, n_others = file.last_rows(hashes(rows))
        assert_array_equal(chosen, first_ones(rows, tables[-1]))
        assert n_others == less[0].total()
        assert digest_of(hashes(rows)) == hashlib.sha256(np.sort(hashes(rows)).tobytes()).hexdigest()
    finally:
        answered_rows.BLOCK = usual


def test_a_tall_table_takes_hardly_more_than_its_hashes(tmp_path, monkeypatch):
    monkeypatch.setattr(answered_rows, "BLOCK", 1 << 10)
    X = np.arange(100_000.0)[:, None]
    ledger, before, now = Ledger(tmp_path / "ledger"), X.copy(), X
    now[:40] += 0.5

    def bytes_per_row(work):
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1] / len(X)
        finally:
            tracemalloc.stop()

    def table(rows):
        return ArrayTable(("a",), rows, batch_rows=500)

    assert bytes_per_row(lambda: ledger.admit("one", "agreed", SITE, table(before))) < 24
    assert bytes_per_row(lambda: ledger.changes(table(now))) < 24
    assert bytes_per_row(lambda: ledger.admit("two", "agreed", SITE, table(now))) < 24
