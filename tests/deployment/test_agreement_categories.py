"""Words and dates in an agreement: written, read again, part of the fingerprint, and told when they change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.categories import code_range
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.differences import differences
from fedsieve.errors import ParameterError

FEATURES = ["age", "sex", 'quote"d', "größe"]
LISTS = st.lists(st.text(min_size=1, max_size=6).map(str.strip).filter(bool), min_size=1, max_size=4, unique=True)


def text(**more):
    return agreement_text("fed", "h:1", ["a", "b"], FEATURES, ["y", "z"], **more)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(FEATURES), LISTS.map(tuple), max_size=3), st.sampled_from(["Sieve", "SSFMLFS"]))
def test_what_is_written_is_read_again(categories, method):
    read = parse_agreement(text(categories=categories, method=method, nominal=["sex"]))
    assert read.categories == categories
    assert read.method.nominal[0] == "sex"
    assert set(read.method.nominal) == {"sex", *categories}


@pytest.mark.parametrize("ranges", ["robust", "federated", {"age": (0, 99), 'quote"d': (0, 1), "größe": (0, 1)}])
def test_sites_need_no_bounds_for_words(ranges):
    """Codes beyond those of the labeled rows are refused unless it is known how many there are; here it is."""
    method = parse_agreement(text(categories={"sex": ("f", "m")}, ranges=ranges)).method
    known = method.bounds if ranges == "robust" else {} if ranges == "federated" else method.ranges
    assert ranges == "federated" or known["sex"] == code_range(("f", "m")) == (0, 2)


def test_an_agreement_without_words_is_what_it_was():
    assert "categories" not in text()
    assert "dates" not in text()
    assert parse_agreement(text()).fingerprint == parse_agreement(text() + "\n[categories]\n").fingerprint


def test_words_and_dates_are_part_of_what_is_agreed_on():
    agreed = [
        parse_agreement(one)
        for one in (
            text(),
            text(categories={"sex": ("f", "m")}),
            text(categories={"sex": ("m", "f")}),
            text(dates=["age"]),
        )
    ]
    assert len({one.fingerprint for one in agreed}) == 4
    assert "categories of 'sex': 'f', 'm', now 'm', 'f'" in differences(agreed[1], agreed[2])
    assert "dates: (), now 'age'" in differences(agreed[0], agreed[3])


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('[categories]\nhair = ["red"]\n', r"\[categories\] has unknown 'hair'"),
        ('[categories]\nsex = "f"\n', r"\[categories\]: 'sex' must be a list of words; got 'f'"),
        ('[categories]\nsex = ["f", "f"]\n', r"\[categories\]: the words of 'sex' must differ; 'f' occurs twice"),
    ],
)
def test_words_that_are_none_are_refused(more, says):
    with pytest.raises(ParameterError, match=says):
        parse_agreement(text() + more)


def test_dates_must_be_features():
    with pytest.raises(ParameterError, match=r"\[columns\]: dates names no such feature: 'born'"):
        parse_agreement(text(dates=["born"]))
