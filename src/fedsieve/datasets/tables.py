"""The user's own CSV or Parquet table as a dataset."""

from collections.abc import Sequence
from pathlib import Path

from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.files import numeric_columns, read_table
from fedsieve.datasets.findings import warn_of
from fedsieve.datasets.label_columns import feature_columns, labels_beside, zero_or_one


def load_table(
    path: str | Path, labels: str | Path | Sequence[str] | None = None, *, drop: Sequence[str] = ()
) -> Dataset:
    """Read a CSV or Parquet file whose columns are features and labels.

    `labels` is a list of names, "y1,y2", "prefix:label_" or the path of a Mulan XML file; by default the XML file with
    the same stem beside the table. Label columns hold 0 and 1 (or true and false) without gaps; all others are features
    and hold numbers, NaN where one is missing, but for those to `drop`. Of columns with
    one name the later ones become NAME.2, NAME.3 and so on.

    Warns (`FedSieveWarning`) of repeated names, and of features that equal a label or are constant.
    """
    dataset = table_dataset(Path(path), labels, drop)
    warn_of(dataset, str(path))
    return dataset


def table_dataset(path: Path, labels: str | Path | Sequence[str] | None = None, drop: Sequence[str] = ()) -> Dataset:
    """The same without a word about what looks wrong in the data."""
    table = read_table(path, number_repeated=True)
    chosen = labels_beside(path, labels, table.column_names)
    features = feature_columns(table.column_names, chosen, drop, str(path))
    return Dataset(
        name=path.stem,
        X=numeric_columns(table, features, str(path)),
        Y=zero_or_one(numeric_columns(table, chosen, f"{path}, labels"), chosen, str(path)),
        feature_names=tuple(features),
        label_names=tuple(chosen),
        files=(str(path),),
    )
