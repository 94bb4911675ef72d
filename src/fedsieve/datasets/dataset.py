"""What a dataset is, and the one that comes with the package: handwritten digits."""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Int, Rows


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows `X` (n_samples, n_features), labels `Y` (n_samples, n_labels) in {0, 1}, and names for both.

    `train` and `test` are row numbers of the official split. `nominal` names the features whose values are codes that
    have no order. `source` cites where the data comes from, and `files` are the paths it was read from.
    """

    name: str
    X: Rows
    Y: Int
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    train: Int | None = None
    test: Int | None = None
    nominal: tuple[str, ...] = ()
    source: str = ""
    files: tuple[str, ...] = ()


LABELS: dict[str, frozenset[int]] = {
    "even": frozenset({0, 2, 4, 6, 8}),
    "prime": frozenset({2, 3, 5, 7}),
    "square": frozenset({0, 1, 4, 9}),
    "multiple_of_three": frozenset({0, 3, 6, 9}),
    "five_or_more": frozenset({5, 6, 7, 8, 9}),
    "closed_loop": frozenset({0, 6, 8, 9}),
    "straight_strokes": frozenset({1, 4, 7}),
    "mirror_symmetric": frozenset({0, 1, 8}),
}
"""Label -> the digits that have it. A handwritten 4 is often open, so it has no `closed_loop`."""

SIDE = 8


def load_digits() -> Dataset:
    """The 1797 handwritten digits of scikit-learn, 8 x 8 pixels with 17 gray levels, and eight labels.

    Labels: `even`, `prime`, `square`, `multiple_of_three`, `five_or_more` (arithmetic), `closed_loop` (0, 6, 8, 9),
    `straight_strokes` (1, 4, 7), `mirror_symmetric` (0, 1, 8; left and right alike). Features are pixels, named
    `pixel_<row>_<column>` from the top left; three of them are constant. Source: E. Alpaydin, C. Kaynak, "Optical
    Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998 (its test set).

    >>> digits = load_digits()
    >>> digits.X.shape, digits.Y.shape, digits.feature_names[9]
    ((1797, 64), (1797, 8), 'pixel_1_1')
    """
    from sklearn.datasets import load_digits as load_images

    images = load_images()
    return Dataset(
        name="digits",
        X=np.asarray(images.data, dtype=np.float64),
        Y=np.array([[digit in having for having in LABELS.values()] for digit in images.target], dtype=np.int64),
        feature_names=tuple(f"pixel_{row}_{column}" for row in range(SIDE) for column in range(SIDE)),
        label_names=tuple(LABELS),
    )
