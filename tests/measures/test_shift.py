"""Which party's columns are named as lying elsewhere: the converted ones by their conversion, honest ones never."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fedsieve.measures.column_facts import ColumnFacts, facts_of_tables, together
from fedsieve.measures.shift import _median_of_others, compare
from fedsieve.measures.units import BOTH_WAYS, CELSIUS, CONVERSIONS, GLUCOSE, alike, in_words
from reference.shift_loops import median_of_others

NAMES = ("glucose", "temperature", "triglycerides", "score")


def rows(n, seed):
    rng = np.random.default_rng(seed)
    columns = (rng.normal(110, 25, n), rng.normal(37, 0.7, n), rng.lognormal(5, 0.5, n), rng.normal(0, 1, n))
    return np.column_stack(columns)


def parties(n_parties=5, n_rows=80, seed=0):
    return {f"site-{i}": rows(n_rows, seed * 100 + i) for i in range(n_parties)}


def found(tables, **how):
    return compare(facts_of_tables(tables, NAMES), **how).findings


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 3)),
        elements=st.floats(-9, 9, width=16) | st.just(np.nan),
    )
)
@settings(max_examples=40)
def test_the_median_of_the_others_is_that_of_loops(values):
    np.testing.assert_array_equal(_median_of_others(values), median_of_others(values))


@pytest.mark.parametrize(
    ("conversion", "column"),
    [(one, 0) for one in BOTH_WAYS if not one.offset] + [(one, 1) for one in BOTH_WAYS if one.low <= 37 <= one.high],
)
def test_every_conversion_of_a_column_far_from_zero_is_found_and_named(conversion, column):
    tables = parties()
    tables["site-3"][:, column] = conversion(tables["site-3"][:, column])
    (one,) = found(tables)
    assert (one.party, one.column) == ("site-3", NAMES[column])
    assert one.conversion in alike(conversion)


@given(
    st.sampled_from([one for one in BOTH_WAYS if abs(np.log(one.factor)) > 2 and not one.offset]),
    st.integers(0, 3),
    st.integers(0, 50),
)
@settings(max_examples=40, deadline=None)
def test_a_factor_of_ten_or_more_is_found_in_any_column_whatever_its_form(conversion, column, seed):
    tables = parties(seed=seed)
    tables["site-1"][:, column] = conversion(tables["site-1"][:, column])
    assert [(one.party, one.column) for one in found(tables)] == [("site-1", NAMES[column])]


@given(st.integers(0, 2000), st.integers(3, 8), st.integers(2, 60))
@settings(max_examples=40, deadline=None)
def test_honest_parties_are_never_named(seed, n_parties, n_rows):
    assert found(parties(n_parties, n_rows, seed)) == ()


def test_of_three_parties_only_the_odd_one_is_named_and_of_two_none():
    tables = parties(3)
    tables["site-0"][:, 0] /= 18
    assert [one.party for one in found(tables)] == ["site-0"]
    tables["site-2"] = tables["site-2"][:9]  # too few to be the third
    assert found(tables) == ()
    del tables["site-2"]
    assert compare(facts_of_tables(tables, NAMES)) is None


def test_one_wrong_table_hides_no_other():
    tables = parties(7)
    for name in ("site-0", "site-4", "site-6"):
        tables[name][:, 0] /= 18
    assert {(one.party, one.conversion) for one in found(tables)} == {
        (name, GLUCOSE.back) for name in ("site-0", "site-4", "site-6")
    }


def test_codes_have_no_unit_and_few_rows_prove_nothing():
    tables = parties()
    tables["site-3"][:, 0] /= 18
    numeric = np.array([False, True, True, True])
    assert [one.conversion for one in found(tables, numeric=numeric)] == [None]  # still apart
    tables["site-3"] = tables["site-3"][:9]
    assert found(tables) == ()


def test_a_party_that_lies_apart_without_a_known_factor_is_named_without_one():
    tables = parties()
    tables["site-2"][:, 0] += 4000
    (one,) = found(tables)
    assert one.conversion is None
    assert one.words == (
        "site-2, column 'glucose': its values lie apart from nearly all of the others' (another unit or coding?)"
    )


def test_numbers_say_how_far_a_party_lies_from_the_others():
    tables = {f"site-{i}": np.array([[0.0], [1.0], [2.0]] * 10) for i in range(3)}
    tables["site-2"] = 3 * tables["site-2"]
    shift = compare(facts_of_tables(tables, ("x",)))
    deviation = np.std([0, 1, 2])
    np.testing.assert_allclose(shift.mean[:, 0], [-1 / (2 * deviation), -1 / (2 * deviation), 2 / deviation])
    np.testing.assert_allclose(shift.spread[:, 0], [0.5, 0.5, 3])
    np.testing.assert_allclose(shift.overlap[:, 0], [1, 1, 1])


def test_bins_tell_of_rows_beyond_them_and_never_of_few_rows():
    edges = np.array([0.0, 1.0, 2.0])
    inside, beyond = np.array([0, 30, 30, 1]), np.array([0, 0, 1, 60])

    def facts(counts):
        return ColumnFacts.of(("x",), int(counts.sum()), [(edges, counts)], count=[counts.sum()])

    shift = compare({"a": facts(inside), "b": facts(inside), "c": facts(beyond), "d": facts(inside)})
    assert [(one.party, one.conversion) for one in shift.findings] == [("c", None)]
    np.testing.assert_allclose(shift.overlap[2, 0], 2 / 61, atol=0.01)
    few = compare({"a": facts(inside), "b": facts(inside), "c": facts(beyond // 20), "d": facts(inside)})
    assert few.findings == ()


def test_later_facts_fill_in_what_earlier_ones_do_not_tell():
    first = ColumnFacts.of(("a", "b"), 7, low=[1.0, 2.0], high=[3.0, 4.0])
    second = ColumnFacts.of(("b",), 7, mean=[3.0], low=[9.0])
    whole = together(("a", "b"), [first, second])
    np.testing.assert_array_equal(whole.low, [1.0, 2.0])
    np.testing.assert_array_equal(whole.mean, [np.nan, 3.0])
    assert together(("a",), []) is None


@pytest.mark.parametrize("conversion", CONVERSIONS, ids=lambda one: one.units)
def test_the_way_back_leads_back_and_words_tell_factor_and_units(conversion):
    assert conversion.back(conversion(36.6)) == pytest.approx(36.6)
    assert conversion.factor > 1
    for one in (conversion, conversion.back):
        assert conversion.units in in_words(one)
        assert f"{conversion.factor:.4g}" in in_words(alike(one)[0]) + in_words(one)


def test_words_of_an_affine_conversion():
    assert in_words(CELSIUS) == "look like 1.8 times the others' plus 32 (°C and °F?)"
    assert in_words(CELSIUS.back) == "look like the others' minus 32, divided by 1.8 (°C and °F?)"
