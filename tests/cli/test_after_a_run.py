"""What `init`, `join` and `approve-rows` say about what may follow a run."""

import numpy as np
import pandas as pd
import pytest

from fedsieve.cli.federation.label import counted_of_another
from fedsieve.cli.labels import known_labels
from fedsieve.datasets.parquet_rows import described, write_rows
from fedsieve.deployment.runs import FOUND, MODEL, new_run, what_follows
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.site_scores import what_stays, write_scores
from fedsieve.errors import DataError
from fedsieve.selection_file import FORMAT, selection_text

FREE = "min_rows = 10\nmin_cohort = 2\nrows_per_column = 1\nallow_exact_ranges = true\n"


@pytest.fixture
def site(fedsieve, tables):
    named = ("--out", tables["fed"], "--sites", "siteA,siteB", "--min-clients", 2, "--schema", tables["server.csv"])
    more = ("--with-keys", "--labels", "prefix:label_", "--ranges", "federated", "--min-rows", 10)
    assert fedsieve("federation", "init", *named, *more, "--after", "collect,label").code == 0
    made = SiteFolder(tables["fed"] / "sites" / "siteA")
    (made.path / "policy.toml").write_text(FREE)
    return made


def test_join_says_what_may_follow_a_run(fedsieve, site, tables):
    said = fedsieve("federation", "join", site.path, "--data", tables["siteA.csv"])
    text = " ".join(said.out.split())
    assert "After a run the agreement also allows 'collect': sites that consent a second time send the rows" in text
    assert "After a run the agreement also allows 'label': sites score their rows by the server's model" in text
    assert "Rows themselves never leave in a run." in text


def test_the_consent_shows_counts_of_labels_which_nobody_is_asked_about_again(fedsieve, site, tables):
    said = fedsieve("federation", "join", site.path, "--data", tables["siteA.csv"])
    text = " ".join(said.out.replace("│", " ").split())
    assert "ScoreCounts after a run ('label'): where labels are known, how many rows have each of" in text
    assert "at worst, as the server chooses the model" in text
    assert "RowsChunk" not in text  # approve-rows shows them
    dry = fedsieve("federation", "join", site.path, "--data", tables["siteA.csv"], "--dry-run")
    assert "ScoreCounts: after a run ('label'): where labels are known" in " ".join(dry.out.split())


def test_label_columns_that_are_counted_are_not_called_unused(fedsieve, site, tables):
    rows = pd.read_csv(tables["siteA.csv"]).assign(label_a=[1, 0, 0] * 4, comment=1)
    said = fedsieve("federation", "join", site.path, "--data", tables.save("more.csv", rows))
    text = " ".join(said.out.split())
    assert "1 column not agreed on, unused: 'comment'" in text
    assert "only counts of them leave, after a run ('label')" in text


def test_a_site_that_leaves_is_told_that_scores_of_its_rows_stay(site):
    assert what_stays(site) == "keyed hashes (ledger/)"
    write_scores(site.results / "20261117-100000", ["label_a"], np.array([[0.5]]))
    assert what_stays(site) == "keyed hashes (ledger/) and the scores of 'label' (results/*/scores*.csv)"


def test_init_knows_what_can_follow_and_nothing_else(fedsieve, tables):
    result = fedsieve("federation", "init", "--out", tables["other"], "--sites", "a,b,c", "--after", "publish")
    assert result.code == 2
    assert result.message == "--after must be one of 'collect', 'label'; got 'publish'."


@pytest.mark.parametrize("named", [(), ("--run", "20261117-100000")])
def test_rows_are_approved_after_a_run_and_where_the_rules_allow_it(fedsieve, site, named):
    result = fedsieve("federation", "approve-rows", site.path, "--yes", *named)
    assert result.code == 2
    assert (
        "has no result of a run yet. One comes at the end of a run in which this site takes part: fedsieve"
        in result.message
    )


def test_a_run_that_a_site_does_not_know_is_told_with_those_that_it_does(fedsieve, site):
    runs = ("20261117-100000", "20261118-100000")
    for run in runs:
        (site.results / run).mkdir(parents=True)
        (site.results / run / "selection.json").write_text("{}")
    named = fedsieve("federation", "approve-rows", site.path, "--run", "2026", "--yes")
    assert named.code == 2
    assert named.message == f"{site.path}: has no result of a run '2026'. Known: {', '.join(runs)}."


def test_why_nothing_follows_a_run_names_the_site(fedsieve, site):
    run = "20261117-100000"
    (site.results / run).mkdir(parents=True)
    empty = {"columns": [], "dropped": {}, "transcript": [], "parameters": {}, "n_rows": {}}
    record = {"format": FORMAT, "method": "Sieve", "selected": ["age"], "order": ["age"], **empty}
    (site.results / run / "selection.json").write_text(selection_text(record))
    said = fedsieve("federation", "approve-rows", site.path, "--yes")
    assert said.code == 2
    assert said.message == f"siteA: run '{run}' was under another agreement than it holds now. Start a new run."


@pytest.mark.parametrize("command", ["collect", "label"])
def test_without_a_run_nothing_follows(fedsieve, site, tables, command):
    result = fedsieve("federation", command, tables["fed"])
    assert result.code == 2
    assert "has no run yet. Start one: fedsieve federation run" in result.message
    wrong = fedsieve("federation", command, site.path)
    assert "is a site's folder, and this command is the operator's" in wrong.message


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--neighbors", 0), "--neighbors must be a whole number of at least 1; got 0."),
        (("--min-cell", 0), "--min-cell must be a whole number of at least 1; got 0."),
        (("--model", "forest"), "--model must be one of 'mlknn', 'logistic'; got 'forest'."),
    ],
)
@pytest.mark.usefixtures("site")
def test_label_looks_at_its_options_before_a_model_leaves(fedsieve, tables, option, words):
    result = fedsieve("federation", "label", tables["fed"], "--yes", *option)
    assert (result.code, result.message) == (2, words)


@pytest.mark.parametrize("command", ["collect", "label"])
@pytest.mark.parametrize("below", ["", "new"])
@pytest.mark.usefixtures("site")
def test_a_file_in_the_way_of_the_result_is_named_before_any_site_is_asked(fedsieve, tables, command, below):
    tables["mine"].write_text("mine")
    result = fedsieve("federation", command, tables["fed"], "--out", tables["mine"] / below)
    assert result.code == 2
    assert "is a file" in result.message
    assert result.message.endswith("Choose another folder.")


@pytest.mark.usefixtures("site")
def test_the_operator_is_told_where_sites_will_count_no_second_model(tables):
    folder = ServerFolder(tables["fed"])
    agreement, run = folder.agreement(), new_run(folder, ["siteA", "siteB"], [])
    for number, metrics in enumerate([{}, {"labels": {}}]):  # nobody counted the first
        assert counted_of_another(folder, agreement, b"another", 5) is None
        this = what_follows(folder, run, "label", ["siteA", "siteB"], number=number, least=5)
        (this.path / MODEL).write_bytes(b"one")
        this.keep_aside(FOUND, {"metrics": metrics})
    assert counted_of_another(folder, agreement, b"one", 5) is None
    assert counted_of_another(folder, agreement, b"another", 5) == this
    assert counted_of_another(folder, agreement, b"one", 6) == this


def test_labels_that_a_site_knows_are_read_with_their_gaps(site, tables):
    agreement = site.agreement()
    rows = pd.read_csv(tables["siteA.csv"])
    assert known_labels(tables["siteA.csv"], agreement) is None
    some = rows.assign(label_c=[1, None, 0] * 4, label_a=1)
    known = known_labels(tables.save("some.csv", some), agreement)
    expected = pd.DataFrame({"label_a": 1.0, "label_b": np.nan, "label_c": some["label_c"]})[list(agreement.labels)]
    np.testing.assert_array_equal(known, expected.to_numpy())
    with pytest.raises(DataError, match="label 'label_c' must be 0 or 1; got another number in data row 2"):
        known_labels(tables.save("bad.csv", rows.assign(label_c=[0, 7, 0] * 4)), agreement)


def test_a_parquet_file_has_words_gaps_and_its_description(tmp_path):
    file = tmp_path / "rows.parquet"
    parts = [np.array([[1.5, 0.0], [np.nan, 2.0]]), np.array([[2.5, np.nan]])]
    write_rows(file, ["age", "sex"], parts, {"sex": ("f", "m")}, {"fedsieve.run": "r"})
    frame = pd.read_parquet(file)
    assert frame["age"].tolist()[::2] == [1.5, 2.5]
    assert frame["sex"].tolist()[:2] == ["f", "other"]
    assert frame["sex"].isna().tolist() == [False, False, True]
    assert frame["age"].isna().tolist() == [False, True, False]
    assert described(file)["fedsieve.run"] == "r"
    assert described(tmp_path / "none.parquet") == {}


def test_codes_without_a_word_leave_no_file_behind(tmp_path):
    with pytest.raises(DataError, match="column 'sex' has codes for which the agreement knows no word"):
        write_rows(tmp_path / "x.parquet", ["sex"], [np.array([[0.0]]), np.array([[9.0]])], {"sex": ("f", "m")}, {})
    assert list(tmp_path.iterdir()) == []
