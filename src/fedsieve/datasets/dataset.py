"""A multi-label dataset in memory: features, labels, their names, and the official split where there is one."""

from dataclasses import dataclass

from fedsieve.arrays import Int, Rows


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows `X` (n_samples, n_features), labels `Y` (n_samples, n_labels) in {0, 1}, and names for both."""

    name: str
    X: Rows
    Y: Int
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    train: Int | None = None
    test: Int | None = None
