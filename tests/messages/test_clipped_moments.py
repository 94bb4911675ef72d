"""No row, whatever it holds and whatever is asked, moves the released numbers further than the noise is made for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from fedsieve import messages as m
from fedsieve.errors import DataError, ProtocolError
from fedsieve.measures.bounded_rows import MAX_RADIUS, bounded, whole
from fedsieve.messages.base import Budget, Known
from fedsieve.messages.clipped_moments import FRACTION, PAIRS, RADIUS, SHARES, SQUARES, ClippedMomentsTerms
from fedsieve.tables import ArrayTable
from reference import clipped_loops as loops

ANY = st.floats(-1e300, 1e300)
USUAL = st.floats(-2, 2)


@st.composite
def questions(draw: st.DrawFn, extreme: bool = True, nominal: bool = True) -> m.AskClippedMoments:
    """Requests of any server, honest or not; the last column may hold codes."""
    n = draw(st.integers(1, 5))
    coded = nominal and draw(st.booleans())
    names = tuple(f"f{p}" for p in range(n))
    low, high = np.full(n, -1.0), np.full(n, 2.0)
    if extreme:  # of the columns without codes
        low[: n - coded] = [draw(ANY) for _ in range(n - coded)]
        high[: n - coded] = [draw(st.one_of(st.just(edge), ANY)) for edge in low[: n - coded]]
    n_encoded = n + 3 * coded
    units = st.sampled_from([0.0, 1.0, float(RADIUS), -float(RADIUS), 1e-300, 1e100] if extreme else [1e4, 3e4, 7e4])
    unit = np.array([draw(units) for _ in range(n_encoded)])
    center = np.array([draw(st.floats(-1e100, 1e100) if extreme else st.floats(0, 1)) for _ in range(n_encoded)])
    weights = draw(hnp.arrays(np.int64, (n_encoded, draw(st.integers(1, 3))), elements=st.integers(-(2**33), 2**33)))
    return m.AskClippedMoments(
        m.Columns(names, names[-1:] if coded else (), "error"),
        m.Scaling(low, high, "declared"),
        center,
        unit,
        weights,
        draw(st.sampled_from([PAIRS, SQUARES])),
    )


def values(request: m.AskClippedMoments, rows: np.ndarray, **how) -> np.ndarray:
    return request.answer(ArrayTable(request.columns.features, rows, **how)).values


@settings(max_examples=300)
@given(st.data())
def test_a_row_more_or_less_changes_at_most_what_the_noise_is_made_for(data):
    request = data.draw(questions())
    n = len(request.columns.features)
    cells = st.one_of(ANY, st.sampled_from([-1.0, 0.0, 1.0, 2.0, 1e300, -1e300, 5e-324]))
    rows = data.draw(hnp.arrays(np.float64, (data.draw(st.integers(1, 6)), n), elements=cells))
    place = data.draw(st.integers(0, len(rows) - 1))
    change = values(request, rows) - values(request, np.delete(rows, place, axis=0))
    assert np.linalg.norm(change / request.noise_units()) <= 1 + 1e-12


@pytest.mark.parametrize("second", [PAIRS, SQUARES])
def test_some_row_changes_nearly_as_much_so_that_the_noise_is_not_wasted(second):
    """One column holds all of the row's length, and one label all of what is predicted."""
    request = m.AskClippedMoments(
        m.Columns(("a", "b"), (), "error"),
        m.Scaling(np.zeros(2), np.ones(2), "declared"),
        np.zeros(2),
        np.full(2, 2.0 * RADIUS),
        np.array([[3 << FRACTION], [0]]),
        second,
    )
    change = values(request, np.array([[1.0, 0.0]])) - values(request, np.zeros((0, 2)))
    assert np.linalg.norm(change / request.noise_units()) == pytest.approx(1, abs=1e-12)
    assert sum(SHARES.values()) == pytest.approx(1, abs=1e-12)
    diagonal = values(request, np.array([[1.0, 1.0]])) - values(request, np.zeros((0, 2)))
    spread = np.linalg.norm(diagonal / request.noise_units())
    assert (spread == pytest.approx(1, abs=1e-4)) == (second == PAIRS)  # with pairs, any row of this length does


@given(
    hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(-(2**22), 2**22))
)
def test_rows_are_never_longer_than_the_radius(rows):
    for radius in (1, 7, 2**16, MAX_RADIUS):
        short = bounded(rows, radius)
        assert np.all((short**2).sum(axis=1) <= radius**2)
        assert np.all(np.sign(short) * np.sign(rows) >= 0)
        within = (rows**2).sum(axis=1) <= radius**2
        assert_array_equal(short[within], rows[within])


def test_a_radius_for_which_rounding_could_matter_is_refused():
    for radius in (0, MAX_RADIUS + 1):
        with pytest.raises(ValueError, match="radius must be in"):
            bounded(np.ones((1, 1), np.int64), radius)
    assert_array_equal(whole(np.array([np.inf, -np.inf, -0.9])), [2**22, -(2**22), 0])


@given(st.data())
def test_sums_over_sites_batches_and_orders_are_those_of_all_rows_to_the_last_digit(data):
    request = data.draw(questions())
    n = len(request.columns.features)
    rows = data.draw(hnp.arrays(np.float64, (7, n), elements=st.floats(-3, 3)))
    together = values(request, rows)
    assert_array_equal(values(request, rows[:3]) + values(request, rows[3:]), together)
    assert_array_equal(values(request, rows[::-1], batch_rows=2), together)


@given(st.data())
def test_like_the_twin_in_loops(data):
    request = data.draw(questions(extreme=False, nominal=False))
    n = len(request.columns.features)
    rows = data.draw(hnp.arrays(np.float64, (4, n), elements=st.floats(-3, 3)))
    encoded = (np.clip(rows, -1, 2) + 1) / 3
    twin = loops.moments(encoded, request.center, request.unit, request.weights, request.second == PAIRS)
    assert values(request, rows).tolist() == twin


def test_codes_that_nobody_named_count_as_none_and_are_no_reason_to_refuse():
    columns = m.Columns(("c",), ("c",), "error")
    asked = (np.zeros(2), np.full(2, 10.0), np.zeros((2, 1), np.int64), SQUARES)
    request = m.AskClippedMoments(columns, m.Scaling(np.zeros(1), np.ones(1), "declared"), *asked)
    reply = request.answer(ArrayTable(("c",), np.array([[0.0], [1.0], [1.0], [7.0], [0.5]])))
    assert reply.features == ("c=0", "c=1")
    assert_array_equal(reply.parts()["sums"], [10, 20])
    assert reply.n_rows == 5


EXAMPLE = m.AskClippedMoments(
    m.Columns(("a", "b"), (), "error"),
    m.Scaling(np.zeros(2), np.ones(2), "declared"),
    np.full(2, 0.5),
    np.full(2, 1e5),
    np.array([[1 << FRACTION], [0]]),
    PAIRS,
)
TABLE = ArrayTable(("a", "b"), np.random.default_rng(0).random((30, 2)))


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("center", np.zeros(3), "was sent centers or units that do not fit its 2 columns."),
        ("center", np.array([np.nan, 0]), "centers or units"),
        ("unit", np.array([np.inf, 0]), "centers or units"),
        ("weights", np.zeros(2, np.int64), "was sent weights that do not fit its 2 columns"),
        ("weights", np.full((2, 1), 2**40), "was sent weights too large to be multiplied exactly."),
        ("second", "thirds", "or asked for no known moments"),
        ("scaling", m.Scaling(None, None), "was sent no ranges"),
        ("scaling", m.Scaling(np.full(2, -1.7e308), np.full(2, 1.7e308)), "was sent ranges that no values have."),
    ],
)
def test_requests_that_do_not_fit_are_refused(part, value, said):
    with pytest.raises(ProtocolError, match=said):
        replace(EXAMPLE, **{part: value}).answer(TABLE)


def test_missing_values_are_refused_without_telling_how_many():
    with pytest.raises(DataError) as refused:
        EXAMPLE.answer(ArrayTable(("a", "b"), np.array([[np.nan, 1.0], [np.nan, 2.0]])))
    assert not any(letter.isdigit() for letter in str(refused.value))


def test_replies_of_another_kind_are_refused():
    reply, known = EXAMPLE.answer(TABLE), Known()
    assert EXAMPLE.why_refused(reply, known) is None
    for changed, said in (
        (replace(reply, features=("a", "c")), "answered for 2 columns"),
        (replace(reply, values=reply.values[1:]), "sent values of shape"),
        (replace(reply, values=reply.values + (1 << 61)), "too large ones"),
        (replace(reply, second=SQUARES), "sent 'squares' instead of 'pairs'."),
        (replace(reply, n_sites=2), "answered for 2 sites; agreed: at most 1"),
        (replace(reply, n_sites=0), "answered for 0 sites"),
    ):
        assert said in EXAMPLE.why_refused(changed, known)
    with pytest.raises(ProtocolError, match="different kinds"):
        reply + replace(reply, second=SQUARES)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"columns": m.Columns(("a",), (), "error")}, "other features than agreed"),
        ({"weights": np.zeros((2, 3), np.int64)}, "was asked for 3 weighted sums; agreed: one per label, 2."),
        ({"scaling": m.Scaling(np.zeros(2), np.full(2, 9.0))}, "other ranges than declared"),
    ],
)
def test_what_was_not_agreed_on_is_refused(changes, said):
    terms = ClippedMomentsTerms(EXAMPLE.columns, Budget(1.0, 1e-6), PAIRS, EXAMPLE.scaling, 2)
    terms.check(EXAMPLE)
    with pytest.raises(ProtocolError, match=said):
        terms.check(replace(EXAMPLE, **changes))
    with pytest.raises(ProtocolError, match="more columns with each other than agreed"):
        replace(terms, second=SQUARES).check(EXAMPLE)
