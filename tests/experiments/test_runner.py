"""Many trials: resumed, extended, not repeated, with one or more processes, and mistakes before any work."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler

from fedsieve.datasets import load_digits
from fedsieve.errors import ParameterError
from fedsieve.experiments import evaluation, runner, selection
from fedsieve.experiments.classifiers import CLASSIFIERS
from fedsieve.experiments.config import Contender, Experiment, Trial
from fedsieve.experiments.evaluation import Evaluation
from fedsieve.experiments.experiment_file import read_experiment
from fedsieve.experiments.records import Records
from fedsieve.experiments.runner import Task, compute, evaluate, pending
from fedsieve.experiments.selection import deal_out
from fedsieve.learning import MLkNN, metrics
from fedsieve.selectors import RandomFeatures

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CONFIGS = sorted(BENCHMARKS.glob("*/*.toml"))
RAW, SCALED, LOGISTIC = Evaluation(scaling="raw"), Evaluation(), Evaluation("logistic", "raw")
SMALL = Experiment(
    name="small",
    title="Small",
    kind="metrics",
    datasets=("digits",),
    contenders=(Contender("all features", "all features"), Contender("largest deviation", "largest deviation")),
    seeds=(0, 1),
    k={"digits": 10},
    evaluations=(RAW,),
    settings=(("n_clients", 3),),
)
TRIAL = Trial("digits", "SSFMLFS", "server", k=20, n_clients=5)


def test_the_record_says_what_was_done_and_measured():
    task = Task(TRIAL, (SCALED, RAW))
    record = evaluate(task)
    assert record["key"] == TRIAL.key()
    assert record["trial"]["labels"] == "server"
    assert record["k"] == len(record["selected"]) == 20
    assert set(record["metrics"]) == {"ML-kNN, scaled, all", "ML-kNN, raw, all"}
    assert record["bytes"]["PairSums"] > 0
    assert sum(record["client_bytes"].values()) == sum(record["bytes"].values())
    assert list(record["client_bytes"]) == [f"client-{i:02d}" for i in range(5)]
    assert record["rows"]["server"] == 252
    assert record["peak_mb"] > 1
    assert set(record["seconds"]) == set(record["cpu_seconds"]) == {"prepare", "select", "classify"}
    assert all(0 < spent < 60 for of_clock in ("seconds", "cpu_seconds") for spent in record[of_clock].values())
    assert "fedsieve" in record["versions"]
    again = evaluate(task)
    assert again["metrics"] == record["metrics"]
    assert json.loads(json.dumps(record))["metrics"] == record["metrics"]


def test_all_features_is_ml_knn_on_the_whole_table():
    digits, trial = load_digits(), replace(TRIAL, method="all features", labels="none")
    rows = deal_out(trial, digits)
    X = MinMaxScaler().fit(digits.X[rows.train]).transform(digits.X)
    model = MLkNN().fit(X[rows.train], digits.Y[rows.train])
    expected = metrics.average_precision(digits.Y[rows.test], model.predict_proba(X[rows.test]))
    found = evaluate(Task(trial, (SCALED,)))["metrics"][SCALED.name]["average_precision"]
    assert found == pytest.approx(expected, abs=1e-12)


def test_with_the_server_s_labels_only_the_classifier_knows_less():
    server = Evaluation(scaling="raw", classifier_labels="server")
    found = evaluate(Task(TRIAL, (RAW, server)))["metrics"]
    assert found[RAW.name]["average_precision"] > found[server.name]["average_precision"]


def test_random_features_are_the_average_of_several_draws(monkeypatch):
    digits, trial = load_digits(), replace(TRIAL, method="random", labels="none", seed=3)
    monkeypatch.setattr(selection, "N_RANDOM_DRAWS", 2)
    record = evaluate(Task(trial, (RAW,)))
    rows, values = deal_out(trial, digits), []
    for draw in (3000, 3001):
        chosen = RandomFeatures(20, random_state=draw).fit(digits.X[rows.train]).support_
        model = MLkNN().fit(digits.X[rows.train][:, chosen], digits.Y[rows.train])
        values.append(metrics.ranking_loss(digits.Y[rows.test], model.predict_proba(digits.X[rows.test][:, chosen])))
    assert values[0] != values[1]
    assert record["metrics"][RAW.name]["ranking_loss"] == pytest.approx(np.mean(values), abs=1e-12)
    assert record["selected"] is None


PEAKS = """
import numpy as np
from fedsieve.experiments.runner import peak_megabytes, reset_peak

reset_peak()
before = peak_megabytes()
block = np.ones(60_000_000 // 8)
during = peak_megabytes()
del block
reset_peak()
print(before, during, peak_megabytes())
"""


def test_the_peak_is_that_of_the_stretch():
    """In a process of its own: what others have freed may be given back at any time, and hide a peak."""
    done = subprocess.run([sys.executable, "-c", PEAKS], capture_output=True, text=True, check=True)
    before, during, after = map(float, done.stdout.split())
    assert 50 < during - before < 90
    assert after < during - 40


def test_an_interrupted_experiment_goes_on_where_it_stopped(tmp_path):
    records = Records(tmp_path / "records.jsonl")
    heard = []

    def stop_after_two(trial):
        heard.append(trial)
        if len(heard) == 2:
            raise KeyboardInterrupt

    assert len(pending(SMALL, records)) == 4
    with pytest.raises(KeyboardInterrupt):
        compute(pending(SMALL, records), records, tell=stop_after_two)
    first = records.path.read_bytes()
    assert len(pending(SMALL, records)) == 2
    compute(pending(SMALL, records), records, tell=heard.append)
    assert len(heard) == len(set(heard)) == 4
    assert records.path.read_bytes().startswith(first)
    assert pending(SMALL, records) == []


def test_a_further_classifier_computes_what_is_missing_and_no_more(tmp_path, monkeypatch):
    records, fresh = Records(tmp_path / "records.jsonl"), Records(tmp_path / "fresh.jsonl")
    compute(pending(SMALL, records), records)
    first, before = records.read(), records.path.read_bytes()
    both = replace(SMALL, evaluations=(RAW, LOGISTIC))
    compute(pending(both, fresh), fresh)

    assert [task.evaluations for task in pending(both, records)] == [(LOGISTIC,)] * 4
    monkeypatch.setattr(runner, "select", lambda trial, *_: pytest.fail(f"selected again: {trial}"))
    monkeypatch.setitem(CLASSIFIERS, "ML-kNN", evaluation.Classifier(lambda: pytest.fail("ML-kNN learned again")))
    compute(pending(both, records), records)
    assert pending(both, records) == pending(SMALL, records) == []
    assert records.path.read_bytes().startswith(before)
    found = records.read()
    assert {key: record["metrics"] for key, record in found.items()} == {
        key: record["metrics"] for key, record in fresh.read().items()
    }
    assert all(found[key]["seconds"] == record["seconds"] for key, record in first.items())


def test_draws_of_random_features_are_drawn_again_for_a_further_classifier(tmp_path, monkeypatch):
    monkeypatch.setattr(selection, "N_RANDOM_DRAWS", 2)
    chance = replace(SMALL, contenders=(Contender("random", "random"),), seeds=(0,))
    both = replace(chance, evaluations=(RAW, SCALED))
    records, fresh = Records(tmp_path / "records.jsonl"), Records(tmp_path / "fresh.jsonl")
    compute(pending(chance, records), records)
    compute(pending(both, records), records)
    compute(pending(both, fresh), fresh)
    assert [r["metrics"] for r in records.read().values()] == [r["metrics"] for r in fresh.read().values()]


@pytest.mark.full
def test_two_processes_give_the_same_numbers_as_one(tmp_path):
    one, two = Records(tmp_path / "one.jsonl"), Records(tmp_path / "two.jsonl")
    compute(pending(SMALL, one), one)
    compute(pending(SMALL, two), two, jobs=2)
    found = [{key: record["metrics"] for key, record in records.read().items()} for records in (one, two)]
    assert len(found[0]) == 4
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Trial("digits", "magic", "server"), "no method 'magic'; there are 'Sieve', 'SSFMLFS', "),
        (replace(TRIAL, k=65), "k of 'digits' must be at most n_features=64; got 65"),
        (replace(TRIAL, n_clients=2000), "Take fewer clients"),
        (replace(TRIAL, parameters=(("relatio", "x"),)), "SSFMLFS has no parameter 'relatio'"),
    ],
)
def test_a_trial_that_cannot_be_done_is_found_before_any_work(tmp_path, wrong, message):
    records = Records(tmp_path / "records.jsonl")
    with pytest.raises(ParameterError, match=message):
        compute([Task(Trial("digits", "all features", "none"), (RAW,)), Task(wrong, (RAW,))], records)
    assert not records.path.exists()


def test_to_check_many_trials_deals_out_each_federation_once(monkeypatch):
    dealt = []
    monkeypatch.setattr(selection, "deal_out", lambda trial, _: dealt.append(trial))
    varied = [replace(TRIAL, seed=seed, parameters=(("lam", lam),), k=k) for seed, lam, k in [(0, 1, 5), (1, 2, 6)]]
    selection.check_trials([TRIAL, *varied, replace(TRIAL, n_clients=6), replace(TRIAL, labeled=0.3)])
    assert [(trial.n_clients, trial.labeled) for trial in dealt] == [(5, 0.2), (6, 0.2), (5, 0.3)]


def test_what_another_process_wrote_in_the_meantime_is_not_computed_again(tmp_path, monkeypatch):
    records = Records(tmp_path / "records.jsonl")
    tasks = pending(SMALL, records)
    for task in tasks:
        records.append({"key": task.trial.key(), "metrics": {RAW.name: {}}})
    monkeypatch.setattr(runner, "evaluate", lambda task, _: pytest.fail(f"computed {task}"))
    compute(tasks, records)


@pytest.mark.parametrize("config", sorted(BENCHMARKS.glob("paper/*.toml")), ids=lambda path: path.stem)
def test_the_committed_records_of_the_paper_s_tables_are_complete(config):
    assert pending(read_experiment(config), Records(config.parent / "results" / "records.jsonl")) == []


def test_what_is_to_do_is_ordered_so_that_parts_are_complete(tmp_path):
    case = replace(SMALL, datasets=("yeast", "digits"), k={"yeast": 10, "digits": 10})
    trials = [task.trial for task in pending(case, Records(tmp_path / "records.jsonl"))]
    assert [(t.seed, t.dataset) for t in trials[::2]] == [(0, "yeast"), (0, "digits"), (1, "yeast"), (1, "digits")]
    assert [t.method for t in trials] == ["all features", "largest deviation"] * 4


def test_one_selection_serves_all_shares_of_it(monkeypatch):
    shares = [Evaluation(scaling="raw", share=share) for share in (1.0, 0.5)]
    metrics = evaluate(Task(TRIAL, tuple(shares)))["metrics"]
    half = evaluate(Task(replace(TRIAL, k=10), (RAW,)))  # an order does not depend on how many are kept
    assert metrics[shares[1].name] == half["metrics"][RAW.name] != metrics[RAW.name]
    judged = []
    monkeypatch.setattr(runner, "measure", lambda *given: judged.append(given) or {})
    evaluate(Task(replace(TRIAL, method="all features", labels="none"), tuple(shares)))
    assert len(judged) == 1


def test_there_are_committed_experiments():
    tables = {"tables_2_3_4", "table_7", "table_8", "figure_2", "selection_quality"}
    assert tables | {"sensitivity", "sensitivity_crossed"} <= {path.stem for path in CONFIGS}
