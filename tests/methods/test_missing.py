"""Missing values: a mean of all present ones stands in, so that who holds which rows plays no part."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import messages as m
from fedsieve.errors import DataError, ParameterError
from fedsieve.methods import SieveMethod
from fedsieve.protocol.cohort import SERVER
from fedsieve.tables import ArrayTable, FrameTable
from fedsieve.transport import in_process
from methods.test_sieve import WIDE, assert_same, kinds_asked
from protocol.federation import select_by_edges
from sieve_cases import SieveCase, partitions, sieve_cases, sieve_example, thirds
from strategies import with_gaps

MISSING = pytest.mark.parametrize("missing", ["mean", "indicator"])
RANGES = ("federated", "robust", "declared")
# Each of what is crossed is in one or more of these.
QUICK = (
    ("mean", {}, "federated"),
    ("mean", WIDE, "declared"),
    ("indicator", {}, "declared"),
    ("indicator", WIDE, "robust"),
)


@st.composite
def gapped_cases(draw, **how) -> SieveCase:
    """Cases that miss values at random."""
    case, seed = draw(sieve_cases(**how)), draw(st.integers(0, 2**32 - 2))
    X, others = with_gaps(case.X, seed), with_gaps(case.others, seed + 1)
    if draw(st.booleans()):  # a column of which the server, or everybody, has no value
        place = draw(st.integers(0, len(case.features) - 1))
        X[:, place] = np.nan
        others[draw(st.sampled_from([slice(0, 0), slice(None)])), place] = np.nan
    return replace(case, X=X, others=others)


def declared(case):
    """Ranges that hold all values of numbers but some, and all codes."""
    ranges = {}
    for name, column in zip(case.features, case.all_rows.T, strict=True):
        present = column[~np.isnan(column)]
        low, high = (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
        ranges[name] = (low, high) if name in case.nominal else (low, low + 0.8 * (high - low))
    return ranges


def ranges_of(kind, case):
    return declared(case) if kind == "declared" else kind


def holds_codes(case):
    """Robust ranges of codes are those of the labeled rows; a client's others are refused."""
    coded = [case.features.index(name) for name in case.nominal]
    return all(np.isin(case.others[~np.isnan(case.others[:, p]), p], _codes(case.X[:, p])).all() for p in coded)


def _codes(column):
    present = column[~np.isnan(column)]
    return np.arange(present.min(), present.max() + 1) if len(present) else np.zeros(1)


@pytest.mark.parametrize(
    ("missing", "parameters", "kind"),
    [
        pytest.param(*how, id=f"{how[2]}-{how[0]}-{'wide' if how[1] else 'narrow'}", marks=marks)
        for how in product(("mean", "indicator"), ({}, WIDE), RANGES)
        for marks in [() if how in QUICK else pytest.mark.full]
    ],
)
@settings(max_examples=5)
@given(data=st.data())
def test_who_holds_which_rows_plays_no_part_where_values_are_missing(missing, parameters, kind, data):
    case = data.draw(gapped_cases())
    if kind == "robust" and not holds_codes(case):
        case = replace(case, nominal=())
    how = {**parameters, "missing": missing, "ranges": ranges_of(kind, case)}
    outcome, pooled = case.run(data.draw(partitions(case.others)), **how), case.pooled(**how)
    found = outcome.selection
    assert_same(found, pooled)
    assert_array_equal(found.order, pooled.order)
    anything = bool(np.isnan(case.all_rows).any())
    assert ("AskMeans" in kinds_asked(outcome)) == (anything or kind == "declared")
    if anything:
        assert_allclose(found.missing.share, np.isnan(case.all_rows).mean(axis=0), rtol=0, atol=1e-12)
        assert_allclose(found.columns()["missing"], found.missing.share)
    else:
        assert "missing" not in found.columns()


@MISSING
def test_secure_sums_find_the_same_and_tell_how_much_is_missing_in_all(missing):
    case = gapped_example()
    how = {"missing": missing, "ranges": declared(case)}
    plain, secure = case.select(thirds(case), **how), case.select(thirds(case), secure=True, **how)
    assert_allclose(secure.scores, plain.scores, rtol=0, atol=1e-9)
    assert_array_equal(secure.order, plain.order)
    assert secure.missing.by_site is None
    assert_allclose(secure.missing.share, plain.missing.share)


@MISSING
def test_edge_servers_add_up_means_too(missing):
    case = gapped_example()
    tables = case.sites({f"c{i}": rows for i, rows in enumerate(np.array_split(case.others, 4))})
    method = case.plan(missing=missing, max_sites_per_client=2)
    flat = in_process.select(method, case.rows, tables).selection
    edges = {"edge-0": {name: tables[name] for name in ("c0", "c1")}, "edge-1": {n: tables[n] for n in ("c2", "c3")}}
    found, said = select_by_edges(method, case.rows, edges)
    assert_same(found, flat)
    assert "Means" in {type(reply).__name__ for reply in said}
    assert set(found.missing.by_site) == {SERVER, "edge-0", "edge-1"}


def gapped_example(seed=0) -> SieveCase:
    case = sieve_example(seed)
    return replace(case, X=with_gaps(case.X, 1), others=with_gaps(case.others, 2))


@MISSING
def test_it_is_what_a_pooled_fit_on_filled_rows_finds(missing):
    """By hand: the mean of all present values of a number, filled in beforehand, and a 0/1 column in its group."""
    case = sieve_example().with_columns(np.array([0, 1, 2, 4]))
    case = SieveCase(with_gaps(case.X, 1), case.Y, with_gaps(case.others, 2))
    gaps, rows = np.isnan(case.all_rows), np.where(np.isnan(case.all_rows), np.nanmean(case.all_rows, axis=0), 0.0)
    rows = np.where(gaps, rows, np.nan_to_num(case.all_rows))
    names, groups = case.features, ()
    if missing == "indicator":
        order = np.argsort([*range(4), *range(4)], kind="stable")
        rows = np.hstack([rows, gaps])[:, order]
        names = tuple(np.array([*case.features, *(f"{name} is missing" for name in case.features)])[order])
        groups = tuple(zip(names[::2], names[1::2], strict=True))
    by_hand = SieveCase(rows[: len(case.X)], case.Y, rows[len(case.X) :], (), groups, names)
    plain, filled = (one.select(thirds(one), **how) for one, how in ((case, {"missing": missing}), (by_hand, {})))
    assert_allclose(plain.scores, filled.scores[:: 2 if groups else 1], rtol=0, atol=1e-9)
    assert_allclose(plain.relevance, filled.relevance[:: 2 if groups else 1], rtol=0, atol=1e-9)


def test_where_nothing_is_missing_nobody_asks_and_the_result_is_the_same():
    case = sieve_example()
    for ranges in ("federated", "robust"):
        runs = [case.run(thirds(case), missing=how, ranges=ranges) for how in ("error", "mean", "indicator")]
        assert all("AskMeans" not in kinds_asked(run) for run in runs)
        for run in runs[1:]:
            assert_array_equal(run.selection.scores, runs[0].selection.scores)
            assert run.selection.missing.share is None


def test_what_is_missing_is_told_by_site():
    case = gapped_example()
    found = case.select(thirds(case))
    for site, rows in {SERVER: case.X, **thirds(case)}.items():
        shares = np.isnan(rows).mean(axis=0)
        told = found.missing.by_site[site]
        assert told == pytest.approx({n: s for n, s in zip(case.features, shares, strict=True) if s})
    assert found.facts()["missing_by_site"] == found.missing.by_site


def test_a_column_that_nobody_has_is_never_better_than_one_that_varies():
    case = gapped_example()
    for rows in (case.X, case.others):
        rows[:, [1, 3]] = np.nan  # a number, and codes
    for missing in ("mean", "indicator"):
        for ranges in ("federated", "robust"):
            found = case.select(thirds(case), missing=missing, ranges=ranges)
            assert set(found.order[-2 - (missing == "mean") :]) - {2} == {1, 3}  # 2 is constant where it has a value
            assert_array_equal(found.relevance[[1, 3]], 0)
            assert found.missing.without_values(case.features).startswith("nobody has a value of 'f1', 'f3'")


def test_a_constant_column_stays_one_whatever_is_missing():
    """The mean of some values 0.1 is not quite 0.1, and no tree may see that."""
    case = gapped_example()
    for rows in (case.X, case.others):
        rows[~np.isnan(rows[:, 2]), 2] = 0.1
        rows[::3, 2] = np.nan
    for ranges in ("federated", {**declared(case), "f2": (-3.0, 7.0)}):
        found = case.select(thirds(case), ranges=ranges)
        assert found.order[-1] == 2
        assert found.relevance[2] == 0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("batch_rows", [None, 4])
def test_sparse_tables_and_batches_are_no_different(make, batch_rows):
    case = gapped_example()
    names = case.features
    expected = case.select(thirds(case), missing="indicator")
    sites = {n: ArrayTable(names, make(rows), batch_rows=batch_rows) for n, rows in thirds(case).items()}
    assert_same(in_process.select(case.plan(missing="indicator"), case.rows, sites).selection, expected)


def test_missing_values_of_a_nullable_frame_are_missing():
    pd = pytest.importorskip("pandas")
    case = gapped_example()
    frames = {n: pd.DataFrame(rows, columns=case.features).convert_dtypes() for n, rows in thirds(case).items()}
    sites = {name: FrameTable(frame.astype("Float64")) for name, frame in frames.items()}
    assert_same(in_process.select(case.plan(), case.rows, sites).selection, case.select(thirds(case)))


def test_error_refuses_them_as_ever_and_names_site_and_column():
    case = gapped_example()
    with pytest.raises(DataError, match=r"the labeled rows have \d+ missing \(NaN\) values in column 'f0'"):
        case.select(thirds(case), missing="error")
    with pytest.raises(Exception, match=r"client 'site-0'.* missing \(NaN\) value.*missing='mean'"):
        replace(case, X=sieve_example().X).select(thirds(case), missing="error")


def test_noise_takes_the_center_of_the_labeled_rows_and_knows_no_indicator():
    case = gapped_example()
    found = case.select(thirds(case), epsilon=5.0)
    assert found.missing.share is None
    assert np.isfinite(found.scores).all()
    with pytest.raises(ParameterError, match="missing='indicator' needs exact sums; with epsilon use missing='mean'"):
        case.plan(epsilon=1.0, missing="indicator")
    with pytest.raises(ParameterError, match="center='sites' needs exact sums; with epsilon use center='federation'"):
        case.plan(epsilon=1.0, center="sites")


def test_a_missing_value_adds_nothing_to_noisy_sums():
    columns = m.Columns(("a", "b"), (), "mean")
    scaling, center = m.Scaling(np.zeros(2), np.full(2, 4.0), "declared"), np.array([0.3, 0.7])
    ask = m.AskClippedMoments(columns, scaling, center, np.full(2, 1000.0), np.zeros((2, 1), np.int64), "pairs")
    gap, there = (ask.answer(ArrayTable(("a", "b"), np.array([[x, 1.0]]))).values for x in (np.nan, 0.3 * 4))
    assert_array_equal(gap, there)
    assert gap[1] == 0


@pytest.mark.parametrize(("parameter", "choice"), [("missing", "unrelated"), ("missing", "median"), ("center", "site")])
def test_what_sieve_does_not_know_is_refused(parameter, choice):
    with pytest.raises(ParameterError, match=f"Sieve: {parameter} must be one of .* got '{choice}'"):
        SieveMethod(("a", "b"), **{parameter: choice})
