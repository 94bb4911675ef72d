"""The parts of `benchmarks.published_search`: rows judged by themselves or by the others, overlaps, greedy steps."""

import numpy as np
import pytest
from benchmarks.published_search.__main__ import HERE, PUBLISHED
from benchmarks.published_search.greedy import next_step
from benchmarks.published_search.judging import ALWAYS, OTHERS, USUAL, label_scores, metrics_of
from benchmarks.published_search.pages import off_by, page, reached
from benchmarks.published_search.setups import SETUPS, Case, overlap, with_all_features
from numpy.testing import assert_array_equal

from fedsieve import MLkNN
from fedsieve.experiments.records import Records
from fedsieve.experiments.selection import RowShares
from fedsieve.learning.mlknn import count_labels, posterior_table
from fedsieve.report.metric_tables import published_values
from reference.mlknn_loops import squared_distance

K = 3
GOAL = {"average_precision": 0.5, "coverage": 10.0, "ranking_loss": 0.2}


@pytest.fixture
def case(rng):
    """Rows on a grid, so that many distances are equal, and some rows twice."""
    X = rng.integers(0, 3, (80, 6)).astype(np.float64)
    Y = np.hstack([X[:, :2] > 1, rng.random((80, 2)) < 0.4]).astype(np.int64)
    Y[0] = [1, 0, 0, 1]
    clients = [np.arange(20, 34), np.arange(34, 48), np.arange(48, 50)]  # the last has too few rows for ML-kNN
    rows = RowShares(np.arange(50), np.arange(50, 80), np.arange(20), clients)
    return Case(X, Y, rows, rng.permutation(6), 3, seed=0)


def slow(case, taught, judged, own):
    """The neighbors row by row: all other rows, or all rows, sorted by distance and then by place."""
    rows, on = case.table[taught], case.Y[taught] == 1

    def neighbors(row, itself):
        near = sorted((squared_distance(case.table[row], other), j) for j, other in enumerate(rows))
        return [j for _, j in near if itself or taught[j] != row][:K]

    learned = count_labels(on, np.array([neighbors(row, own.learning) for row in taught]))
    _, posterior = posterior_table(on, learned, K, 1.0)
    counts = count_labels(on, np.array([neighbors(row, own.judging) for row in judged]))
    return posterior[np.arange(on.shape[1]), counts]


@pytest.mark.parametrize("own", [USUAL, OTHERS, ALWAYS], ids=["usual", "others", "always"])
@pytest.mark.parametrize("judged", [np.arange(50), np.arange(40, 80)], ids=["all known", "some known"])
def test_rows_are_judged_as_by_a_loop_over_them(case, own, judged):
    taught = np.random.default_rng(0).permutation(50)
    found = label_scores(case.table, case.Y, taught, judged, own, K)
    assert_array_equal(found, slow(case, taught, judged, own))


def test_unknown_rows_are_judged_as_ml_knn_judges_them(case):
    train, test = case.rows.train, case.rows.test
    model = MLkNN().fit(case.table[train], case.Y[train])
    for own in (USUAL, OTHERS):
        found = label_scores(case.table, case.Y, train, test, own)
        assert_array_equal(found, model.predict_proba(case.table[test]))


def test_no_known_test_rows_is_the_usual_split_and_all_known_is_learning_from_everything(case):
    assert overlap(case, 0.0) == SETUPS["70/30, as in our tables"].judge(case)
    assert overlap(case, 1.0) == case.judged(np.arange(80), case.rows.test)
    assert overlap(case, 0.5) not in (overlap(case, 0.0), overlap(case, 1.0))


@pytest.mark.parametrize("name", SETUPS)
def test_every_set_up_measures_the_selected_features_and_all(case, name):
    for some in (case, with_all_features(case)) if SETUPS[name].all_features else (case,):
        found = SETUPS[name].judge(some)
        assert found.keys() == GOAL.keys()
        assert all(np.isfinite(value) for value in found.values())


def test_a_step_of_the_greedy_search_takes_the_best_feature(case):
    train, test = case.rows.train, case.rows.test

    def precision(columns):
        return metrics_of(case.Y[test], label_scores(case.table[:, columns], case.Y, train, test))["average_precision"]

    alone = [precision([feature]) for feature in range(6)]
    first, metrics = next_step(case, [])
    assert metrics["average_precision"] == alone[first] == max(alone)
    second, metrics = next_step(case, [first])
    assert second != first
    assert metrics["average_precision"] == max(precision([first, other]) for other in range(6) if other != first)
    third, _ = next_step(case, [first, second], n_tried=1)
    assert third not in (first, second)


def test_the_page_is_that_of_the_records():
    records = Records(HERE / "results.jsonl").read()
    assert (HERE / "results.md").read_text(encoding="utf-8") == page([*records.values()], published_values(PUBLISHED))


def test_the_nearest_row_comes_first_and_what_is_reached_is_counted():
    near, far = {**GOAL, "coverage": 10.5}, {"average_precision": 0.4, "coverage": 9.0, "ranking_loss": 0.1}
    assert (off_by(near, GOAL), reached(near, GOAL)) == (0.05, 2)
    assert (off_by(far, GOAL), reached(far, GOAL)) == (0.5, 2)
    row = {"dataset": "yeast", "features": "all", "scaling": "raw", "seed": 0}
    records = [
        {**row, "set_up": "far", "metrics": far},
        {**row, "set_up": "80/20", "metrics": far},
        {**row, "set_up": "near", "metrics": near},
        {**row, "set_up": "step 1", "feature": 7, "metrics": GOAL},
        {**row, "set_up": "step 2", "feature": 3, "metrics": far},
    ]
    text = page(records, {(metric, "SSFMLFS", "yeast"): value for metric, value in GOAL.items()})
    assert text.index("**published**") < text.index("| 10.500 | 0.2000 | 5.0% | 2 | 1 |  |") < text.index("far")
    assert "\n| 80/20 | 50.0% |\n" in text
    assert "step 2" in text
    assert "step 1" not in text
    assert "best AP on the way, after any number of steps: 0.5000." in text
