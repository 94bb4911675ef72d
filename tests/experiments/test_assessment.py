"""Means, paired differences and the verdict in words, from values that were made up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve.catalog import ALL_FEATURES, RANDOM
from fedsieve.experiments.assessment import METRICS, OWN, Assessment, difference
from reference.evaluation_loops import interval

VALUES = st.lists(st.floats(0, 1), min_size=4, max_size=12)


def made_up(selected, random, everything, classifiers=("ML-kNN",), notes=()):
    """An assessment by values of average precision per fold, the same for each classifier or one list for each."""
    rows = []
    for place, classifier in enumerate(classifiers):
        for method, size, values in (("Sieve", 3, selected), (RANDOM, 3, random), (ALL_FEATURES, 9, everything)):
            of = values[place] if isinstance(values[0], list) else values
            for fold, value in enumerate(of):
                told = dict.fromkeys(METRICS, value)
                at = {"method": method, "classifier": classifier, "n_features": size, OWN: size == 3}
                rows.append({"repeat": 0, "fold": fold, **at, **told})
    how = {"n_features": 9, "n_rows": 40, "n_labels": 2, "n_folds": 4, "n_repeats": 1}
    return Assessment(
        "Sieve", (RANDOM, ALL_FEATURES), classifiers, (3,), rows=tuple(rows), chosen={}, notes=notes, **how
    )


@given(VALUES, st.data(), st.integers(2, 6), st.sampled_from(METRICS))
def test_a_difference_is_that_of_pairs_and_turns_around(ours, data, n_folds, metric):
    theirs = data.draw(st.lists(st.floats(0, 1), min_size=len(ours), max_size=len(ours)))
    found = difference(np.array(ours), np.array(theirs), metric, n_folds)
    back = difference(np.array(theirs), np.array(ours), metric, n_folds)
    assert (back.mean, back.low, back.high) == pytest.approx((-found.mean, -found.high, -found.low), abs=1e-9)
    sign = -1 if metric in ("coverage", "ranking_loss") else 1
    gains = [sign * (a - b) for a, b in zip(ours, theirs, strict=True)]
    assert (found.low, found.high) == pytest.approx(interval(gains, n_folds), abs=1e-9)
    assert (found.verdict == "better than") == (back.verdict == "worse than")


@given(VALUES)
def test_what_is_the_same_differs_in_nothing(values):
    found = difference(np.array(values), np.array(values) + 0.0, "average_precision", 5)
    assert tuple(found) == (0, 0, 0)
    assert found.verdict == "not shown to differ from"


@pytest.mark.parametrize("n_folds", [2, 5])
def test_a_lead_that_is_the_same_in_every_fold_tells_nothing_of_its_spread(n_folds):
    """Two folds of a metric of few steps have it by chance; "better than" would be said of an interval of no width."""
    for metric in METRICS:
        found = difference(np.full(n_folds, 0.8), np.full(n_folds, 0.7), metric, n_folds)
        assert (found.low, found.high) == (-np.inf, np.inf)
        assert found.verdict == "not shown to differ from"


def test_what_is_not_known_is_said_and_has_no_interval_in_files():
    lead = [value + 0.1 for value in HIGH]
    found = made_up(lead, HIGH, lead)
    assert "not shown to differ from random features (+0.1000, the same in every fold)" in found.verdict[1]
    assert found.verdict[2].startswith("Not known: these rows do not tell")
    (row,) = (r for r in found.summary if r["own"] and r["method"] == RANDOM and r["metric"] == "average_precision")
    assert (row["gain_low"], row["gain_high"]) == (None, None)
    assert row["verdict"] == "Sieve is not shown to differ from random"
    against_all = made_up(HIGH, LOW, lead).verdict
    assert against_all[-1] == "Better than as many random features; not known whether all features are better (ML-kNN)."


HIGH, LOW = [0.90, 0.91, 0.92, 0.91], [0.60, 0.62, 0.61, 0.60]
VERDICTS = [
    ((HIGH, LOW, HIGH), "Worth it: better than as many random features, and not worse than all features."),
    ((LOW, [0.3, 0.31, 0.3, 0.32], HIGH), "Better than as many random features, but something is lost against all"),
    ((LOW, HIGH, HIGH), "Not worth it: as many random features do better."),
    (
        ([0.9, 0.5, 0.8, 0.6], [0.4, 0.7, 0.5, 0.6], HIGH),
        "Not known: these rows do not tell whether it is better than as many random features. More labeled rows "
        "may, or more repeats.",
    ),
    (
        ([0.900, 0.912, 0.921, 0.909], [0.901, 0.911, 0.920, 0.910], HIGH),
        "Not worth it: better than as many random features by 0.0028 at most.",
    ),
]


@pytest.mark.parametrize(("values", "words"), VERDICTS, ids=[words[:30] for _, words in VERDICTS])
def test_the_verdict_follows_from_the_differences(values, words):
    assert made_up(*values).verdict[-1].startswith(words)


def test_where_classifiers_disagree_it_is_undecided():
    found = made_up([HIGH, HIGH], [LOW, HIGH], HIGH, classifiers=("ML-kNN", "logistic"))
    assert found.verdict[-1] == "Undecided: better than as many random features by ML-kNN, not by logistic."


def test_it_says_how_it_was_judged_and_by_how_much():
    found = made_up(HIGH, LOW, HIGH, notes=("Mind the rows.",))
    first, second, *_, last = str(found).splitlines()
    assert first == "Sieve: 3 of 9 features, judged in 4 folds of 40 labeled rows."
    assert second.startswith("ML-kNN: average precision 0.9100 ± 0.0082; better than random features (+0.3025, 95% ")
    assert "not shown to differ from all features (+0.0000, 95% interval +0.0000 to +0.0000)" in second
    assert last == "Mind the rows."


def test_the_summary_has_a_row_per_method_size_and_metric():
    table = made_up(HIGH, LOW, HIGH).summary
    assert len(table) == 2 * 3 * 4  # the size 3 and the selector's own, three methods, four metrics
    (row,) = (r for r in table if r["own"] and r["method"] == RANDOM and r["metric"] == "average_precision")
    assert row["mean"] == pytest.approx(np.mean(LOW))
    assert row["deviation"] == pytest.approx(np.std(LOW, ddof=1))
    assert row["gain"] == pytest.approx(np.mean(HIGH) - np.mean(LOW))
    assert row["n_features"] == 3
    assert row["verdict"] == "Sieve is better than random"
    (own,) = (r for r in table if r["own"] and r["method"] == "Sieve" and r["metric"] == "average_precision")
    assert own["gain"] is None
