"""From records to means, verdicts and tests over datasets."""

import numpy as np
import pytest

from fedsieve.experiments.config import Experiment, Method
from fedsieve.experiments.significance import compare
from fedsieve.experiments.summary import Cell, Number, summarize

EXPERIMENT = Experiment(
    name="t",
    title="T",
    kind="metrics",
    datasets=("a", "b"),
    methods=(Method("SSFMLFS", "SSFMLFS"), Method("random", "random")),
    seeds=(0, 1, 2),
    settings=(("scaling", ("raw",)),),
)


def records(values):
    """Records with an average precision per (method, dataset, seed)."""
    found = {}
    for method in EXPERIMENT.methods:
        for run in EXPERIMENT.runs(method):
            value = values.get((run.method, run.dataset, run.seed))
            if value is not None:
                found[run.key()] = {"metrics": {"raw": {"average_precision": value}}}
    return found


def test_a_cell_is_the_mean_over_its_seeds_with_the_n_minus_1_deviation():
    numbers = summarize(
        EXPERIMENT, records({("SSFMLFS", "a", seed): value for seed, value in enumerate((1.0, 2.0, 6.0))})
    )
    number = numbers[Cell("a", "SSFMLFS", "raw", 0.2, "average_precision")]
    assert (number.mean, number.deviation) == (3.0, pytest.approx(np.std([1, 2, 6], ddof=1)))
    assert number.by_seed == {0: 1.0, 1: 2.0, 2: 6.0}
    assert len(numbers) == 1  # what is not recorded has no cell


def test_numbers_are_printed_with_digits_that_fit():
    assert str(Number(0.77491, 0.01234, {})) == "0.7749 ± 0.0123"
    assert str(Number(128.3, 1.5, {})) == "128.30 ± 1.50"


def test_a_method_that_always_wins_is_ranked_first_and_significant_with_enough_datasets(rng):
    base = rng.random((12, 1))
    values = np.hstack([base + 0.3, base + 0.01 * rng.random((12, 1)), base + 0.1])
    found = compare(("best", "worst", "middle"), values, "average_precision")
    assert list(found.mean_ranks) == [1, 3, 2]
    assert found.friedman_p < 0.01
    assert found.nemenyi_p[0, 1] < 0.01
    assert set(found.wilcoxon_p) == {"worst", "middle"}
    assert found.wilcoxon_p["worst"] < 0.01
    turned = compare(("best", "worst", "middle"), values, "ranking_loss")  # lower is better
    assert list(turned.mean_ranks) == [3, 1, 2]


def test_too_few_methods_or_datasets_cannot_be_compared():
    assert compare(("a", "b"), np.ones((5, 2)), "coverage") is None
    assert compare(("a", "b", "c"), np.ones((2, 3)), "coverage") is None
