"""Two selections beside each other, in plain values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve.errors import DataError
from fedsieve.experiments.two_selections import compare_selections


def record(order, n_selected, method="Sieve"):
    return {"method": method, "order": list(order), "selected": list(order)[:n_selected]}


def test_the_numbers_are_those_counted_by_hand():
    found = compare_selections(record("abcdef", 3), record("bacfed", 2))
    assert (found["overlap"], found["n_selected"], found["jaccard"]) == (2, [3, 2], 2 / 3)
    assert found["overlap_by_chance"] == 1.0
    assert (found["entered"], found["left"]) == ([], ["c"])
    assert found["overlap_at"] == [
        {"k": 1, "overlap": 0, "jaccard": 0.0},
        {"k": 2, "overlap": 2, "jaccard": 1.0},
        {"k": 3, "overlap": 3, "jaccard": 1.0},
        {"k": 5, "overlap": 4, "jaccard": 4 / 6},
    ]
    assert found["kendall"] == pytest.approx((15 - 2 * 4) / 15)  # ab, de, df, ef are swapped
    assert found["spearman"] == pytest.approx(1 - 6 * (1 + 1 + 4 + 0 + 4) / (6 * 35))
    assert found["features"][3] == {"feature": "d", "first": 4, "second": 6, "moved": -2}


def test_unlike_features_are_compared_on_the_common_ones():
    found = compare_selections(record("axbc", 2), record("cyba", 2))
    assert (found["only_in_first"], found["only_in_second"], found["n_common"]) == (["x"], ["y"], 3)
    assert (found["left"], found["entered"], found["n_selected"]) == (["a"], ["c"], [1, 1])
    assert [row["second"] for row in found["features"]] == [3, 2, 1]
    with pytest.raises(DataError, match="rank no feature in common"):
        compare_selections(record("ab", 1), record("cd", 1))


orders = st.permutations("abcdefg")


@given(orders, orders, st.integers(1, 7), st.integers(1, 7))
def test_the_other_way_round_is_the_mirror_image(one, other, k, m):
    there, back = (
        compare_selections(record(one, k), record(other, m)),
        compare_selections(record(other, m), record(one, k)),
    )
    for name in ("overlap", "jaccard", "overlap_at", "overlap_by_chance", "n_common"):
        assert there[name] == back[name]
    assert there["kendall"] == pytest.approx(back["kendall"])
    assert (there["entered"], there["left"]) == (back["left"], back["entered"])
    json.dumps(there, allow_nan=False)


@given(orders, st.integers(1, 7))
def test_a_selection_is_like_itself(order, k):
    found = compare_selections(record(order, k), record(order, k))
    assert (found["jaccard"], found["entered"], found["left"]) == (1.0, [], [])
    assert found["kendall"] == pytest.approx(1)
    assert all(row["moved"] == 0 for row in found["features"])
