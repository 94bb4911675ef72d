"""A multi-label dataset in memory: features, labels, their names, and the official split where there is one."""

from dataclasses import dataclass

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
