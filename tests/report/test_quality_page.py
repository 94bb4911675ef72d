"""`docs/selection-quality.md` says what the records say, and its tables are what they are called."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fedsieve import registry
from fedsieve.errors import ParameterError
from fedsieve.experiments.experiment_file import read_experiment
from fedsieve.experiments.records import Records
from fedsieve.report.experiment_report import write_report
from fedsieve.report.quality_page import with_tables
from quality_records import ROWS, SMALL, drawn

FOLDER = Path(__file__).parents[2] / "benchmarks" / "quality"
EXPERIMENTS = {path.stem: read_experiment(path) for path in sorted(FOLDER.glob("*.toml"))}
TOO_SLOW = ("RFNMIFS", "MLFS-NRS", "MLFRS")  # with all labels
TABLES = ("seeds", "bars", "gains", "ranks", "datasets", "wins", "seconds")
PAGE = "Words.\n\n" + "".join(f"<!-- small: {n} -->\n<!-- end of small: {n} -->\n\n" for n in TABLES) + "More words.\n"


def table(text, name):
    begin, end = f"<!-- small: {name} -->\n", f"<!-- end of small: {name} -->"
    lines = text[text.index(begin) + len(begin) : text.index(end)].strip().splitlines()
    rows = [line for line in lines if line.startswith("|") and not line.startswith("|---")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_page_shows_the_records(name):
    experiment = EXPERIMENTS[name]
    text = experiment.page.read_text(encoding="utf-8")
    assert f"<!-- {name}: seeds -->" in text
    assert f"<!-- {name}: gains -->" in text
    assert f"<!-- {name}: wins -->" in text
    if name in ("selection_quality", "forests", "registry"):
        assert all(f"<!-- {name}: {block} -->" in text for block in ("bars", "ranks", "datasets"))
    assert with_tables(text, experiment, Records(FOLDER / "results" / "records.jsonl").read()) == text


def test_every_method_is_compared_and_sees_what_it_may_see():
    rows = EXPERIMENTS["registry"].contenders
    for entry in registry().values():
        seen = {contender.labels_seen for contender in rows if contender.name == entry.name}
        expected = {"none": {"none"}, "semi-supervised": {"server"}, "supervised": {"server", "all"}}[entry.supervision]
        assert seen == (expected - {"all"} if entry.name in TOO_SLOW else expected)


@pytest.mark.parametrize("best", [ROWS[0], ROWS[4]])
def test_what_is_best_in_everything_comes_first(best):
    text = with_tables(PAGE, SMALL, drawn(SMALL, ((ROWS[2], 1.0), (best, 9.0))))
    head, *rows = table(text, "gains")
    assert head[3:6] == ["ML-kNN", "ML-kNN, all", "ML-kNN, half"]
    title, labels, g = ("**Sieve**", "20 %", "2.00") if best == ROWS[0] else ("extra-trees", "100 %", "1.00")
    assert rows[0] == [
        title,
        labels,
        *[f"{g} ± 0.00", f"{g} ± 0.00", g, g, f"{g} ± 0.00", g, g],
        "0 of 24",
    ]
    assert table(text, "ranks")[1] == [title, labels, *["1.00"] * 4]
    assert {row[0] for row in rows} == {"**Sieve**", "random", "RLSR", "extra-trees"}
    assert np.mean([float(row[2]) for row in table(text, "ranks")[1:]]) == pytest.approx(3, abs=0.02)


@pytest.mark.parametrize(("bonus", "reached"), [(2.0, "yes"), (-2.0, "no")])
def test_bars_are_judged(bonus, reached):
    text = with_tables(PAGE, SMALL, drawn(SMALL, ((ROWS[0], bonus), (ROWS[2], 1.0))))
    rows = table(text, "bars")[1:]
    assert "G is relative to the best of the other 4 entries of this section." in text
    assert [row[2] for row in rows] == [reached] * 4
    assert [row[1] for row in rows[1:]] == (
        ["2 of 2"] * 2 + ["0 of 24"] if bonus > 0 else ["0 of 2"] * 2 + ["24 of 24"]
    )
    against = table(text, "wins")[2]
    assert against[:4] == ["RLSR", "20 %", *(["2 of 2"] * 2 if bonus > 0 else ["0 of 2"] * 2)]
    assert (against[4] == "-") == (bonus > 0)
    assert ("Scene, logistic (" in against[4]) == (bonus < 0)


def test_what_is_not_recorded_yet_is_said():
    records = drawn(SMALL)
    for trial in SMALL.trials(ROWS[2]):
        if trial.dataset == "design/scene" or trial.seed > 1:
            del records[trial.key()]
    text = with_tables(PAGE, SMALL, records)
    assert table(text, "seeds")[1:] == [["Yeast", "2", "2"], ["Scene", "0", "0"]]
    assert "Seeds of which all 5 entries are recorded, of 4." in text
    assert [row[0] for row in table(text, "datasets")[1:]] == ["Yeast"]
    assert [row[2] for row in table(text, "bars")[1:]] == ["not known yet"] * 4  # by some of the datasets
    nothing = with_tables(PAGE, SMALL, {})
    assert [row[2] for row in table(nothing, "bars")[1:]] == ["not known yet"] * 4
    assert table(nothing, "gains")[1][2] == "-"
    assert table(nothing, "seconds")[1:] == [["Yeast", *["-"] * 4], ["Scene", *["-"] * 4]]


def test_seconds_are_a_median():
    assert table(with_tables(PAGE, SMALL, drawn(SMALL)), "seconds")[1] == ["Yeast", *["2.50"] * 4]


def test_only_what_is_between_marks_changes_and_a_table_without_marks_is_left_out():
    page = "Before.\n<!-- small: seconds -->\nold\n<!-- end of small: seconds -->\nAfter.\n"
    text = with_tables(page, SMALL, drawn(SMALL))
    assert text.startswith("Before.\n<!-- small: seconds -->\n\n| dataset |")
    assert text.endswith("over seeds.\n\n<!-- end of small: seconds -->\nAfter.\n")
    assert "old" not in text
    assert with_tables(text, SMALL, drawn(SMALL)) == text
    with pytest.raises(ParameterError, match="the page has no mark '<!-- end of small: seconds -->'"):
        with_tables(page.replace("end of", "end"), SMALL, drawn(SMALL))


@pytest.mark.parametrize("absent", ["Sieve", "random"])
def test_a_page_needs_sieve_and_random_features(absent):
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
