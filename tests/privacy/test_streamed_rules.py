"""A site's rules look at a table that is larger than memory in passes: they find what they find in memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fedsieve import tables, value_counts
from fedsieve.deployment.stored_rows import StoredRows, write_columns
from fedsieve.messages.base import View
from fedsieve.methods import SieveMethod
from fedsieve.privacy import SITE, held_back, held_back_in_total, rows_needed, streamed_copies, streamed_gaps, views
from fedsieve.privacy.column_looks import column_of
from fedsieve.privacy.held_back import FEW_APART
from fedsieve.privacy.views import Groups
from fedsieve.tables import ArrayTable, StreamedTable
from fedsieve.values import LARGEST
from reference.views_loops import tells_few_apart as tells_few_apart_slowly

KINDS = (
    "numbers",
    "few numbers",
    "rare ones",
    "very rare ones",
    "codes",
    "near copy",
    "exact copy",
    "near copy of a rare one",
    "multiple with odd rows in gaps",
    "multiple far away with odd rows in gaps",
    "some missing",
    "few missing",
    "mostly missing",
    "missing like another",
    "ticks or missing",
    "constant",
)


class Parts(StreamedTable):
    """Rows that come some at a time."""

    def __init__(self, names, X, size):
        self.names, self.n_rows, self.batch_rows, self._X = names, len(X), size, X

    def parts(self, columns, size):
        place = [self.names.index(name) for name in columns]
        return (self._X[start : start + size][:, place] for start in range(0, len(self._X), size))


def column(kind, rng, earlier, n_rows):
    """A column of this kind; copies are of one of the earlier columns."""
    other = earlier[rng.integers(len(earlier))] if earlier else rng.normal(size=n_rows)
    odd = rng.choice(n_rows, rng.integers(1, 7), replace=False)
    noise = rng.normal(size=n_rows)
    if kind in ("near copy", "exact copy", "near copy of a rare one"):
        if kind == "near copy of a rare one":
            other = (rng.random(n_rows) < 0.08).astype(float) if not earlier else other
        copy = other * rng.choice([1.0, -2.5, 0.1]) + rng.choice([0.0, 3.0])
        if kind != "exact copy":
            copy[odd] += rng.choice([1.0, 7.0])
        return copy
    if kind.startswith("multiple"):
        gaps, far = np.isnan(other), "far" in kind
        whole = np.where(gaps, 999_999_999.0, 2 * other + 50.0) if far else np.where(gaps, 1.0, 2 * other)
        whole[np.flatnonzero(gaps)[: rng.integers(0, 7)]] = 55.0
        return whole
    if kind == "missing like another":
        gaps = np.isnan(other)
        gaps[odd] ^= True
        return np.where(gaps, np.nan, noise)
    # Of two columns that have fewer than about ten rows in common, some line is near most of these by chance: whether
    # it is tried depends on the rows that are looked at, in memory too.
    share = {"some missing": 0.3, "mostly missing": 0.55, "few missing": 3 / n_rows}.get(kind)
    if share is not None:
        return np.where(rng.random(n_rows) < share, np.nan, noise.round(int(rng.integers(1, 4))))
    return {
        "ticks or missing": np.where(rng.random(n_rows) < 0.3, np.nan, rng.choice([0.1, 98.6])),
        "numbers": noise,
        "few numbers": noise.round(),
        "rare ones": (rng.random(n_rows) < 0.08).astype(float),
        "very rare ones": (rng.random(n_rows) < 0.02).astype(float),
        "codes": rng.choice([0.0, 1.0, 2.0, 7.0], n_rows, p=[0.6, 0.3, 0.08, 0.02]),
        "constant": np.full(n_rows, 2.0),
    }[kind]


def some_views(rng):
    views = [View(-1.0, 1.0), View(-1.5, 1.0), View(-1.0, 1.5), View(-2.0, 2.0, 4)]
    views += [View(-2.0, 2.0, 0, 0.1), View(-2.0, 2.0, 0, 0.12), View(-LARGEST, LARGEST, 0, 1e-4, 500)]
    return [views[place] for place in rng.choice(len(views), rng.integers(0, 4), replace=False)]


@pytest.fixture(scope="module", autouse=True)
def small_steps():
    """Samples, blocks and first looks that are small beside these tables, so that all of it is used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "MOST_COMPARED", 40)
        patch.setattr(value_counts, "BLOCK", 16)
        patch.setattr(value_counts, "SAMPLE", 30)
        patch.setattr(value_counts, "LOOKED_AT", 4)
        patch.setattr(views, "AT_A_TIME", 32)
        patch.setattr(streamed_copies, "FIRST_ROWS", 8)
        patch.setattr(streamed_copies, "FOLLOWED", 64)
        patch.setattr(streamed_gaps, "AT_ONCE", 3)
        yield


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from(KINDS), min_size=1, max_size=6), st.integers(150, 300))
@example(7, ["some missing", "multiple with odd rows in gaps"], 200)
@example(9, ["some missing", "multiple with odd rows in gaps", "near copy"], 150)
def test_the_same_is_held_back_as_in_memory(seed, kinds, n_rows):
    rng, columns = np.random.default_rng(seed), []
    for kind in kinds:
        columns.append(column(kind, rng, columns, n_rows))
    X, names = np.column_stack(columns), tuple(f"x{place}" for place in range(len(kinds)))
    nominal = [name for name, kind in zip(names, kinds, strict=True) if kind == "codes"]
    clips = {name: (-1.0, 1.0) for name in names if name not in nominal and rng.random() < 0.5}
    size = int(rng.integers(1, n_rows + 1))
    whole, streamed = ArrayTable(names, X), Parts(names, X, size)
    assert held_back(streamed, nominal, 5) == held_back(whole, nominal, 5)
    assert held_back(streamed, nominal, 5, clips) == held_back(whole, nominal, 5, clips)
    new = [np.arange(n_rows) >= n_rows // 2]
    assert held_back(streamed, nominal, 5, new=new) == held_back(whole, nominal, 5, new=new)
    assert held_back_in_total(streamed, names[:1], nominal, 5) == held_back_in_total(whole, names[:1], nominal, 5)
    method = SieveMethod(names, 1, nominal=tuple(nominal), missing="mean")
    assert rows_needed(method, SITE, streamed) == rows_needed(method, SITE, whole)


def test_a_value_far_out_that_no_sample_has_makes_room_in_the_sample_too(monkeypatch):
    """By the sample's own ends no copy was found: the difference of both columns told the far row's other value."""
    monkeypatch.setattr(tables, "MOST_COMPARED", 200)
    X = np.random.default_rng(0).normal(size=(2000, 3))
    X[133, 1] = 1e12  # beside which all other values are no more than what rounding leaves
    streamed = Parts(("a", "b", "c"), X, 300)
    assert 133 not in tables.compared_rows(streamed)
    held = held_back(ArrayTable(("a", "b", "c"), X), (), 5)
    assert set(held.reasons) == {"b"}
    assert held_back(streamed, (), 5) == held


@pytest.mark.parametrize("size", [1, 700])
def test_copies_with_gaps_far_from_0_are_found_in_batches_of_any_size(size):
    """A mean that is kept in the column's own size loses what rows are off it."""
    rng = np.random.default_rng(0)
    a = 1.7e9 + 0.01 * rng.normal(size=3000)
    a[rng.random(3000) < 0.3] = np.nan
    b = np.where(np.isnan(a), 0.0, a - 1.7e9)
    b[np.flatnonzero(np.isnan(a))[:2]] = 55.0
    X = np.column_stack([a, b])
    held = held_back(ArrayTable(("a", "b"), X), (), 5)
    assert held.reasons == {"a": "it differs from 'b' in a few rows only"}
    assert held_back(Parts(("a", "b"), X, size), (), 5) == held


def test_bins_of_columns_with_gaps_are_compared():
    """One is the other with other numbers, but for three rows."""
    rng = np.random.default_rng(0)
    x = rng.choice([0.0, 1.0, 2.0], 300)
    y = np.array([2.0, 0.0, 1.0])[x.astype(int)]
    y[[5, 50, 150]] = (y[[5, 50, 150]] + 1) % 3
    x[rng.random(300) < 0.2] = np.nan
    seen = {"x": [View(0.0, 2.0, 3)], "y": [View(0.0, 2.0, 3)]}
    held = held_back(ArrayTable(("x", "y"), np.column_stack([x, y])), (), 5, None, seen)
    assert held.reasons == {"y": "it differs from 'x' in a few rows only"}
    assert held_back(Parts(("x", "y"), np.column_stack([x, y]), 70), (), 5, None, seen) == held


def test_rows_for_lines_are_read_from_the_sample_where_it_has_them(monkeypatch):
    """One column with few ones made each of the others a pass of its own."""
    X = np.random.default_rng(0).normal(size=(3000, 40))
    X[:, 0] = np.arange(3000) % 100 == 0
    table, passes = Parts(tuple(f"x{place}" for place in range(40)), X, 3000), []
    monkeypatch.setattr(streamed_copies, "SAMPLED", 1 << 8)
    monkeypatch.setattr(
        Parts, "parts", lambda self, columns, size, parts=Parts.parts: passes.append(1) or parts(self, columns, size)
    )
    held_back(table, (), 5)
    assert len(passes) <= 6


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.integers(2, 200), st.integers(1, 50))
def test_views_tell_few_apart_in_parts_as_in_one_piece(seed, kind, n_rows, size):
    rng = np.random.default_rng(seed)
    values, seen = column(kind, rng, [], max(n_rows, 8))[:n_rows], some_views(rng)
    groups = Groups(seen, 5)
    for start in range(0, n_rows, size):
        groups.add(values[start : start + size])
    in_parts = groups.has_few(lambda: (values[start : start + size] for start in range(0, n_rows, size)), n_rows)
    assert in_parts == tells_few_apart_slowly(values, seen, 5)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(60, 250))
def test_views_of_few_rows_are_held_back_among_all_rows_and_among_those_compared(seed, n_rows):
    rng = np.random.default_rng(seed)
    X, seen = rng.normal(size=(n_rows, 2)).round(1), {"x": some_views(rng), "y": some_views(rng)}
    table, seen = Parts(("x", "y"), X, 17), {name: views for name, views in seen.items() if views}
    some = tables.compared_rows(table)
    held = held_back(table, (), 5, None, seen)
    for name, values in zip(("x", "y"), X.T, strict=True):
        few = tells_few_apart_slowly(values, seen.get(name, ()), 5) or tells_few_apart_slowly(
            values[some], seen.get(name, ()), 5
        )
        assert (held.reasons.get(name) == FEW_APART) == few


def test_each_rule_is_used_in_these_tables():
    """Or equal results would tell nothing."""
    found = set()
    for seed in range(60):
        rng, columns = np.random.default_rng(seed), []
        for kind in rng.choice(KINDS, 5):
            columns.append(column(kind, rng, columns, 120))
        names = tuple("abcde")
        seen = {name: views for name in names if (views := some_views(rng))}
        held = held_back(Parts(names, np.column_stack(columns), 33), ("e",), 5, None, seen)
        found |= {"".join(word for word in reason.split() if word.isalpha()) for reason in held.reasons.values()}
    assert len(found) >= 6, found


def test_memory_does_not_grow_with_rows(tmp_path, monkeypatch):
    """All rules, of columns that each of them has most work with: rare values, gaps, copies, bins and relations."""
    monkeypatch.setattr(tables, "STREAMED_VALUES", 1 << 14)
    monkeypatch.setattr(value_counts, "BLOCK", 1 << 12)
    monkeypatch.setattr(value_counts, "SAMPLE", 1 << 12)
    monkeypatch.setattr(views, "AT_A_TIME", 1 << 12)
    monkeypatch.setattr(streamed_copies, "FOLLOWED", 1 << 14)
    names = tuple("abcdefgh")
    seen = {"a": [View(-2.0, 2.0, 32), View(-2.0, 2.0), View(-2.5, 2.0, 32), View(-2.5, 2.0)]}
    seen["b"] = [View(-9.0, 9.0, 0, 1e-9, 100), View(-9.0, 9.0, 0, 2e-9, 100)]
    peaks = []
    for n_rows in (50_000, 200_000):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, 8))
        X[:, 2] = rng.random(n_rows) < 0.001
        X[:, 3] = np.where(np.arange(n_rows) == 7, 5.0, X[:, 2])
        X[rng.random(n_rows) < 0.01, 4] = np.nan
        X[:, 5] = np.where(np.isnan(X[:, 4]), 0.0, X[:, 4])
        X[np.flatnonzero(np.isnan(X[:, 4]))[:2], 5] = 3.0
        X[[0, 1], 6] = np.nan
        X[:, 7] = np.where(np.arange(n_rows) < 2, 1.0, 0.0)
        file = tmp_path / f"{n_rows}.npy"
        write_columns(file, ArrayTable(names, X))
        table = StoredRows(file, names)
        del X
        held_back(table, (), 5, None, seen)  # compiles
        tracemalloc.start()
        held = held_back(table, (), 5, None, seen)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert set(held.reasons) >= {"d", "e", "g", "h"}
        assert column_of(table, "a").nbytes == 8 * n_rows
    assert peaks[1] < 1.25 * peaks[0]  # blocks differ in size by chance
    assert peaks[1] < 8 * 200_000 * 2  # less than two columns; it was 115 bytes per row
