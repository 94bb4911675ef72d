"""Data to select from: the bundled digits, tables on disk, and ways to spread rows over clients."""

from fedsieve.datasets import partition
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.digits import load_digits

__all__ = ["Dataset", "load_digits", "partition"]
