"""`docs/selection-quality.md` says what the records say, and its tables are what they are called."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fedsieve import registry
from fedsieve.errors import ParameterError
from fedsieve.experiments.config import Contender, Experiment, read_experiment
from fedsieve.experiments.evaluation import Evaluation
from fedsieve.experiments.records import Records
from fedsieve.report.experiment_report import write_report
from fedsieve.report.quality_page import with_tables

FOLDER = Path(__file__).parents[2] / "benchmarks" / "quality"
QUALITY = read_experiment(FOLDER / "selection_quality.toml")
TOO_SLOW = ("RFNMIFS", "MLFS-NRS", "MLFRS")  # with all labels
ROWS = (
    Contender("Sieve", "Sieve"),
    Contender("MGFS", "MGFS", labels="server"),
    Contender("MGFS", "MGFS", labels="all"),
    Contender("SCFC", "SCFC"),
    Contender("BMFS", "BMFS", labels="all"),
    Contender("random", "random"),
    Contender("all features", "all features"),
)
SMALL = Experiment(
    name="small",
    title="Small",
    kind="quality",
    datasets=("yeast", "enron"),
    contenders=ROWS,
    seeds=tuple(range(10)),
    evaluations=(Evaluation(), Evaluation("logistic")),
)
TABLES = ("ranks", "random", "random-logistic", "all-features", "values", "values-logistic", "seconds")
PAGE = "Words.\n\n" + "".join(f"<!-- {name} -->\n<!-- end of {name} -->\n\n" for name in TABLES) + "More words.\n"


def drawn(experiment, better=None):
    """Records in which one contender is better than all others in everything, by a little noise."""
    rng = np.random.default_rng(0)
    records = {}
    for contender in experiment.contenders:
        for trial in experiment.trials(contender):
            bonus = 1.0 if contender == better else 0.0
            ap, cv, rl = rng.random(3)
            values = {"average_precision": ap + bonus, "coverage": cv - bonus, "ranking_loss": rl - bonus}
            metrics = {evaluation.name: values for evaluation in experiment.evaluations}
            records[trial.key()] = {"metrics": metrics, "seconds": {"select": 0.1 + trial.seed}}
    return records


def table(text, name):
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    lines = text[text.index(begin) + len(begin) : text.index(end)].strip().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|---")]


def test_the_page_shows_the_records():
    text = QUALITY.page.read_text(encoding="utf-8")
    assert all(f"<!-- {name} -->" in text for name in TABLES)
    assert with_tables(text, QUALITY, Records(FOLDER / "results" / "records.jsonl").read()) == text


def test_every_method_is_compared_and_sees_what_it_may_see():
    for entry in registry().values():
        seen = {contender.labels_seen for contender in QUALITY.contenders if contender.name == entry.name}
        expected = {"none": {"none"}, "semi-supervised": {"server"}, "supervised": {"server", "all"}}[entry.supervision]
        assert seen == (expected - {"all"} if entry.name in TOO_SLOW else expected)


@pytest.mark.parametrize("best", [ROWS[0], ROWS[2], ROWS[5]])
def test_what_is_best_in_everything_has_rank_one(best):
    head, *rows = table(with_tables(PAGE, SMALL, drawn(SMALL, best)), "ranks")
    shown = "**Sieve**" if best == ROWS[0] else best.title
    labels = {"server": "20 %", "all": "100 %", "none": "none"}[best.labels_seen]
    own = "1.00" if labels == "20 %" else "-"
    assert head == [
        "method",
        "labels seen",
        "rank, 20 % only",
        "rank, all",
        "logistic: 20 % only",
        "logistic: all",
    ]
    assert rows[0] == [shown, labels, own, "1.00", own, "1.00"]
    assert {row[0] for row in rows} == {"**Sieve**", "MGFS", "SCFC (our reading)", "BMFS", "random", "all features"}
    assert np.mean([float(row[3]) for row in rows]) == pytest.approx((len(rows) + 1) / 2, abs=0.01)
    among = [float(row[2]) for row in rows if row[2] != "-"]
    assert len(among) == 3
    assert np.mean(among) == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize("name", ["random", "random-logistic"])
@pytest.mark.parametrize(("better", "reached"), [(ROWS[0], "yes"), (ROWS[5], "no")])
def test_a_target_is_reached_by_more_than_one_standard_error(name, better, reached):
    rows = table(with_tables(PAGE, SMALL, drawn(SMALL, better)), name)[1:]
    assert [row[6] for row in rows] == [reached] * 2 * 3
    assert all((float(row[5]) > 1) == (reached == "yes") for row in rows)


def test_the_best_with_all_labels_stands_beside():
    text = with_tables(PAGE, SMALL, drawn(SMALL, ROWS[4]))
    assert table(text, "random")[0][7] == "BMFS, 100 %: better by"
    assert table(text, "all-features")[0][6] == "BMFS, 100 %: difference"


def test_the_gap_to_all_features_is_judged_by_dataset():
    records = drawn(SMALL)
    for contender, value in ((ROWS[0], 0.495), (ROWS[6], 0.5)):
        for trial in SMALL.trials(contender):
            for metrics in records[trial.key()]["metrics"].values():
                metrics["average_precision"] = value
    rows = table(with_tables(PAGE, SMALL, records), "all-features")[1:]
    assert [row[:6] for row in rows] == [
        ["Yeast", "0.5000", "0.4950", "-0.0050", "at least -0.006", "yes"],
        ["Enron", "0.5000", "0.4950", "-0.0050", "above 0", "no"],
    ]


def test_values_are_means_with_standard_errors_and_seconds_a_median():
    records = drawn(SMALL)
    text = with_tables(PAGE, SMALL, records)
    trials = [trial for trial in SMALL.trials(ROWS[0]) if trial.dataset == "enron"]
    values = [records[trial.key()]["metrics"]["logistic, scaled, all"]["coverage"] for trial in trials]
    expected = f"{np.mean(values):.4f} ± {np.std(values, ddof=1) / np.sqrt(10):.4f}"
    head, *rows = table(text, "values-logistic")
    (sieve,) = [row for row in rows if row[0] == "**Sieve**"]
    assert sieve[head.index("Enron CV")] == expected
    assert table(text, "seconds")[1:] == [["Yeast", "4.60"], ["Enron", "4.60"]]


def test_only_what_is_between_marks_changes_and_a_table_without_marks_is_left_out():
    page = "Before.\n<!-- seconds -->\nold\n<!-- end of seconds -->\nAfter.\n"
    text = with_tables(page, SMALL, drawn(SMALL))
    assert text.startswith("Before.\n<!-- seconds -->\n\n| dataset |")
    assert text.endswith(" |\n\n<!-- end of seconds -->\nAfter.\n")
    assert "old" not in text
    assert with_tables(text, SMALL, drawn(SMALL)) == text
    with pytest.raises(ParameterError, match="the page has no mark '<!-- end of seconds -->'"):
        with_tables(page.replace("end of", "end"), SMALL, drawn(SMALL))


def test_a_page_is_not_written_from_some_of_the_records(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    case, records = replace(SMALL, page=page), drawn(SMALL)
    key = SMALL.trials(ROWS[3])[0].key()
    del records[key]["metrics"]["logistic, scaled, all"]
    with pytest.raises(ParameterError, match="small: 1 of 280 evaluations have no record"):
        write_report(case, records, tmp_path, tmp_path / "none")
    assert page.read_text() == PAGE


@pytest.mark.parametrize("absent", ["Sieve", "random", "all features"])
def test_a_page_needs_sieve_and_its_controls(absent):
    case = replace(SMALL, contenders=tuple(row for row in ROWS if row.name != absent))
    with pytest.raises(ParameterError, match=f"kind 'quality' needs the method '{absent}'"):
        with_tables(PAGE, case, drawn(case))


def test_the_page_is_changed_where_it_lies_or_copied(tmp_path):
    page, out = tmp_path / "page.md", tmp_path / "out"
    page.write_text(PAGE)
    out.mkdir()
    case = replace(SMALL, page=page)
    assert write_report(case, drawn(case), out, tmp_path / "none", in_place=False) == [out / "page.md"]
    assert page.read_text() == PAGE
    assert write_report(case, drawn(case), out, tmp_path / "none") == [page]
    assert page.read_text() == (out / "page.md").read_text() != PAGE
