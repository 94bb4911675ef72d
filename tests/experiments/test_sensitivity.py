"""One factor at a time: which rows a file expands to, that usual values are nobody's variant, and the hours."""

from pathlib import Path

import pytest

from fedsieve.errors import ParameterError
from fedsieve.experiments import hours
from fedsieve.experiments.config import Trial
from fedsieve.experiments.experiment_file import read_experiment
from fedsieve.experiments.hours import estimated_hours
from fedsieve.experiments.records import Records
from fedsieve.experiments.runner import Task, pending
from fedsieve.experiments.sensitivity import random_beside, variants

GOOD = """
title = "What matters"
kind = "sensitivity"
datasets = ["digits", "yeast"]
k = { digits = 10, yeast = 31 }
scaling = ["raw"]
n_clients = 4
alpha = 0.5
seeds = [7]
crossed = [["lam", "relation"]]

[factors]
lam = [0.8, 1.2]
relation = ["distance", "similarity"]
n_clients = [2, 4]
alpha = [0.5, "iid"]
k = [0.25]

[[method]]
name = "SSFMLFS"

[[method]]
name = "random"

[[method]]
name = "all features"
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "factors.toml"
        path.write_text(text)
        return path

    return write


def test_each_value_is_a_row_and_the_usual_ones_are_the_first(write):
    experiment = read_experiment(write(GOOD))
    base = experiment.contenders[0]
    found = variants(experiment)
    assert list(found) == ["lam", "relation", "n_clients", "alpha", "k", "lam and relation"]
    assert [row.contender == base for row in found["lam"]] == [False, True]
    assert [row.contender == base for row in found["n_clients"]] == [False, True]
    assert [row.contender == base for row in found["alpha"]] == [True, False]
    assert found["lam"][0].contender.parameters == (("lam", 0.8),)
    assert found["n_clients"][0].contender.settings == (("n_clients", 2),)
    assert found["alpha"][1].contender.settings == (("partition", "iid"),)
    crossed = [row.contender.parameters for row in found["lam and relation"]]
    assert crossed == [
        (("lam", 0.8),),
        (("lam", 0.8), ("relation", "similarity")),
        (),
        (("relation", "similarity"),),
    ]
    # lam = 0.8 alone is in the crossing too, under the words of that; the trial is one.
    trials = {trial.key() for row in experiment.contenders for trial in experiment.trials(row)}
    assert len(trials) == 2 * (3 + 1 + 1 + 1 + 1 + 1 + 1 + 1)  # three methods, five factors, both, random at that k


def test_variants_are_trials_like_any_others(write):
    experiment = read_experiment(write(GOOD))
    found = variants(experiment)
    few, many = (experiment.trials(row.contender)[0] for row in found["n_clients"])
    assert few == Trial("digits", "SSFMLFS", "server", (), 10, n_clients=2, seed=7)
    assert many == Trial("digits", "SSFMLFS", "server", (), 10, n_clients=4, seed=7)
    iid = experiment.trials(found["alpha"][1].contender)[0]
    assert iid == Trial("digits", "SSFMLFS", "server", (), 10, n_clients=4, partition="iid", seed=7)
    (row,) = found["k"]
    assert [trial.k for trial in experiment.trials(row.contender)] == [16, 26]  # a quarter of 64 and of 103
    beside = random_beside(experiment, row.contender)
    assert beside in experiment.contenders
    assert [trial.k for trial in experiment.trials(beside)] == [16, 26]
    assert random_beside(experiment, found["n_clients"][0].contender) == experiment.contender("random")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("lam = [0.8, 1.2]", "lambda = [1]"), r"\[factors\] 'lambda' is no parameter of SSFMLFS, nor one of 'k', 'al"),
        (("lam = [0.8, 1.2]", "lam = 2"), r"\[factors\] lam must be a list of values; got 2"),
        (
            ("n_clients = [2, 4]", "n_clients = [1]"),
            r"\[factors\] n_clients must be whole numbers of at least 2; got 1",
        ),
        (('[0.5, "iid"]', '["IID"]'), r"\[factors\] alpha must be positive numbers or \"iid\"; got 'IID'"),
        (("k = [0.25]", "k = [1]"), r"\[factors\] k must be shares of the features, above 0 and below 1; got 1"),
        (('["lam", "relation"]', '["lam", "damping"]'), r"crossed takes lists of two or more of the \[factors\]; got"),
        (('["lam", "relation"]', '["lam"]'), "crossed takes lists of two or more"),
        (('kind = "sensitivity"', 'kind = "metrics"'), r"kind 'sensitivity' needs the table \[factors\], and no other"),
    ],
)
def test_mistakes_are_named(write, change, words):
    assert change[0] in GOOD
    with pytest.raises(ParameterError, match=words):
        read_experiment(write(GOOD.replace(*change, 1)))


def test_the_file_of_the_paper_can_be_read():
    experiment = read_experiment(Path(__file__).parents[2] / "benchmarks" / "paper" / "sensitivity.toml")
    assert len(experiment.seeds) >= 5
    assert not set(experiment.seeds) & {0, 1, 2, 3, 4}  # of the tables that the recommended setting is judged by
    found = variants(experiment)
    assert [row.values[0][1] for row in found["lam"]] == pytest.approx([0.4 + 0.2 * step for step in range(9)])
    for rows in found.values():  # in every factor but k, the default is one of the values
        assert any(row.contender == experiment.contenders[0] for row in rows) or rows is found["k"]


def test_where_nothing_is_recorded_a_run_of_each_method_is_timed_until_the_time_is_over(write, tmp_path, monkeypatch):
    experiment = read_experiment(write(GOOD.replace('"digits", "yeast"', '"digits"')))
    for seconds, n_timed in ((60, 3), (0, 1)):
        monkeypatch.setattr(hours, "TIMING_SECONDS", seconds)
        records = Records(tmp_path / f"{seconds}.jsonl")
        tasks = pending(experiment, records)
        assert hours.time_some(tasks, records) == n_timed
        left = pending(experiment, records)
        assert len(left) == len(tasks) - n_timed
        assert 0 < estimated_hours(left, records) < 1


def test_hours_are_those_of_alike_runs(write, tmp_path):
    experiment = read_experiment(write(GOOD.replace('"digits", "yeast"', '"digits"')))
    records = Records(tmp_path / "records.jsonl")
    tasks = pending(experiment, records)
    assert estimated_hours(tasks, records) is None
    old = Trial("digits", "SSFMLFS", "server", seed=99)
    known = {"trial": {"dataset": "digits", "method": "SSFMLFS"}, "metrics": {"a": {}, "b": {}}, "k": 10}
    records.append({"key": old.key(), **known, "seconds": {"select": 3600.0, "classify": 7200.0}})
    own = [task for task in tasks if task.trial.method == "SSFMLFS" and task.trial.k == 10]
    assert estimated_hours(own, records) == pytest.approx(2.0 * len(own))  # an hour to select, one to classify
    wider = [task for task in tasks if task.trial.method == "SSFMLFS" and task.trial.k == 16]
    assert estimated_hours(wider, records) == pytest.approx(2.6 * len(wider))
    foreign = Task(Trial("yeast", "random", "none"), own[0].evaluations)
    assert estimated_hours([foreign], records) == pytest.approx(2.0)
    spent = {"prepare": 1800.0, "select": 7200.0, "classify": 3600.0}  # of processors, beside less of the clock
    records.append({"key": "new", **known, "seconds": dict.fromkeys(spent, 1.0), "cpu_seconds": spent})
    assert estimated_hours(own, records) == pytest.approx(3.0 * len(own))
    elsewhere = Records(tmp_path / "new.jsonl")
    assert estimated_hours(own, elsewhere, records) == pytest.approx(3.0 * len(own))
    chosen = {**known, "seconds": {}, "selected": ["a"]}
    records.append({"key": own[0].trial.key(), **chosen})  # it wants another classifier only
    assert estimated_hours(own, records) == pytest.approx(3.0 * len(own) - 2.0)
    assert estimated_hours(own, elsewhere, records) == pytest.approx(3.0 * len(own))  # where it is not selected yet
