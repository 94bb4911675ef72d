"""Gains over random features are those of the loops, from the seeds of which everything is recorded."""

import numpy as np
import pytest

from fedsieve.experiments.gains import Gains
from quality_records import ROWS, SMALL, drawn
from reference.gains_loops import cells_below, error, gain


def in_loops(experiment, records, dataset, classifier, seeds):
    """What the reference takes."""
    return {
        contender: {
            trial.seed: {
                e.share: records[trial.key()]["metrics"][e.name]
                for e in experiment.evaluations
                if e.classifier == classifier
            }
            for trial in experiment.trials(contender)
            if trial.dataset == dataset and trial.seed in seeds
        }
        for contender in experiment.contenders
    }


@pytest.mark.parametrize("bonus", [(), ((ROWS[0], 0.5),), ((ROWS[4], 0.3), (ROWS[0], 0.2)), ((ROWS[0], -3.0),)])
def test_gains_are_those_of_the_loops(bonus):
    records = drawn(SMALL, bonus)
    found = Gains(SMALL, records, ROWS[1], ROWS[0])
    for number, row in enumerate(ROWS):
        of_all = []
        for (dataset, classifier), measured in found.of.items():
            values = in_loops(SMALL, records, dataset, classifier, SMALL.seeds)
            expected = [gain(values, row, ROWS[1], ROWS[0], share) for share in (None, 1.0, 0.5)]
            assert [measured.gains(number, share) for share in (None, 0, 1)] == pytest.approx(
                expected, abs=1e-12, nan_ok=True
            )
            assert measured.below_random(number) == cells_below(values, row, ROWS[1])
            of_all.append(expected[0])
        assert found.mean(row, found.classifiers).mean == pytest.approx(np.nanmean(of_all), abs=1e-12)
        assert found.on("yeast", row, ("ML-kNN", "logistic")) == pytest.approx(
            np.mean(of_all[:2]), abs=1e-12, nan_ok=True
        )


def test_random_features_are_0_and_what_is_best_in_everything_1():
    found = Gains(SMALL, drawn(SMALL, ((ROWS[2], 2.0),)), ROWS[1], ROWS[0])
    assert found.mean(ROWS[1], found.classifiers).mean == 0
    best = found.mean(ROWS[2], found.classifiers)
    assert (best.mean, best.error) == (1.0, 0.0)
    assert found.mean_ranks("logistic", 1)[2] == 1
    ours = Gains(SMALL, drawn(SMALL, ((ROWS[0], 9.0), (ROWS[2], 1.0))), ROWS[1], ROWS[0])
    assert ours.mean(ROWS[0], ours.classifiers).mean == 2.0  # ours may be better than the best
    assert ours.mean(ROWS[2], ours.classifiers).mean == 1.0
    worst = Gains(SMALL, drawn(SMALL, ((ROWS[0], -9.0),)), ROWS[1], ROWS[0])
    assert worst.mean(ROWS[0], worst.classifiers).mean == -2.0
    assert worst.below_random(ROWS[0]) == (24, 24)
    assert worst.below_random(ROWS[0], without=("yeast",)) == (12, 12)


@pytest.mark.parametrize("classifiers", [("ML-kNN",), ("ML-kNN", "logistic")])
@pytest.mark.parametrize("lost", [None, 2])
def test_the_error_is_the_jackknife_s_over_seeds_of_all_classifiers_together(classifiers, lost):
    """Classifiers of the same splits were added up as if they were independent."""
    records = drawn(SMALL, ((ROWS[2], 0.5), (ROWS[0], 0.3)))
    if lost is not None:  # a seed of one of the classifiers
        trial = next(t for t in SMALL.trials(ROWS[3]) if (t.dataset, t.seed) == ("yeast", lost))
        del records[trial.key()]["metrics"][SMALL.evaluations[3].name]
    found = Gains(SMALL, records, ROWS[1], ROWS[0])
    seeds = {place: measured.seeds for place, measured in found.of.items()}
    values = {
        dataset: {c: in_loops(SMALL, records, dataset, c, seeds[dataset, c]) for c in classifiers}
        for dataset in SMALL.datasets
    }
    for row in (ROWS[0], ROWS[3]):
        expected = error(values, row, ROWS[1], ROWS[0])
        assert found.mean(row, classifiers).error == pytest.approx(expected)


def test_only_seeds_count_of_which_everything_is_recorded():
    records = drawn(SMALL)
    lost = next(t for t in SMALL.trials(ROWS[3]) if (t.dataset, t.seed) == ("yeast", 2))
    del records[lost.key()]["metrics"][SMALL.evaluations[3].name]  # of the logistic regression
    for trial in SMALL.trials(ROWS[4]):
        if trial.dataset == "design/scene" and trial.seed != 1:
            del records[trial.key()]
    found = Gains(SMALL, records, ROWS[1], ROWS[0])
    assert {place: measured.seeds for place, measured in found.of.items()} == {
        ("yeast", "ML-kNN"): (0, 1, 2, 3),
        ("yeast", "logistic"): (0, 1, 3),
        ("design/scene", "ML-kNN"): (1,),
        ("design/scene", "logistic"): (1,),
    }
    assert np.isnan(found.mean(ROWS[0], found.classifiers).error)  # of one seed there is none
    assert found.below_random(ROWS[0])[1] == 12
    assert not Gains(SMALL, {}, ROWS[1], ROWS[0]).of
