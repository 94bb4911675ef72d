"""`fedsieve benchmark`: runs what is missing, writes tables, names mistakes."""

import re
import shutil

import pytest

from fedsieve.errors import DataError
from fedsieve.experiments import selection

CONFIG = """
title = "Small"
kind = "metrics"
datasets = ["digits"]
k = { digits = 10 }
n_clients = 3
scaling = ["raw"]
seeds = [0]

[[method]]
name = "SSFMLFS"

[[method]]
name = "largest deviation"
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(CONFIG)
    return path


def test_it_writes_records_and_tables_and_computes_nothing_twice(fedsieve, config, tmp_path):
    result = fedsieve("benchmark", config)
    assert result.code == 0, result.err
    folder = tmp_path / "results"
    assert f"Small: {folder / 'small.md'}" in result.out
    assert "| SSFMLFS | 20% | 0." in (folder / "small.md").read_text()
    records = (folder / "records.jsonl").read_bytes()
    assert records.count(b"\n") == 2
    again = fedsieve("benchmark", config)
    assert again.code == 0
    assert "small: 0 runs to do" in again.err
    assert (folder / "records.jsonl").read_bytes() == records


def test_experiments_of_one_folder_share_what_they_have_in_common(fedsieve, config, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text(CONFIG.replace("Small", "Other").replace("seeds = [0]", "seeds = [0, 1]"))
    assert fedsieve("benchmark", config, other, "--out", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "records.jsonl").read_bytes().count(b"\n") == 4


def test_a_further_classifier_keeps_what_is_there(fedsieve, config, tmp_path):
    assert fedsieve("benchmark", config).code == 0
    records = (tmp_path / "results" / "records.jsonl").read_bytes()
    config.write_text(CONFIG.replace("seeds", 'classifiers = ["ML-kNN", "logistic"]\nseeds'))
    result = fedsieve("benchmark", config)
    assert result.code == 0, result.err
    assert " 2/2 " in result.err
    added = (tmp_path / "results" / "records.jsonl").read_bytes()
    assert added.startswith(records)
    assert added.count(b"\n") == 4
    assert "## Coverage ↓, logistic, raw features" in (tmp_path / "results" / "small.md").read_text()


def test_a_page_gets_its_tables(fedsieve, config, tmp_path, monkeypatch):
    monkeypatch.setattr(selection, "N_RANDOM_DRAWS", 3)
    page = tmp_path / "page.md"
    page.write_text("Words.\n<!-- small: ranks -->\n<!-- end of small: ranks -->\n")
    rows = "".join(f'\n[[method]]\nname = "{name}"\n' for name in ("Sieve", "random", "all features", "FIMF"))
    head = CONFIG.split("\n[[method]]")[0].replace('"metrics"', '"quality"\npage = "page.md"')
    config.write_text(head.replace("seeds = [0]", "seeds = [0, 1]") + rows)
    result = fedsieve("benchmark", config, "--out", tmp_path / "out")
    assert result.code == 0, result.err
    assert "| all features | none | 1.00 |" in (tmp_path / "out" / "page.md").read_text()
    assert page.read_text() == "Words.\n<!-- small: ranks -->\n<!-- end of small: ranks -->\n"
    (tmp_path / "results").mkdir()
    shutil.copy(tmp_path / "out" / "records.jsonl", tmp_path / "results")
    result = fedsieve("benchmark", config)
    assert "small: 0 runs to do" in result.err
    assert f"Small: {page}" in result.out
    assert page.read_text() == (tmp_path / "out" / "page.md").read_text()


def test_the_report_alone_computes_nothing(fedsieve, config, tmp_path):
    result = fedsieve("benchmark", config, "--report-only")
    assert result.code == 2
    assert "records.jsonl: holds no records; run without --report-only" in result.message
    assert fedsieve("benchmark", config).code == 0
    records = (tmp_path / "results" / "records.jsonl").read_bytes()
    config.write_text(CONFIG.replace("seeds = [0]", "seeds = [0, 1]"))
    assert fedsieve("benchmark", config, "--report-only").code == 0
    assert (tmp_path / "results" / "records.jsonl").read_bytes() == records


def test_a_method_that_does_not_exist_yet_has_no_row(fedsieve, config, tmp_path):
    config.write_text(CONFIG + '\n[[method]]\nname = "Oracle"\n')
    result = fedsieve("benchmark", config)
    assert result.code == 0
    assert "Small: no row for Oracle, not implemented yet." in result.out
    assert "Oracle" not in (tmp_path / "results" / "small.md").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seeds", "seed"), "unknown key 'seed'. Did you mean 'seeds'?"),
        (("digits", "mnist"), "mnist"),
        (
            ('"largest deviation"', '"largest deviatio"'),
            "no method 'largest deviatio'. Did you mean 'largest deviation'?",
        ),
        (("k = { digits = 10 }", "k = { digits = 65 }"), "n_features=64"),
        (("n_clients = 3", "n_clients = 5000"), "Take fewer clients"),
        (("n_clients = 3", "alpha = 0"), "alpha must be a positive number"),
    ],
)
def test_mistakes_are_named(fedsieve, config, change, message):
    config.write_text(CONFIG.replace(*change))
    result = fedsieve("benchmark", config)
    assert result.code == 2
    assert message in result.message


def test_jobs_must_be_positive(fedsieve, config):
    assert "--jobs must be at least 1; got 0" in fedsieve("benchmark", config, "--jobs", 0).message


SENSITIVITY = """
title = "What matters"
kind = "sensitivity"
datasets = ["digits"]
k = { digits = 8 }
n_clients = 2
scaling = ["raw"]
seeds = [0, 1]

[factors]
lam = [0.8, 1.2]
k = [0.1]

[[method]]
name = "SSFMLFS"

[[method]]
name = "random"

[[method]]
name = "all features"
"""


@pytest.fixture(scope="module")
def factors(fedsieve, tmp_path_factory):
    """The file of an experiment that was carried out, beside its results."""
    path = tmp_path_factory.mktemp("sensitivity") / "factors.toml"
    path.write_text(SENSITIVITY)
    estimate = fedsieve("benchmark", path, "--estimate").out
    said = r"factors: 12 runs to do, about \d+\.\d CPU minutes, by 3 runs timed now, as nothing was recorded\."
    assert re.search(said, " ".join(estimate.split()))
    assert not (path.parent / "results").exists()
    result = fedsieve("benchmark", path)
    assert result.code == 0, result.err
    assert re.search(r"factors: 9 runs to do, about .*, by 3 runs timed now", " ".join(result.err.split()))
    return path


def test_sensitivity_says_first_how_long_it_takes_then_writes_a_page(fedsieve, factors):
    results = factors.parent / "results"
    page = (results / "factors.md").read_text(encoding="utf-8")
    assert "## lam, raw features" in page
    assert "| dataset | lam = 0.8 | lam = 1.2 | random | all features |" in page
    assert "| the default | " in page
    assert "| k = 0.1 | " in page
    counted = next(line for line in page.splitlines() if line.startswith("| digits | 3 | "))
    assert sum(map(int, counted.split("|")[3:6])) == 3  # the default, another lam and another k: each has a verdict
    assert (results / "factors-raw.png").read_bytes().startswith(b"\x89PNG")
    assert "factors: 0 runs to do, about 0.00 CPU hours." in fedsieve("benchmark", factors, "--estimate").out


def test_where_no_run_can_be_timed_the_number_is_told_and_why(fedsieve, tmp_path, monkeypatch):
    def absent(name):
        raise DataError(f"{name}: no such file.")

    monkeypatch.setattr("fedsieve.experiments.hours.load_by_name", absent)
    path = tmp_path / "absent.toml"
    path.write_text(SENSITIVITY)
    result = fedsieve("benchmark", path, "--estimate")
    said = " ".join(result.out.split())
    assert result.code == 0
    assert "absent: 12 runs to do, nothing is recorded that would tell how long. None could be timed: digits: " in said


def test_elsewhere_the_hours_are_told_by_the_records_beside_the_file(fedsieve, factors, tmp_path):
    said = fedsieve("benchmark", factors, "--estimate", "--out", tmp_path / "new").out
    assert "factors: 12 runs to do, about 0.0" in said
    assert not (tmp_path / "new").exists()


def test_a_page_of_sensitivity_may_be_written_before_all_is_done(fedsieve, factors, tmp_path):
    folder = shutil.copytree(factors.parent, tmp_path / "more")
    (folder / "factors.toml").write_text(SENSITIVITY.replace("lam = [0.8, 1.2]", "lam = [0.8, 1.2, 2.0]"))
    assert fedsieve("benchmark", folder / "factors.toml", "--report-only").code == 0
    page = (folder / "results" / "factors.md").read_text(encoding="utf-8")
    assert "1 of 4 settings are not recorded on all datasets yet." in page
