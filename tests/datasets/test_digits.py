"""The bundled digits: real images, and labels that follow from the digit."""

import numpy as np
import pytest
from sklearn.datasets import load_digits as load_images

from fedsieve import datasets

MEANING = {
    "even": lambda digit: digit % 2 == 0,
    "prime": lambda digit: digit > 1 and all(digit % factor for factor in range(2, digit)),
    "square": lambda digit: round(digit**0.5) ** 2 == digit,
    "multiple_of_three": lambda digit: digit % 3 == 0,
    "five_or_more": lambda digit: digit >= 5,
    "closed_loop": lambda digit: str(digit) in "0689",
    "straight_strokes": lambda digit: str(digit) in "147",
    "mirror_symmetric": lambda digit: str(digit) in "018",
}


@pytest.fixture(scope="module")
def digits() -> datasets.Dataset:
    return datasets.load_digits()


def test_shapes_and_kinds(digits):
    assert digits.X.shape == (1797, 64)
    assert digits.Y.shape == (1797, 8)
    assert digits.X.dtype == np.float64
    assert digits.Y.dtype == np.int64
    assert set(np.unique(digits.Y)) == {0, 1}
    assert digits.name == "digits"
    assert digits.train is None
    assert digits.test is None


def test_pixels_are_those_of_the_images_and_named_by_row_and_column(digits):
    images = load_images().images
    for name, row, column in (("pixel_0_0", 0, 0), ("pixel_2_5", 2, 5), ("pixel_7_3", 7, 3)):
        assert np.array_equal(digits.X[:, digits.feature_names.index(name)], images[:, row, column])
    assert len(set(digits.feature_names)) == 64


@pytest.mark.parametrize("label", MEANING)
def test_a_label_is_true_of_its_digits(digits, label):
    expected = [MEANING[label](int(digit)) for digit in load_images().target]
    assert np.array_equal(digits.Y[:, digits.label_names.index(label)], expected)


def test_every_label_is_described(digits):
    assert set(digits.label_names) == set(MEANING)
    assert all(label in datasets.load_digits.__doc__ for label in digits.label_names)


def test_ten_digits_have_ten_different_label_sets(digits):
    target = load_images().target
    assert len({tuple(digits.Y[target == digit][0]) for digit in range(10)}) == 10


def test_exactly_three_pixels_are_constant(digits):
    assert int((np.ptp(digits.X, axis=0) == 0).sum()) == 3


def test_each_call_gives_tables_of_its_own(digits):
    again = datasets.load_digits()
    again.X[:] = -1
    again.Y[:] = -1
    assert digits.X.min() == 0
    assert datasets.load_digits().X.min() == 0
    assert datasets.load_digits().Y.min() == 0
