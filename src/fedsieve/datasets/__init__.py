"""Data to select from: the bundled digits, five known datasets, tables on disk, ways to spread rows over clients."""

from fedsieve.datasets import partition
from fedsieve.datasets.arff import load_arff
from fedsieve.datasets.dataset import Dataset, load_digits
from fedsieve.datasets.description import Description, describe
from fedsieve.datasets.fetch import load
from fedsieve.datasets.registry import available
from fedsieve.datasets.tables import load_table

__all__ = [
    "Dataset",
    "Description",
    "available",
    "describe",
    "load",
    "load_arff",
    "load_digits",
    "load_table",
    "partition",
]
