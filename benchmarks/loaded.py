"""The datasets of benchmarks: the paper's five, four to design with, and the bundled digits."""

import os
from functools import cache
from pathlib import Path

from fedsieve.datasets import Dataset, load_arff
from fedsieve.experiments.selection import load_by_name

PAPER = ("cal500", "corel5k", "emotions", "enron", "yeast")
DESIGN = ("Arts1500", "human3106", "medical", "scene")


@cache
def loaded(name: str) -> Dataset:
    """By name; those to design with lie in a folder of their own beside the paper's."""
    if name in DESIGN:
        return load_arff(Path(os.environ["FEDSIEVE_DATA"]) / "design" / f"{name}.arff")
    return load_by_name(name)
