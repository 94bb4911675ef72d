"""The five datasets of the paper's Table 1 as they are known."""

import re

import pytest

from fedsieve import datasets
from fedsieve.datasets.registry import KNOWN, known_dataset
from fedsieve.errors import ParameterError

TABLE_1 = {  # rows, features, labels, selected features, domain
    "cal500": (502, 68, 174, 27, "music"),
    "corel5k": (5000, 499, 374, 150, "images"),
    "emotions": (593, 72, 6, 28, "music"),
    "enron": (1702, 1001, 53, 100, "text"),
    "yeast": (2417, 103, 14, 31, "biology"),
}


def test_the_five_are_available():
    assert datasets.available() == tuple(TABLE_1) == tuple(KNOWN)


@pytest.mark.parametrize("name", TABLE_1)
def test_an_entry_agrees_with_the_paper_and_with_itself(name):
    known = known_dataset(name)
    assert (known.n_samples, known.n_features, known.n_labels, known.k, known.domain) == TABLE_1[name]
    assert sum(known.split or (known.n_samples,)) == known.n_samples
    assert set(known.files) == {*known.rows, known.labels}
    assert len(known.rows) == (2 if known.split else 1)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in known.files.values())
    assert re.search(r"[A-Z]\. [A-Z].*: .* (19|20)\d\d", known.source)
    if known.split:
        train, test = known.rows
        assert train.replace("train", "test") == test


def test_no_two_files_are_the_same():
    digests = [digest for known in KNOWN.values() for digest in known.files.values()]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize("name", ["Yeast", "Corel5k", "CAL500"])
def test_the_papers_spelling_is_understood(name):
    assert known_dataset(name).name == name.lower()


@pytest.mark.parametrize("name", ["digits", "", "yeast ", None, 3])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(ParameterError) as error:
        datasets.load(name)
    assert str(error.value).startswith(
        f"datasets: name must be one of 'cal500', 'corel5k', 'emotions', 'enron', 'yeast'; got {name!r}."
    )
