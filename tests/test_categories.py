"""Words as codes, and columns that only name their rows."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.categories import (
    OTHER,
    RARE,
    check_categories,
    code_range,
    codes,
    common_words,
    is_key,
    named_like_an_id,
)
from fedsieve.errors import ParameterError

WORDS = st.one_of(st.none(), st.sampled_from(["a", "b", "c", OTHER, "ä"]))
PARTS = st.lists(st.lists(WORDS, max_size=20), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(PARTS)
def test_words_do_not_depend_on_who_has_which_rows(parts):
    rows = [word for part in parts for word in part]
    counts = [Counter(word for word in part if word is not None) for part in parts]
    assert common_words(counts) == common_words([Counter(filter(None, rows))])
    assert set(common_words(counts)) == {w for w, n in Counter(rows).items() if w is not None and n >= RARE}


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS, max_size=30), st.lists(st.sampled_from(["a", "b", OTHER]), min_size=1, unique=True))
def test_a_code_leads_back_to_its_word(texts, words):
    found, n_unknown = codes(texts, words)
    low, high = code_range(words)
    for text, code in zip(texts, found, strict=True):
        assert np.isnan(code) if text is None else low <= code <= high
        if text is not None and not np.isnan(code):
            back = words[int(code)] if code < len(words) else OTHER
            assert back == (text if text in words else OTHER)
    assert n_unknown == sum(text is not None and text not in words for text in texts)


def test_codes_of_one_word_still_have_a_range():
    assert code_range([OTHER]) == code_range(["a"]) == (0.0, 1.0)


@pytest.mark.parametrize("name", ["ID", "Patient ID", "subject-id", "id_patient", "caseId", "sample.id", "UUID", "mrn"])
def test_names_of_ids(name):
    assert named_like_an_id(name)


@pytest.mark.parametrize("name", ["hybrid", "steroid", "fluid_ml", "bmi index", "Index of pain", "idea", "age"])
def test_names_of_features(name):
    assert not named_like_an_id(name)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["x1", "x2", None], True),
        (["x1", "x1"], False),
        (["x1"], False),
        (np.arange(1000, 1040), True),
        (np.arange(10), False),  # too few to say
        (np.arange(400_000, 400_000 + 40 * 7919, 7919), True),  # record numbers of six digits
        (np.arange(40) * 977, False),  # counts from 0 to many: they may all differ
        (np.r_[np.arange(40), 3], False),
    ],
)
def test_keys(values, expected):
    assert is_key(values) is expected


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"sex": "fm"}, "'sex' must be a list of words; got 'fm'."),
        ({"sex": []}, "'sex' must be a list of words"),
        ({"sex": [1, 2]}, "'sex' must be a list of words"),
        ({"sex": ["f", "m "]}, "the words of 'sex' must not be empty, nor begin or end with blanks."),
        ({"sex": [str(number) for number in range(1000)]}, "'sex' has 1000 words; fewer than 1000 are read."),
    ],
)
def test_words_that_no_cell_can_hold_are_refused(declared, says):
    with pytest.raises(ParameterError) as error:
        check_categories("f.toml", declared)
    assert str(error.value).startswith(f"f.toml: {says}")
