"""What the page about the published numbers says of a dataset and a set-up is what the records of these say."""

import re
from functools import cache
from itertools import product
from math import inf

import numpy as np
import pytest
from benchmarks.published_search.__main__ import HERE, PUBLISHED, SEEDS
from benchmarks.published_search.pages import ALL, BY_LABELS, GREEDY, SELECTED, off_by
from benchmarks.published_search.setups import SETUPS

from fedsieve.experiments.evaluation import HIGHER_IS_BETTER
from fedsieve.experiments.records import Records
from fedsieve.report.metric_tables import published_values

DOCS = (HERE.parents[1] / "docs" / "published-numbers.md").read_text(encoding="utf-8")
SOUND = ("70/30, as in our tables", "80/20", "official split")
SHORT = {  # what the page's table calls the set-ups
    "official split": "official",
    "a classifier per client, its rows, leave-one-out": "per client, its rows, leave-one-out",
    "100% of the test rows are training rows": "all known",
    **{f"{share}0% of the test rows are training rows": f"{share}0 % known" for share in range(1, 10)},
}
AMONG_ALL = "test rows, leave-one-out among all rows"
SAID = {  # the beginning of a point of the page: what it tells the three metrics of
    "No sound set-up": [("emotions", SOUND[0], SELECTED, "scaled")],
    "Yeast.": [("yeast", AMONG_ALL, ALL, "scaled"), ("yeast", f"{GREEDY}, 31 features", BY_LABELS, "scaled")],
    "Enron.": [
        ("enron", AMONG_ALL, SELECTED, "scaled"),
        ("enron", "all rows, leave-one-out, selected on all rows", SELECTED, "scaled"),
    ],
    "Cal500.": [
        ("cal500", AMONG_ALL, SELECTED, "scaled"),
        ("cal500", SOUND[0], SELECTED, "scaled"),
        ("cal500", f"{GREEDY}, 27 features", BY_LABELS, "scaled"),
    ],
    "Choosing by the test labels.": [("emotions", f"{GREEDY}, 28 features", BY_LABELS, "scaled")],
}
TRIPLE = r"0\.\d{4} / \d+\.\d+ / 0\.\d{4}"


@cache
def by_row():
    """The records' three metrics by dataset, set-up, features and scaling, a list by seed."""
    found = {}
    for record in Records(HERE / "results.jsonl").read().values():
        row = (record["dataset"], record["set_up"], record["features"], record["scaling"])
        found.setdefault(row, {})[record["seed"]] = [record["metrics"][metric] for metric in HIGHER_IS_BETTER]
    return found


def mean_row(row, seeds=range(5)):
    """Of the seeds that there are; the greedy search has one."""
    values = [value for seed, value in by_row()[row].items() if seed in seeds]
    return dict(zip(HIGHER_IS_BETTER, np.mean(values, axis=0), strict=True))


def goal(dataset):
    return {metric: published_values(PUBLISHED)[metric, "SSFMLFS", dataset] for metric in HIGHER_IS_BETTER}


def triple(values):
    digits = 2 if values["coverage"] > 20 else 3
    return f"{values['average_precision']:.4f} / {values['coverage']:.{digits}f} / {values['ranking_loss']:.4f}"


def points():
    """The points of the page by how they begin, each in one line."""
    found = [" ".join(one.split()) for one in re.split(r"\n- ", DOCS)[1:]]
    return {re.match(r"\*\*(.*?)\*\*", one)[1]: one for one in found}


@pytest.mark.parametrize("dataset", SEEDS)
def test_the_table_of_the_docs_has_the_nearest_set_ups(dataset):
    rows = [row for row in by_row() if row[0] == dataset and row[2] != BY_LABELS]

    def nearest(which, tells_features):
        row = min((row for row in rows if which(row)), key=lambda row: off_by(mean_row(row), goal(dataset)))
        _, set_up, features, scaling = row
        words = [SHORT.get(set_up, set_up)]
        words += [f"{ALL} features" if features == ALL else features] * tells_features
        words += [scaling] * (len(scalings_of(dataset)) > 1)
        distance = 100 * off_by(mean_row(row), goal(dataset))
        return f"{', '.join(words)}: {triple(mean_row(row))} ({distance:.1f} %)"

    cells = [
        nearest(lambda row: row[1] in SOUND, True),
        nearest(lambda row: row[2] == SELECTED, False),
        nearest(lambda row: row[2] == ALL, False),
    ]
    assert f"| {dataset.capitalize()} | {triple(goal(dataset))} | {' | '.join(cells)} |" in DOCS


def test_of_how_many_set_ups_the_nearest_is_told():
    """Greedy selection is in no column of the table."""
    tried = [sum(row[0] == dataset and row[2] != BY_LABELS for row in by_row()) for dataset in SEEDS]
    assert f"nearest of {min(tried)} to {max(tried)} that were tried" in " ".join(DOCS.split())


def scalings_of(dataset):
    return {scaling for name, _, _, scaling in by_row() if name == dataset}


def test_each_point_of_the_docs_has_its_own_set_ups():
    for begins, text in points().items():
        rows = SAID.get(begins, [])
        expected = {triple(mean_row(row)) for row in rows}
        if begins == "Yeast.":
            expected.add(triple(mean_row(rows[0], range(3))))
        assert set(re.findall(TRIPLE, text)) - {triple(goal(row[0])) for row in rows} == expected
    assert SAID.keys() <= points().keys()


def test_what_the_docs_say_of_corel5k():
    def of(set_up, features):
        return mean_row(("corel5k", set_up, features, "scaled"))

    few, more = (of(f"{share}% of the test rows are training rows", SELECTED) for share in (30, 40))
    everything = of("30% of the test rows are training rows", ALL)
    each = of("a classifier per client, its rows, leave-one-out", SELECTED)
    text = points()["Corel5k."]
    assert more["coverage"] < goal("corel5k")["coverage"] < few["coverage"]
    assert f"30 % known test rows ({few['coverage']:.2f}) and 40 % ({more['coverage']:.2f})" in text
    assert f"AP is then {few['average_precision']:.3f} to {more['average_precision']:.3f} against" in text
    assert f"at 30 % ({everything['coverage']:.2f}), with AP {everything['average_precision']:.4f}" in text
    assert f"ranking loss of {each['ranking_loss']:.4f} (published 0.1051) with coverage {each['coverage']:.1f}" in text
    assert f"and AP {each['average_precision']:.3f}" in text


def test_no_set_up_fits_all_five():
    order = ("cal500", "corel5k", "emotions", "enron", "yeast")

    def off(set_up, features, dataset):
        rows = [row for row in by_row() if row[:3] == (dataset, set_up, features)]
        return min((off_by(mean_row(row), goal(dataset)) for row in rows), default=inf)

    worst = {
        (set_up, features): max(off(set_up, features, dataset) for dataset in order)
        for set_up, features in product(SETUPS, (SELECTED, ALL))
    }
    assert min(worst, key=worst.__getitem__) == ("40% of the test rows are training rows", SELECTED)
    first = [f"{100 * off('40% of the test rows are training rows', SELECTED, dataset):.1f}" for dataset in order]
    second = [f"{100 * off(AMONG_ALL, SELECTED, dataset):.1f}" for dataset in order]
    text = points()["No set-up fits all five."]
    assert "{} (Cal500), {} (Corel5k), {} (Emotions), {} (Enron) and {} % (Yeast)".format(*first) in text
    assert "{}, {}, {}, {} and {} %".format(*second) in text
