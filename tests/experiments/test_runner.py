"""Many runs: resumed, not repeated, with one or more processes, and mistakes before any work."""

import pytest

from fedsieve.errors import ParameterError
from fedsieve.experiments import runner
from fedsieve.experiments.config import Experiment, Method, Run
from fedsieve.experiments.records import Records
from fedsieve.experiments.runner import compute, pending

SMALL = Experiment(
    name="small",
    title="Small",
    kind="metrics",
    datasets=("digits",),
    methods=(Method("all features", "all features"), Method("largest deviation", "largest deviation")),
    seeds=(0, 1),
    k={"digits": 10},
    settings=(("scaling", ("raw",)), ("n_clients", 3)),
)


def test_an_interrupted_experiment_goes_on_where_it_stopped(tmp_path):
    records = Records(tmp_path / "records.jsonl")
    heard = []

    def stop_after_two(record):
        heard.append(record["key"])
        if len(heard) == 2:
            raise KeyboardInterrupt

    assert len(pending(SMALL, records)) == 4
    with pytest.raises(KeyboardInterrupt):
        compute(pending(SMALL, records), records, tell=stop_after_two)
    first = records.path.read_bytes()
    assert len(pending(SMALL, records)) == 2
    compute(pending(SMALL, records), records, tell=lambda record: heard.append(record["key"]))
    assert len(heard) == len(set(heard)) == 4
    assert records.path.read_bytes().startswith(first)
    assert pending(SMALL, records) == []


def test_two_processes_give_the_same_numbers_as_one(tmp_path):
    one, two = Records(tmp_path / "one.jsonl"), Records(tmp_path / "two.jsonl")
    compute(pending(SMALL, one), one)
    compute(pending(SMALL, two), two, jobs=2)
    metrics = [{key: record["metrics"] for key, record in records.read().items()} for records in (one, two)]
    assert metrics[0] == metrics[1]


def test_an_unknown_method_is_named_before_any_work(tmp_path):
    records = Records(tmp_path / "records.jsonl")
    with pytest.raises(ParameterError, match="no method 'magic'; there are 'Sieve', 'SSFMLFS', "):
        compute([Run("digits", "all features"), Run("digits", "magic")], records)
    assert not records.path.exists()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Run("digits", "SSFMLFS", k=65), "k of 'digits' must be at most n_features=64; got 65"),
        (Run("digits", "SSFMLFS", n_clients=2000), "Take fewer clients"),
        (Run("digits", "SSFMLFS", (("relatio", "x"),)), "SSFMLFS has no parameter 'relatio'"),
    ],
)
def test_a_run_that_cannot_be_done_is_found_before_any_work(tmp_path, wrong, message):
    records = Records(tmp_path / "records.jsonl")
    with pytest.raises(ParameterError, match=message):
        compute([Run("digits", "all features"), wrong], records)
    assert not records.path.exists()


def test_what_another_process_wrote_in_the_meantime_is_not_computed_again(tmp_path, monkeypatch):
    records = Records(tmp_path / "records.jsonl")
    runs = pending(SMALL, records)
    for run in runs:
        records.append({"key": run.key(), "metrics": {}})
    monkeypatch.setattr(runner, "evaluate", lambda run: pytest.fail(f"computed {run}"))
    compute(runs, records)
