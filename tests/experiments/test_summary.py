"""From records to means, verdicts and tests over datasets."""

import numpy as np
import pytest

from fedsieve.experiments.config import Contender, Experiment, Point
from fedsieve.experiments.evaluation import Evaluation
from fedsieve.experiments.summary import Cell, Number, compare, gain, summarize

RAW = Evaluation(scaling="raw")
EXPERIMENT = Experiment(
    name="t",
    title="T",
    kind="metrics",
    datasets=("a", "b"),
    contenders=(Contender("SSFMLFS", "SSFMLFS"), Contender("random", "random")),
    seeds=(0, 1, 2),
    evaluations=(RAW,),
)


def records(values):
    """Records with an average precision per (method, dataset, seed)."""
    found = {}
    for contender in EXPERIMENT.contenders:
        for trial in EXPERIMENT.trials(contender):
            value = values.get((trial.method, trial.dataset, trial.seed))
            if value is not None:
                other = {"average_precision": 77.0}
                found[trial.key()] = {"metrics": {RAW.name: {"average_precision": value}, "ML-kNN, scaled, all": other}}
    return found


def test_a_cell_is_the_mean_over_its_seeds_with_the_n_minus_1_deviation():
    numbers = summarize(
        EXPERIMENT, records({("SSFMLFS", "a", seed): value for seed, value in enumerate((1.0, 2.0, 6.0))})
    )
    number = numbers[Cell("a", EXPERIMENT.contenders[0], RAW, Point(0.2), "average_precision")]
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
    assert list(found.average_ranks) == [1, 3, 2]
    assert found.friedman_p < 0.01
    assert found.nemenyi_p[0, 1] < 0.01
    assert set(found.wilcoxon_p) == {"worst", "middle"}
    assert found.wilcoxon_p["worst"] < 0.01
    turned = compare(("best", "worst", "middle"), values, "ranking_loss")  # lower is better
    assert list(turned.average_ranks) == [3, 1, 2]


def test_too_few_methods_or_datasets_cannot_be_compared():
    assert compare(("a", "b"), np.ones((5, 2)), "coverage") is None
    assert compare(("a", "b", "c"), np.ones((2, 3)), "coverage") is None


def number(*values):
    return Number(float(np.mean(values)), 0.0, dict(enumerate(values)))


def test_a_difference_counts_when_it_is_beyond_its_standard_error():
    ours, theirs = number(0.8, 0.7, 0.9), number(0.7, 0.6, 0.8)
    assert gain(ours, theirs, "average_precision").verdict == "better than"
    assert gain(ours, theirs, "ranking_loss").verdict == "worse than"
    assert gain(number(0.8, 0.6, 0.7), number(0.7, 0.7, 0.7), "coverage").verdict == "no different from"
    assert gain(number(0.8), number(0.7), "coverage").verdict == "no different from"  # one seed has no error


def test_a_gain_is_the_mean_difference_over_shared_seeds_and_its_error():
    ours, theirs = number(5.0, 3.0, 4.0, 9.0), number(6.0, 6.0, 9.0)
    found = gain(ours, theirs, "coverage")  # 1, 3 and 5 lower
    assert (found.mean, found.error) == (pytest.approx(3.0), pytest.approx(2 / np.sqrt(3)))
