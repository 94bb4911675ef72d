"""One run: who has which rows, what is measured, and that a control is what it says."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler

from fedsieve.datasets import load_digits
from fedsieve.errors import ParameterError
from fedsieve.experiments import evaluation
from fedsieve.experiments.config import Run
from fedsieve.experiments.evaluation import deal_out, evaluate
from fedsieve.experiments.memory import peak_megabytes, reset_peak
from fedsieve.learning import MLkNN, metrics
from fedsieve.selectors import RandomFeatures

RUN = Run("digits", "SSFMLFS", k=20, n_clients=5)


@pytest.mark.parametrize("partition", ["dirichlet", "iid", "quantity_skew"])
def test_every_row_has_one_place(partition):
    digits = load_digits()
    rows = deal_out(replace(RUN, partition=partition), digits)
    everybody = np.concatenate([rows.test, rows.server, *rows.clients])
    assert np.array_equal(np.sort(everybody), np.arange(1797))
    assert np.array_equal(np.sort(np.concatenate([rows.server, *rows.clients])), rows.train)
    assert len(rows.test) == 539
    assert len(rows.server) == round(0.2 * 1258)
    assert len(rows.clients) == 5


def test_the_seed_decides_the_rows():
    digits = load_digits()
    first, again, other = (deal_out(replace(RUN, seed=seed), digits) for seed in (0, 0, 1))
    assert np.array_equal(first.test, again.test)
    assert np.array_equal(first.clients[2], again.clients[2])
    assert not np.array_equal(first.test, other.test)


def test_an_official_split_must_exist():
    with pytest.raises(ParameterError, match="'digits' has no official split; use split = 'random'"):
        deal_out(replace(RUN, split="official"), load_digits())


def test_the_record_says_what_was_done_and_measured():
    record = evaluate(RUN)
    assert record["key"] == RUN.key()
    assert record["k"] == len(record["selected"]) == 20
    assert set(record["metrics"]) == {"scaled", "raw"}
    assert record["bytes"]["PairSums"] > 0
    assert sum(record["client_bytes"].values()) == sum(record["bytes"].values())
    assert list(record["client_bytes"]) == [f"client-{i:02d}" for i in range(5)]
    assert record["peak_mb"] > 1
    assert set(record["seconds"]) == {"select", "classify"}
    assert "fedsieve" in record["versions"]
    again = evaluate(RUN)
    assert again["metrics"] == record["metrics"]
    assert json.loads(json.dumps(record))["metrics"] == record["metrics"]


def test_all_features_is_ml_knn_on_the_whole_table():
    digits, run = load_digits(), replace(RUN, method="all features")
    rows = deal_out(run, digits)
    X = MinMaxScaler().fit(digits.X[rows.train]).transform(digits.X)
    model = MLkNN().fit(X[rows.train], digits.Y[rows.train])
    expected = metrics.average_precision(digits.Y[rows.test], model.predict_proba(X[rows.test]))
    assert evaluate(run)["metrics"]["scaled"]["average_precision"] == pytest.approx(expected, abs=1e-12)


def test_with_the_server_s_labels_only_the_classifier_knows_less():
    everything, little = (evaluate(replace(RUN, classifier_labels=who))["metrics"]["raw"] for who in ("all", "server"))
    assert everything["average_precision"] > little["average_precision"]


def test_random_features_are_the_average_of_several_draws(monkeypatch):
    digits, run = load_digits(), replace(RUN, method="random", seed=3, scaling=("raw",))
    monkeypatch.setattr(evaluation, "N_RANDOM_DRAWS", 2)
    record = evaluate(run)
    rows, values = deal_out(run, digits), []
    for draw in (3000, 3001):
        chosen = RandomFeatures(20, random_state=draw).fit(digits.X[rows.train]).support_
        model = MLkNN().fit(digits.X[rows.train][:, chosen], digits.Y[rows.train])
        values.append(metrics.ranking_loss(digits.Y[rows.test], model.predict_proba(digits.X[rows.test][:, chosen])))
    assert values[0] != values[1]
    assert record["metrics"]["raw"]["ranking_loss"] == pytest.approx(np.mean(values), abs=1e-12)
    assert record["selected"] is None


def test_the_peak_is_that_of_the_stretch():
    reset_peak()
    before = peak_megabytes()
    block = np.ones(60_000_000 // 8)
    during = peak_megabytes()
    del block
    assert 50 < during - before < 90
    reset_peak()
    assert peak_megabytes() < during - 40


def test_a_rival_that_draws_draws_by_the_seed():
    once, again, other = (evaluate(replace(RUN, method="MLACO", seed=seed))["selected"] for seed in (3, 3, 4))
    assert once == again
    assert once != other
