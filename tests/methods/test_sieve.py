"""Laws of Sieve over messages: what the rows of all sites say decides, and not who holds or how one writes them."""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import Sieve
from fedsieve import messages as m
from fedsieve.errors import DataError
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from protocol.federation import drive
from sieve_cases import VARIED, SieveCase, encoded, partitions, sieve_cases, sieve_example, thirds

WIDE = {"screen": 2, "n_features_to_select": 1}  # more than two columns are too many to be compared
REASONS = ("scores", "relevance", "redundancy", "stability")
both = pytest.mark.parametrize("parameters", [{}, WIDE], ids=["narrow", "wide"])


def assert_same(first, second, columns=slice(None)):
    """The same numbers and ranks of all features; those of the second are looked up at `columns`."""
    for name in REASONS:
        assert_allclose(getattr(first, name), getattr(second, name)[columns], rtol=0, atol=1e-9, err_msg=name)
    for name, rank in first.ranks.items():
        assert_array_equal(rank, second.ranks[name][columns], err_msg=name)


def unit_order(case, selection):
    """The units, best first, each as the set of its features' names."""
    unit_of, names = case.plan().unit_of, np.array(case.features)
    units = dict.fromkeys(unit_of[selection.order].tolist())
    return [frozenset(names[unit_of == unit]) for unit in units]


def kinds_asked(outcome):
    return list(dict.fromkeys(entry.kind for entry in outcome.transcript if entry.sender == "server"))


@both
@settings(max_examples=20)
@given(data=st.data())
def test_who_holds_which_unlabeled_rows_plays_no_part(parameters, data):
    """Any number of clients, down to two rows each, under any names: what one client with all rows gives."""
    case = data.draw(sieve_cases())
    outcome, pooled = case.run(data.draw(partitions(case.others)), **parameters), case.pooled(**parameters)
    found = outcome.selection
    assert_same(found, pooled)
    assert_array_equal(found.order, pooled.order)
    assert_array_equal(found.redundant_with, pooled.redundant_with)
    assert found.n_selected == pooled.n_selected
    assert sum(found.n_rows.values()) == len(case.others)
    wide = parameters == WIDE
    assert kinds_asked(outcome) == ["AskRanges", *["AskProjections"] * wide, "AskCovariances"]
    assert np.any(found.scores < 0) <= wide


@settings(max_examples=10)
@given(data=st.data())
def test_a_number_that_the_labeled_rows_choose_does_not_depend_on_the_partition_either(data):
    case = data.draw(sieve_cases())
    case = replace(case, X=np.vstack([case.X] * 2), Y=np.vstack([np.hstack([case.Y, 1 - case.Y])] * 2))
    parameters = {"n_features_to_select": "auto", "n_bootstraps": 0}
    found, pooled = case.select(data.draw(partitions(case.others)), **parameters), case.pooled(**parameters)
    assert found.choice.k == pooled.choice.k
    assert_array_equal(found.choice.sizes, pooled.choice.sizes)
    assert_allclose(found.choice.loss, pooled.choice.loss, rtol=0, atol=1e-9)
    assert_allclose(found.choice.error, pooled.choice.error, rtol=0, atol=1e-9)
    assert found.n_selected == pooled.n_selected >= found.choice.k
    assert np.isnan(found.stability).all()


@given(data=st.data())
def test_what_is_not_correlated_is_like_nothing_whatever_the_partition(data):
    """Two columns of a balanced design: adding up over sites leaves rounding where there is no correlation."""
    X = np.array([[a, b, a + b] for a in (0.0, 1.0) for b in (0.0, 1.0)] * 9)
    case = SieveCase(X[:12], X[:12, :1], X[12:])
    found = case.select(data.draw(partitions(case.others)), n_features_to_select=1)
    assert found.order[0] == 0
    assert_allclose(found.redundancy, [0, 0, np.sqrt(0.5)], rtol=0, atol=1e-9)
    assert found.redundancy[1] == 0
    assert_array_equal(found.redundant_with, [-1, -1, 0])


@both
@settings(max_examples=15)
@given(case=sieve_cases())
def test_all_rows_twice_say_what_they_say_once_and_the_server_s_rows_are_among_them(parameters, case):
    once = case.select({"a": case.others[:2], "b": case.others[2:]}, **parameters)
    twice = case.select({"a": case.others, "b": case.others, "the server's": case.X}, **parameters)
    assert_same(twice, once)
    assert_array_equal(twice.order, once.order)


@both
def test_the_server_s_rows_count_once_more_where_a_client_holds_them_too(parameters):
    case = sieve_example()
    tables = thirds(case)
    once, more = (case.select(some, **parameters) for some in (tables, {**tables, "copy": case.X}))
    assert np.abs(once.relevance - more.relevance).max() > 1e-4


@both
@settings(max_examples=15)
@given(case=sieve_cases(kinds=VARIED), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_features_plays_no_part(parameters, case, seed):
    order = np.random.default_rng(seed).permutation(len(case.features))
    moved = case.with_columns(order)
    before, after = case.pooled(**parameters), moved.pooled(**parameters)
    assert_same(after, before, order)
    assert unit_order(moved, after) == unit_order(case, before)
    assert after.n_selected == before.n_selected


@both
@settings(max_examples=15)
@given(case=sieve_cases(kinds=VARIED), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_labels_plays_no_part(parameters, case, seed):
    moved = replace(case, Y=case.Y[:, np.random.default_rng(seed).permutation(case.Y.shape[1])])
    assert_same(moved.pooled(**parameters), case.pooled(**parameters))


@both
@settings(max_examples=15)
@given(case=sieve_cases(kinds=("number", "few", "copy", "mirror")), power=st.integers(-3, 9), shift=st.integers(-9, 9))
def test_units_of_measurement_play_no_part(parameters, case, power, shift):
    """Powers of two and whole shifts of values that are multiples of 1/1024 are exact."""
    other = replace(case, X=case.X * 2.0**power + shift, others=case.others * 2.0**power + shift)
    assert_same(other.pooled(**parameters), case.pooled(**parameters))


def as_group(case, name):
    """The codes of one column as 0/1 columns that are selected together, and the place each new column came from."""
    place = case.features.index(name)
    codes = np.arange(case.all_rows[:, place].min(), case.all_rows[:, place].max() + 1)
    spelled = tuple(f"{name} is {code:g}" for code in codes)

    def in_place(names):
        return tuple(new for old in names for new in (spelled if old == name else (old,)))

    def spread(X):
        return np.hstack([X[:, :place], X[:, [place]] == codes, X[:, place + 1 :]])

    groups = tuple(in_place(group) for group in case.groups if name in group) or (spelled,)
    groups += tuple(group for group in case.groups if name not in group)
    nominal = tuple(other for other in case.nominal if other != name)
    old = np.repeat(np.arange(len(case.features)), [len(in_place([feature])) for feature in case.features])
    return SieveCase(spread(case.X), case.Y, spread(case.others), nominal, groups, in_place(case.features)), old


@both
@settings(max_examples=15)
@given(case=sieve_cases(kinds=VARIED).filter(lambda case: case.nominal))
def test_codes_are_their_0_1_columns_in_one_group(parameters, case):
    spread, old = as_group(case, case.nominal[0])
    by_codes, by_group = case.pooled(**parameters), spread.pooled(**parameters)
    assert_same(by_group, by_codes, old)
    assert_array_equal(list(dict.fromkeys(old[by_group.order].tolist())), by_codes.order)


@both
@settings(max_examples=15)
@given(case=sieve_cases(kinds=VARIED), data=st.data())
def test_what_has_no_variance_comes_last_in_the_order_of_columns(parameters, case, data):
    """Numbers, codes and groups of them; a column that varies only between places has variance."""
    n_rows, n_others = len(case.X), len(case.others)
    still = {"c1": 0.1, "c2": -7.0, "c3": 3.0, "c4": 0.0}
    between = np.repeat([0.3, 0.8], [n_rows, n_others])  # the server's rows against all others
    table = np.hstack([np.tile(list(still.values()), (n_rows + n_others, 1)), between[:, None], case.all_rows])
    names = (*still, "between", *case.features)
    nominal, groups = (*case.nominal, "c2", "c3"), (*case.groups, ("c1", "c3"))
    with_still = SieveCase(table[:n_rows], case.Y, table[n_rows:], nominal, groups, names)
    order = with_still.select(data.draw(partitions(with_still.others)), **parameters).order
    assert [names[p] for p in order[-4:]] == ["c1", "c3", "c2", "c4"]  # a group is where its first column is


@settings(max_examples=15)
@given(case=sieve_cases(), data=st.data())
def test_a_group_counts_once_and_what_is_said_of_it_is_said_of_all_in_it(case, data):
    plan = case.plan()
    k = data.draw(st.integers(1, plan.n_units))
    selection = case.pooled(n_features_to_select=k)
    units = plan.unit_of[selection.order]
    chosen, left = set(units[: selection.n_selected]), set(units[selection.n_selected :])
    assert len(chosen) == k
    assert not chosen & left
    first = np.unique(plan.unit_of, return_index=True)[1]
    for name in REASONS:
        numbers = getattr(selection, name)
        assert_array_equal(numbers, numbers[first][plan.unit_of])


def test_auto_keeps_few_where_few_matter():
    rng = np.random.default_rng(4)
    X = rng.random((260, 20))
    Y = np.column_stack([X[:, 3] > 0.5, X[:, 3] < 0.3, X[:, 12] > 0.6, X[:, 12] < 0.4]).astype(float)
    case = SieveCase(X[:60], Y[:60], X[60:])
    selection = case.select({"a": X[60:150], "b": X[150:]}, n_features_to_select="auto", n_trees=100, n_bootstraps=0)
    assert set(selection.order[:2]) == {3, 12}
    assert 2 <= selection.n_selected == selection.choice.k <= 4
    assert [row["k"] for row in selection.facts()["sizes_tried"]] == selection.choice.sizes.tolist()
    assert case.plan().k == 8  # what is selected where nobody says


def test_auto_needs_rows_to_judge_by():
    case = sieve_example()
    case.Y[:] = case.Y[:, :1]  # all labels or none
    says = r"^Sieve: n_features_to_select=\"auto\" needs at least 10 labeled rows .*; there are 0\. Give a number"
    with pytest.raises(DataError, match=says):
        case.select(thirds(case), n_features_to_select="auto")


@settings(max_examples=20)
@given(data=st.data())
def test_products_without_a_covariance_are_those_with_it(data):
    """The wide path never makes the covariance C of all rows; what it adds up is N C W all the same."""
    case = data.draw(sieve_cases())
    heard = []

    def listen(ask, _name, reply):
        if isinstance(reply, m.Projections):
            heard.append((ask.request, reply))
        return reply

    drive(case.plan(**WIDE), case.rows, case.sites(data.draw(partitions(case.others))), listen)
    request = heard[0][0]
    pooled = reduce(add, (reply for _, reply in heard), request.answer(ArrayTable(case.features, case.X)))
    names, table = encoded(case.all_rows, case.features, case.nominal, case.all_rows)
    covariance = np.cov(table, rowvar=False, ddof=0)
    size = np.maximum(np.abs(request.weights).sum(axis=0), 1e-300)
    assert pooled.features == names
    assert request.weights.shape == (len(names), (np.ptp(case.Y, axis=0) > 0).sum())
    assert_allclose(pooled.deviations() / size, len(table) * covariance @ request.weights / size, rtol=0, atol=1e-9)
    assert_allclose(pooled.spreads(), len(table) * np.diagonal(covariance), rtol=0, atol=1e-9)
    coded = np.array(["=" in name for name in names])
    mean = table.mean(axis=0) - np.where(~coded & (np.ptp(table, axis=0) > 0), 0.5, 0.0)  # from the middle of its range
    assert_allclose(pooled.sums / len(table), mean, rtol=0, atol=1e-9)
    assert_allclose(pooled.weighted / len(table) / size, mean @ request.weights / size, rtol=0, atol=1e-9)


def test_the_table_is_wide_from_one_column_more_than_may_be_compared_on():
    case = sieve_example()
    tables = thirds(case)
    names, _ = encoded(case.all_rows, case.features, case.nominal, case.X)
    assert len(names) == 9  # 4 numbers, 3 and 2 codes
    enough, too_few = (case.run(tables, screen=n, n_features_to_select=2) for n in (9, 8))
    assert "AskProjections" not in kinds_asked(enough)
    assert "AskProjections" in kinds_asked(too_few)
    assert_same(enough.selection, case.select(tables, n_features_to_select=2))
    assert "AskProjections" not in kinds_asked(case.run(tables, screen=2, n_features_to_select=5))


def test_only_the_columns_that_promise_most_are_compared():
    case = sieve_example()
    plan = case.plan(screen=4, n_features_to_select=2)
    selection, asked = drive(plan, case.rows, case.sites(thirds(case)))
    request = asked[-1].request
    assert isinstance(request, m.AskCovariances)
    compared = request.columns.features
    out = selection.scores < 0
    assert set(compared) == {case.features[p] for p in np.flatnonzero(~out)}
    assert set(compared) == {case.features[p] for p in selection.order[: len(compared)]}
    assert set(request.columns.nominal) == set(compared) & set(case.nominal)
    assert 2 <= len(compared) < 6
    assert np.isnan(selection.redundancy[out]).all()
    assert np.isnan(selection.stability[out]).all()
    assert (selection.redundant_with[out] == -1).all()
    assert selection.relevance.sum() == pytest.approx(1)  # that of the screening, of all


@both
@pytest.mark.parametrize("ridge", [0.3, 1e-6])
@pytest.mark.parametrize("value", [0.0, 0.1, 0.3, 1.0])
def test_labeled_rows_that_do_not_differ_teach_nothing(parameters, ridge, value):
    """Neither does what rounding makes of their mean."""
    others = np.random.default_rng(0).random((20, 9))
    case = SieveCase(np.full((7, 9), value), np.eye(7, 2), others)
    selection = case.select({"a": others[:9], "b": others[9:]}, ridge=ridge, **parameters)
    assert_array_equal(selection.relevance, 0)
    assert_array_equal(selection.order, np.arange(9))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_labels_that_do_not_vary_are_told_before_anybody_is_asked(value):
    case = sieve_example()
    rows = Labeled(case.X, np.full_like(case.Y, value))
    with pytest.raises(
        DataError, match=r"^Sieve: no label varies over the 14 labeled rows; .* in some rows and not in others\.$"
    ):
        drive(case.plan(), rows, case.sites(thirds(case)), lambda *_: pytest.fail("asked"))


def test_groups_that_leave_room_for_fewer_than_k_are_selected_all_the_same():
    """Only one of the two best units fits into the columns that are compared; nobody knows how like it the other is."""
    rng = np.random.default_rng(0)
    X, others = rng.random((60, 7)), rng.random((80, 7))
    Y = np.column_stack([X[:, 4] + X[:, 5] > 1, X[:, 5] + X[:, 6] > 1, X[:, 2] + X[:, 4] > 1]).astype(int)
    selector = Sieve(2, groups=[[2, 3], [4, 5, 6]], screen=4, n_trees=20, n_bootstraps=2)
    selector.fit(X, Y, clients={"a": others[:40], "b": others[40:]})
    assert sorted(np.flatnonzero(selector.support_)) == [2, 3, 4, 5, 6]
    _, alike, features = selector._alike
    assert alike.shape == (3, 3)
    assert sorted(features) == [4, 5, 6]
